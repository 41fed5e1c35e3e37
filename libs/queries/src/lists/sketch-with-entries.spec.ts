import { compareSortKeys, errorBoundOf, markCountOf, RankSketch, type SortKey } from '@laddercast/domain';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SketchWithEntries } from './sketch-with-entries.js';

const keyOf = (score: number, name: string): SortKey => ({ score, member: Buffer.from(name) });
const inOrder = (keys: readonly SortKey[]): SortKey[] => [...keys].sort(compareSortKeys);

/** A sketch of one shard, of every so-many-th key and the last. */
function sketchOf(sorted: readonly SortKey[], step: number): RankSketch {
  const total = sorted.length;
  const count = markCountOf(total, step);
  const keys = Array.from({ length: count }, (_, at) => sorted[Math.min(at * step, total - 1)]!);
  return new RankSketch([{ total, step, keys }]);
}

const scores = (maxLength: number): fc.Arbitrary<number[]> =>
  fc.array(fc.integer({ min: 0, max: 30 }), { minLength: 1, maxLength });

describe('a sketch with the entries of one reader', () => {
  it('is off by no more than it says, for the list with them', () =>
    fc.assert(
      fc.property(scores(60), scores(4), fc.integer({ min: 1, max: 7 }), (others, mine, step) => {
        const list = inOrder(others.map((score, at) => keyOf(score, `p${at}`)));
        const own = inOrder(mine.map((score, at) => keyOf(score, `own${at}`)));
        const all = inOrder([...list, ...own]);
        const sketch = new SketchWithEntries(sketchOf(list, step), own);
        expect(sketch.total).toBe(all.length);
        for (const [before, key] of all.entries()) {
          const estimate = sketch.estimate(key);
          expect(Math.abs(estimate.likely - before)).toBeLessThanOrEqual(errorBoundOf(estimate));
          const found = sketch.keyAt(before + 1)!;
          const place = all.findIndex((one) => compareSortKeys(one, found.key) === 0);
          expect(Math.abs(place - before)).toBeLessThanOrEqual(found.errorBound);
        }
      }),
    ));
});
