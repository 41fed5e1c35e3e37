// The property test of ranks for as long as one likes: SOAK_MINUTES (60); SEED repeats one round.
process.env.SOAK_MINUTES ??= '60';
process.argv.push('test/property/ranks.spec.ts');
await import('./test.mjs');
