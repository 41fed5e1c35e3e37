import { runBenchProgram } from './bench-program.mjs';

// The command `npm run profile`.
await runBenchProgram('profile');
