import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { SENT_ALONE } from './redis-rights.js';

const LIBS = new URL('../../../', import.meta.url);

it('checks the right to every command that is sent outside of scripts', () => {
  const files = readdirSync(LIBS, { recursive: true, encoding: 'utf8' });
  const sources = files.filter((name) => /\/src\/.*\.ts$/.test(name) && !name.endsWith('.spec.ts'));
  const sent = sources.flatMap((name) => {
    const text = readFileSync(new URL(name, LIBS), 'utf8');
    return [...text.matchAll(/\.command\(\s*'(\w+)'/g)].map(([, command]) => command!.toUpperCase());
  });
  // These two are checked apart: they take no key.
  expect([...SENT_ALONE, 'INFO', 'PUBLISH'].sort()).toEqual([...new Set(sent)].sort());
});
