// The command `npm run profile`.
import '../bench/profile.mjs';
