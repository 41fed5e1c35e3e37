import { answerHelp } from './help.mjs';

answerHelp(`Plays random boards against a sorted array, and storms of acts, of publications and of kills against plain code, for as long
as one likes.

  npm run test:soak              all for SOAK_MINUTES (60); SEED=… repeats one round
  npm run test:soak -- storm     one of them: ranks, storm or retax
  npm run test:soak -- --help    this text`);
process.env.SOAK_MINUTES ??= '60';
const files = ['test/property/ranks.spec.ts', 'test/property/storm/storm.spec.ts', 'test/property/retax/retax.spec.ts'];
const given = process.argv.splice(2);
process.argv.push(...files.filter((file) => given.length === 0 || given.some((name) => file.includes(name))));
await import('./test.mjs');
