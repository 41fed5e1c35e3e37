import { runBenchProgram } from './bench-program.mjs';

// The command `npm run bench`.
await runBenchProgram('bench');
