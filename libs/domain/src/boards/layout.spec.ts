import { describe, expect, it } from 'vitest';
import { fillingOf, indexBucketsFor, indexBucketsOfShards, patchListsOf, type Layout } from './layout.js';
import { GLOBAL_SCOPE, patchScopeOf } from './scope.js';

const layoutOf = (count: number, indexBuckets: number): Layout => ({
  generation: 1,
  sharding: { by: 'hash', count },
  dense: false,
  indexBuckets,
  versions: { base: 0, floor: 0 },
});

describe('index buckets', () => {
  it.each([
    [0, 256],
    [51_200, 256],
    [51_201, 512],
    [1_000_000, 8192],
    [10_000_000, 65_536],
    [100_000_000, 524_288],
    [1e12, 524_288],
  ])('of a shard of %d entries are %d', (entries, buckets) => {
    expect(indexBucketsFor(entries)).toBe(buckets);
  });

  it('are as many in all when the entries are spread over other shards, and never fewer than a new shard has', () => {
    expect(indexBucketsOfShards(layoutOf(1, 4096), { by: 'hash', count: 4 })).toBe(1024);
    expect(indexBucketsOfShards(layoutOf(4, 1024), { by: 'hash', count: 1 })).toBe(4096);
    expect(indexBucketsOfShards(layoutOf(1, 256), { by: 'hash', count: 16 })).toBe(256);
  });
});

describe('the lists of patches', () => {
  it('are those of the first of the generations that differ by their tax, and all others each one fills', () => {
    const first: Layout = { ...layoutOf(1, 256), versions: { base: 7, floor: 5 }, openedAtMs: 1000 };
    const next = (generation: number, before: Layout): Layout => ({
      ...layoutOf(1, 256),
      generation,
      openedAtMs: 1000 * generation,
      patchLists: patchListsOf(before),
    });
    const second = next(2, first);
    const third = next(3, second);
    expect(fillingOf(third, patchScopeOf(4))).toEqual({
      generation: 1,
      versions: { base: 7, floor: 5 },
      openedAtMs: 1000,
    });
    expect(fillingOf(third, GLOBAL_SCOPE)).toMatchObject({ generation: 3, openedAtMs: 3000 });
    expect(fillingOf(first, patchScopeOf(4))).toBe(first);
  });
});
