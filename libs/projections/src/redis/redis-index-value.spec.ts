import {
  decodeSortKey,
  encodeSortKey,
  memberPrefixBytes,
  type BoardOrdering,
  type TaxedFrom,
} from '@laddercast/domain';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  indexValueBytes,
  isEntryValue,
  packIndexValue,
  packVersion,
  scoreOfIndexValue,
  sortKeyOfIndexValue,
  versionOfIndexValue,
} from './redis-index-value.js';

const LONGEST = 54;
const LONGEST_TAXED = 68;
/** Up to which Redis packs a hash. */
const PACKED_MAX = 64;
const ordering: BoardOrdering = {
  order: 'asc',
  operator: 'best',
  tiebreak: 'earliest',
  columns: ['a', 'b', 'c', 'd'].map((name) => ({ name, order: 'asc' })),
};
const anyVersion = fc.oneof(
  fc.constantFrom(0, 1, 255, 256, 65_535, 65_536, 2 ** 32 - 1, 2 ** 32, 2 ** 48, Number.MAX_SAFE_INTEGER),
  fc.maxSafeNat(),
);
const anyScore = fc.oneof(
  fc.constantFrom(0, 1, -1, 255, 256, 1e9, 2 ** 53, 5e-324, -5e-324, 0.1, Number.MAX_VALUE),
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }).filter((score) => !Object.is(score, -0)),
);
const LAST_PATCH = 2 ** 31 - 1;
const anyTaxed = fc.record({
  version: anyVersion,
  score: anyScore,
  taxedFrom: fc.record({ rawScore: anyScore, patch: fc.integer({ min: 1, max: LAST_PATCH }) }),
});
const anyChange = fc
  .record({ version: anyVersion, score: anyScore, playerId: fc.string({ minLength: 1, unit: 'grapheme' }) })
  .map(({ version, score, playerId }) => ({
    playerId,
    version,
    key: encodeSortKey(
      ordering,
      { score, columns: [score, 1, -score, 0.5], achievedAtMs: 1_763_700_000_000 },
      playerId,
    ),
  }));

interface TaxedChange {
  version: number;
  score: number;
  taxedFrom: TaxedFrom;
}

describe('an index value', () => {
  it('gives back version and sort key bit for bit, and fits into a listpack', () => {
    fc.assert(
      fc.property(anyChange, ({ playerId, version, key }) => {
        const value = packIndexValue({ playerId, version, key });
        expect(isEntryValue(value)).toBe(true);
        expect(versionOfIndexValue(value)).toBe(version);
        expect(scoreOfIndexValue(value)).toBe(key.score);
        expect(sortKeyOfIndexValue(value, playerId)).toEqual(key);
        expect(value.length).toBeLessThanOrEqual(LONGEST);
      }),
    );
  });

  it('of a taxed score gives back all of it, and is packed by Redis with up to three columns', () => {
    const valueOf = ({ version, score, taxedFrom }: TaxedChange, columns: number): Buffer => {
      const taxed = { ...ordering, columns: ordering.columns.slice(0, columns), isTaxed: true };
      const values = { score, columns: Array<number>(columns).fill(score), achievedAtMs: 1_763_700_000_000, taxedFrom };
      const key = encodeSortKey(taxed, values, 'ada');
      const value = packIndexValue({ playerId: 'ada', version, key });
      expect(sortKeyOfIndexValue(value, 'ada')).toEqual(key);
      expect(decodeSortKey(taxed, key).taxedFrom).toEqual(taxedFrom);
      expect(indexValueBytes(Buffer.concat([value, value]), memberPrefixBytes(taxed))).toBe(value.length);
      return value;
    };
    fc.assert(
      fc.property(anyTaxed, (change) => {
        expect(valueOf(change, 4).length).toBeLessThanOrEqual(LONGEST_TAXED);
        expect(valueOf(change, 3).length).toBeLessThanOrEqual(PACKED_MAX);
      }),
    );
    const taxedFrom = { rawScore: 0.1, patch: LAST_PATCH };
    const longest = { version: Number.MAX_SAFE_INTEGER, score: 0.1 * 3, taxedFrom };
    expect(valueOf(longest, 4)).toHaveLength(LONGEST_TAXED);
    expect(valueOf(longest, 3)).toHaveLength(60);
  });

  it('of a removal holds a version and no entry', () => {
    fc.assert(
      fc.property(anyVersion, (version) => {
        const value = packIndexValue({ playerId: 'ada', version, key: null });
        expect(value).toEqual(packVersion(version));
        expect(isEntryValue(value)).toBe(false);
        expect(versionOfIndexValue(value)).toBe(version);
      }),
    );
  });

  it('tells its own length, so that several can stand in a row', () => {
    fc.assert(
      fc.property(anyChange, anyVersion, (change, removedAt) => {
        const value = packIndexValue(change);
        const prefixBytes = memberPrefixBytes(ordering);
        expect(indexValueBytes(Buffer.concat([value, value]), prefixBytes)).toBe(value.length);
        const removal = packVersion(removedAt);
        expect(indexValueBytes(Buffer.concat([removal, value]), prefixBytes)).toBe(removal.length);
      }),
    );
  });

  it('is short for a whole score and a low version', () => {
    const plain = { ...ordering, columns: [] };
    const key = encodeSortKey(plain, { score: 1520, columns: [], achievedAtMs: 1_763_700_000_000 }, 'ada');
    expect(packIndexValue({ playerId: 'ada', version: 48_213, key })).toHaveLength(1 + 2 + 3 + 6);
  });
});
