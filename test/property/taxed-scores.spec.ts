// Real: PostgreSQL. The tax is written down twice, in TypeScript for lists and in SQL for standings and exports: both must say the
// same double, and find the same run to stand.
import {
  standingRun,
  taxedScore,
  taxRateOf,
  type KeptPatchRun,
  type PatchOrder,
  type SortOrder,
} from '@laddercast/domain';
import { joinStandingRunSql, PostgresDatabase, taxedScoreSql } from '@laddercast/ledger';
import { createTestDatabase, Dice, type TestDatabase } from '@laddercast/testing';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const PAIRS = 1_000_000;
const PAIRS_AT_ONCE = 100_000;
const RATES = [0.1, 0.25, 0.0001, 0.3333, 1];

/** Doubles of every kind that a board takes: any bits from 0 to 10^300, whole numbers, and what is between. */
function rawScores(count: number, next: () => number): Float64Array {
  const scores = new Float64Array(count);
  const bits = new BigUint64Array(scores.buffer);
  for (let at = 0; at < count; at += 1) {
    const kind = at % 4;
    if (kind === 0) scores[at] = Math.floor(next() * 2 ** 53);
    else if (kind === 1) scores[at] = next() * 1000;
    else if (kind === 2) scores[at] = Math.round(next() * 1e8) / 100;
    else bits[at] = (BigInt(Math.floor(next() * 2 ** 31)) << 32n) | BigInt(Math.floor(next() * 2 ** 32));
    if (!(scores[at]! <= 1e300)) scores[at] = next() * 1e300;
  }
  return scores;
}

describe('the tax in TypeScript and in SQL', () => {
  let test: TestDatabase;
  let database: PostgresDatabase;

  beforeAll(async () => {
    test = await createTestDatabase();
    database = new PostgresDatabase({ url: test.url });
    await database.open({ migrate: false });
  });
  afterAll(async () => {
    await database?.close();
    await test?.drop();
  });

  it(`is the same double for ${PAIRS.toLocaleString('en')} random scores and patches`, async () => {
    const { next } = new Dice(17);
    for (let done = 0; done < PAIRS; done += PAIRS_AT_ONCE) {
      const order: SortOrder = (done / PAIRS_AT_ONCE) % 2 === 0 ? 'asc' : 'desc';
      const perPatch = RATES[(done / PAIRS_AT_ONCE) % RATES.length]!;
      const scores = rawScores(PAIRS_AT_ONCE, next);
      const behind = Array.from(scores, () => Math.floor(next() * 256));
      const definition = {
        decay: { family: 'f', perPatch },
        order,
        operator: 'best',
        tiebreak: 'earliest',
        columns: [],
      } as const;
      const rows = await database.query<{ taxed: number }>(
        `SELECT ${taxedScoreSql({ definition: { ...definition, columns: [] } }, 'raw', 'behind')} AS taxed
         FROM unnest($1::float8[], $2::int[]) WITH ORDINALITY AS k (raw, behind, n) ORDER BY n`,
        [Array.from(scores), behind],
      );
      const rate = taxRateOf(perPatch);
      const differing = rows.findIndex(
        ({ taxed }, at) => !Object.is(taxed, taxedScore(order, rate, scores[at]!, behind[at]!)),
      );
      expect([differing, scores[differing], behind[differing]]).toEqual([-1, undefined, undefined]);
    }
  });

  it('finds the same run to stand', async () => {
    const columns = [{ name: 'moves', order: 'desc' as const }];
    const anyRun = fc.record({
      patch: fc.integer({ min: 1, max: 6 }),
      score: fc.oneof(fc.integer({ min: 0, max: 5 }), fc.double({ min: 0, max: 1e300, noNaN: true })),
      columns: fc.tuple(fc.integer({ min: -1, max: 1 })),
      achievedAtMs: fc.integer({ min: 0, max: 3 }),
      metadata: fc.constantFrom(null, '{"a":1}'),
    });
    const anyPatches = fc.shuffledSubarray([1, 2, 3, 4, 5, 6], { minLength: 0 });
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom<SortOrder>('asc', 'desc'),
        fc.constantFrom('earliest' as const, 'latest' as const, 'none' as const),
        fc.array(anyRun, { minLength: 1, maxLength: 8 }),
        anyPatches,
        async (order, tiebreak, runs, patches) => {
          const definition = {
            decay: { family: 'f', perPatch: 0.1 },
            order,
            operator: 'best' as const,
            tiebreak,
            columns,
          };
          const published: PatchOrder = { number: 1, sinceMs: 0, patches };
          const [found] = await database.query<Record<string, unknown>>(
            `SELECT t.score, t.columns, t.achieved_at_ms, t.raw_score, t.patch_uid FROM (SELECT $1::jsonb AS patch_runs) AS e
             ${joinStandingRunSql({ definition, order: published }, 'e.patch_runs')}`,
            [JSON.stringify(runs satisfies KeptPatchRun[])],
          );
          const { values } = standingRun(definition, runs, published);
          expect(found).toMatchObject({
            score: values.score,
            columns: values.columns,
            raw_score: values.taxedFrom.rawScore,
            patch_uid: values.taxedFrom.patch,
            ...(tiebreak !== 'none' && { achieved_at_ms: values.achievedAtMs }),
          });
        },
      ),
      { numRuns: 300 },
    );
  });
});
