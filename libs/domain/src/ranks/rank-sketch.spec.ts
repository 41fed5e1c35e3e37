import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeMarks, encodeMarks } from './rank-sketch-code.js';
import {
  errorBoundOf,
  markCountOf,
  markStepOf,
  RankSketch,
  type CountEstimate,
  type ShardMarks,
} from './rank-sketch.js';
import { compareSortKeys, type SortKey } from '../boards/sort-key.js';

const PREFIX_BYTES = 1;
const playerIdOf = (member: Buffer): string => member.toString('utf8', PREFIX_BYTES);

interface Entry {
  playerId: string;
  key: SortKey;
}

const entryOf = (playerId: string, score: number, tie = 0): Entry => ({
  playerId,
  key: { score, member: Buffer.concat([Buffer.from([tie]), Buffer.from(playerId)]) },
});

/** The marks of a shard, as plainly as they can be said. */
function marksOf(entries: readonly Entry[], step: number): ShardMarks {
  const keys = entries.map(({ key }) => key).sort(compareSortKeys);
  const marks = keys.filter((_, index) => index % step === 0 || index === keys.length - 1);
  return { total: keys.length, step, keys: marks };
}

const countBefore = (entries: readonly Entry[], key: SortKey, without: string | null = null): number =>
  entries.filter((entry) => entry.playerId !== without && compareSortKeys(entry.key, key) < 0).length;

function expectTrue(estimate: CountEstimate, truth: number): void {
  const { low, high, likely } = estimate;
  expect(low).toBeLessThanOrEqual(truth);
  expect(high).toBeGreaterThanOrEqual(truth);
  expect(Number.isInteger(likely)).toBe(true);
  expect(Math.abs(likely - truth)).toBeLessThanOrEqual(errorBoundOf(estimate));
}

const anyScore = (): fc.Arbitrary<number> =>
  fc.oneof(
    { weight: 5, arbitrary: fc.integer({ min: -2, max: 3 }) },
    { weight: 3, arbitrary: fc.double({ noNaN: true, noDefaultInfinity: true }) },
    { weight: 1, arbitrary: fc.constantFrom(Number.MAX_VALUE, -Number.MAX_VALUE, 5e-324, -5e-324, 2 ** 53) },
  );
const anyKey = fc.record({ score: anyScore(), tie: fc.nat({ max: 3 }) });

/** Shards with their entries, each seen through its own step. */
const anyList = (): fc.Arbitrary<{ entries: Entry[]; shards: ShardMarks[] }> =>
  fc
    .array(fc.tuple(fc.array(anyKey, { maxLength: 60 }), fc.integer({ min: 1, max: 12 })), {
      minLength: 1,
      maxLength: 9,
    })
    .map((given) => {
      const byShard = given.map(([keys], shard) =>
        keys.map(({ score, tie }, at) => entryOf(`p${shard}.${at}`, score, tie)),
      );
      return {
        entries: byShard.flat(),
        shards: byShard.map((entries, shard) => marksOf(entries, given[shard]![1])),
      };
    });

