import { answerHelp } from './help.mjs';

answerHelp(`Plays random boards against a sorted array, and storms of acts and kills against plain code, for as long as one likes.

  npm run test:soak              both for SOAK_MINUTES (60); SEED=… repeats one round
  npm run test:soak -- storm     one of them: ranks or storm
  npm run test:soak -- --help    this text`);
process.env.SOAK_MINUTES ??= '60';
const files = ['test/property/ranks.spec.ts', 'test/property/storm/storm.spec.ts'];
const given = process.argv.splice(2);
process.argv.push(...files.filter((file) => given.length === 0 || given.some((name) => file.includes(name))));
await import('./test.mjs');
