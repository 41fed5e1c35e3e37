// Real: every source file of the repository, and the page of advisory locks.
import { ADVISORY_LOCKS } from '@laddercast/ledger';
import { describe, expect, it } from 'vitest';
import { isCode, repositoryFiles, type TextFile } from './source-tree.js';

const numbers = Object.values(ADVISORY_LOCKS) as number[];
const others = repositoryFiles().filter((file) => isCode(file) && !/\/advisory-locks(\.spec)?\.ts$/.test(file.path));

/** A call of one of PostgreSQL's functions, not its name alone. */
const takesLock = (text: string): boolean => /pg_\w*advisory\w*\(/.test(text);

/** How a file takes locks of its own numbering, if it does. */
function faultOf({ path, text }: TextFile): string | null {
  const written = text.match(/\b\d[\d_]*\b/g) ?? [];
  const own = written.find((digits) => numbers.includes(Number(digits.replaceAll('_', ''))));
  if (own !== undefined) return `${path} has ${own}: take it from ADVISORY_LOCKS`;
  return takesLock(text) && !text.includes('ADVISORY_LOCKS.')
    ? `${path} takes a lock that is not of ADVISORY_LOCKS`
    : null;
}

describe('advisory locks', () => {
  it('have a number each that no other has', () => {
    expect(numbers.filter((number, index) => numbers.indexOf(number) !== index)).toEqual([]);
  });

  it('have their numbers from one page', () => {
    expect(others.flatMap((file) => faultOf(file) ?? [])).toEqual([]);
  });

  it('are seen where they are taken', () => {
    expect(others.filter(({ text }) => takesLock(text)).map(({ path }) => path)).toContain(
      'libs/ledger/src/lanes/lane-locks.ts',
    );
    for (const text of ['SELECT pg_try_advisory_lock(1, 2)', 'const LOCK = 7_162;', 'const LOCK = 7164;']) {
      expect(faultOf({ path: 'a.ts', text })).not.toBeNull();
    }
  });
});
