import { answerHelp } from './help.mjs';

answerHelp(`Plays random boards against a sorted array, for as long as one likes.

  npm run test:soak              for SOAK_MINUTES (60); SEED=… repeats one round
  npm run test:soak -- --help    this text`);
process.env.SOAK_MINUTES ??= '60';
process.argv.push('test/property/ranks.spec.ts');
await import('./test.mjs');
