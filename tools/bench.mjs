// The command `npm run bench`.
import '../bench/bench.mjs';