describe('a sketch', () => {
  it('is never further off than it says, for any key, over any shards', () =>
    fc.assert(
      fc.property(anyList(), fc.array(anyKey, { minLength: 1, maxLength: 20 }), ({ entries, shards }, keys) => {
        const sketch = new RankSketch(shards);
        expect(sketch.total).toBe(entries.length);
        const asked = [
          ...keys.map(({ score, tie }) => entryOf('zz', score, tie).key),
          ...entries.map(({ key }) => key),
        ];
        for (const key of asked) expectTrue(sketch.estimate(key), countBefore(entries, key));
      }),
      { numRuns: 400 },
    ));

  it('never puts a better key behind a worse one', () =>
    fc.assert(
      fc.property(anyList(), fc.array(anyKey, { maxLength: 30 }), ({ entries, shards }, keys) => {
        const sketch = new RankSketch(shards);
        const asked = [
          ...keys.map(({ score, tie }) => entryOf('p0.5a', score, tie).key),
          ...entries.map(({ key }) => key),
        ];
        const likely = asked.sort(compareSortKeys).map((key) => sketch.estimate(key).likely);
        expect(likely).toEqual([...likely].sort((a, b) => a - b));
      }),
      { numRuns: 300 },
    ));

  it('leaves out the entry of the player who asks, whatever became of it meanwhile', () =>
    fc.assert(
      fc.property(anyList(), anyKey, anyKey, fc.nat(), ({ entries, shards }, after, before, pick) => {
        const sketch = new RankSketch(shards);
        const players = ['nobody', ...entries.map(({ playerId }) => playerId)];
        const playerId = players[pick % players.length]!;
        const inList = entries.find((entry) => entry.playerId === playerId)?.key;
        const [afterKey, beforeKey] = [after, before].map(({ score, tie }) => entryOf(playerId, score, tie).key);
        // What the caller knows may be what the list held, or something newer.
        for (const candidates of [[afterKey!], [beforeKey!, afterKey!], inList ? [afterKey!, inList] : []]) {
          const own = sketch.ownEntry(playerId, playerIdOf, candidates);
          for (const key of [afterKey!, beforeKey!, ...(inList ? [inList] : [])]) {
            expectTrue(sketch.estimateOthers(key, own), countBefore(entries, key, playerId));
          }
        }
      }),
      { numRuns: 400 },
    ));

  it('knows everything when every entry is a mark', () =>
    fc.assert(
      fc.property(anyList(), ({ entries }) => {
        const sketch = new RankSketch([marksOf(entries.slice(0, 20), 1), marksOf(entries.slice(20), 1)]);
        expect(sketch.isWhole).toBe(true);
        for (const [index, { key, playerId }] of [...entries].sort((a, b) => compareSortKeys(a.key, b.key)).entries()) {
          expect(sketch.estimate(key)).toEqual({ low: index, high: index, likely: index });
          expect(sketch.keyAt(index + 1)).toEqual({ key, errorBound: 0 });
          expect(sketch.ownEntry(playerId, playerIdOf, [])).toEqual({ kind: 'at', key });
        }
        expect(sketch.ownEntry('nobody', playerIdOf, [])).toEqual({ kind: 'none' });
      }),
    ));

  it('finds an entry near every rank, within what it says', () =>
    fc.assert(
      fc.property(anyList(), ({ entries, shards }) => {
        const sketch = new RankSketch(shards);
        if (entries.length === 0) expect(sketch.keyAt(1)).toBeNull();
        for (let rank = 1; rank <= entries.length; rank += 1) {
          const { key, errorBound } = sketch.keyAt(rank)!;
          expect(entries.some((entry) => compareSortKeys(entry.key, key) === 0)).toBe(true);
          expect(Math.abs(countBefore(entries, key) + 1 - rank)).toBeLessThanOrEqual(errorBound);
        }
      }),
      { numRuns: 300 },
    ));

  it('holds over a million equal scores, as close as over different ones', () => {
    const total = 1_000_000;
    const step = markStepOf(total, 1000);
    const memberOf = (index: number): Buffer => {
      const member = Buffer.alloc(PREFIX_BYTES + 4);
      member.writeUInt32BE(index, PREFIX_BYTES);
      return member;
    };
    const keys = Array.from({ length: markCountOf(total, step) }, (_, mark) => ({
      score: -7,
      member: memberOf(Math.min(total - 1, mark * step)),
    }));
    const sketch = new RankSketch([{ total, step, keys }]);
    for (let index = 0; index < total; index += 997) {
      const estimate = sketch.estimate({ score: -7, member: memberOf(index) });
      expectTrue(estimate, index);
      expect(errorBoundOf(estimate)).toBeLessThanOrEqual(step / 2);
    }
    expect(sketch.estimate({ score: -8, member: Buffer.alloc(0) })).toEqual({ low: 0, high: 0, likely: 0 });
    expect(sketch.estimate({ score: -6, member: Buffer.alloc(0) }).likely).toBe(total);
    expect(errorBoundOf(sketch.estimate({ score: -6, member: Buffer.alloc(0) }))).toBe(0);
  });

  it('comes much closer than its bound where scores are spread evenly', () => {
    const shards = Array.from({ length: 4 }, (_, shard) =>
      marksOf(
        Array.from({ length: 5000 }, (_, at) => entryOf(`p${shard}.${at}`, at * 4 + shard)),
        100,
      ),
    );
    const sketch = new RankSketch(shards);
    for (let score = 0; score < 20_000; score += 61) {
      const estimate = sketch.estimate({ score, member: Buffer.alloc(0) });
      expectTrue(estimate, score);
      expect(Math.abs(estimate.likely - score)).toBeLessThanOrEqual(4);
    }
  });
});

describe('marks as bytes', () => {
  it('come back as they were', () =>
    fc.assert(
      fc.property(anyList(), ({ shards }) => {
        expect(decodeMarks(encodeMarks(shards))).toEqual(shards);
      }),
    ));

  it('are nothing when they are of another form, or a part', () => {
    const bytes = encodeMarks([marksOf([entryOf('ada', 1), entryOf('bob', 2)], 1)]);
    const other = Buffer.from(bytes);
    other[0] = 2;
    const broken: Buffer[] = [other, Buffer.alloc(0), Buffer.concat([bytes, Buffer.alloc(1)])];
    for (let length = 0; length < bytes.length; length += 1) broken.push(bytes.subarray(0, length));
    for (const one of broken) expect(decodeMarks(one)).toBeNull();
  });
});
