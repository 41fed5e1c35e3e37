// Real: nothing outside the process. The oracle ranks all rows anew.
import { ranksFromTop, RANK_STYLES, type BoardOrdering } from '@laddercast/domain';
import type { ExportedStanding } from '@laddercast/ledger';
import { SortedArrayOracle } from '@laddercast/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { withOwnRows } from './own-rows.js';

const anyRow = fc.record({ score: fc.integer({ min: 0, max: 4 }), columns: fc.tuple(fc.integer({ min: 0, max: 2 })) });
const anyOrdering: fc.Arbitrary<BoardOrdering> = fc.record({
  order: fc.constantFrom('asc', 'desc'),
  operator: fc.constant('best'),
  tiebreak: fc.constantFrom('earliest', 'latest'),
  columns: fc.tuple(fc.record({ name: fc.constant('moves'), order: fc.constantFrom('asc', 'desc') })),
});

/** The rows in the board's order, with all their ranks. */
function ranked(ordering: BoardOrdering, rows: { playerId: string; score: number; columns: number[] }[]) {
  const { entries } = SortedArrayOracle.of(
    ordering,
    rows.map((row) => ({ ...row, achievedAtMs: row.playerId.length })),
  );
  const ranks = RANK_STYLES.map((style) => [style, ranksFromTop(entries, style)] as const);
  return entries.map(({ playerId, score, columns, achievedAtMs }, at) => ({
    ...{ player_id: playerId, score, columns: [...columns], achieved_at_ms: achievedAtMs, metadata: null, scopes: [] },
    ...{ display_name: null, listed: null, sanction: null },
    ...Object.fromEntries(ranks.map(([style, all]) => [style, all[at]!])),
  })) as unknown as ExportedStanding[];
}

async function* inChunks(rows: ExportedStanding[], size: number): AsyncGenerator<ExportedStanding[]> {
  for (let from = 0; from < rows.length; from += size) yield rows.slice(from, from + size);
}

describe('the rows of an export with some more', () => {
  it('are those of a list that is ranked anew with them, in every style', async () => {
    const anyRows = fc.array(anyRow, { minLength: 1, maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(
        anyOrdering,
        anyRows,
        fc.array(fc.nat(), { minLength: 1, maxLength: 5 }),
        fc.integer({ min: 1, max: 5 }),
        async (ordering, rows, ownAts, size) => {
          const named = rows.map((row, at) => ({ ...row, playerId: 'x'.repeat(1 + (at % 3)) + String(at) }));
          const all = ranked(ordering, named);
          const ids = new Set(ownAts.map((at) => named[at % named.length]!.playerId));
          const own = all.filter(({ player_id }) => ids.has(player_id)).toReversed();
          const others = ranked(
            ordering,
            named.filter((row) => !ids.has(row.playerId)),
          );
          const merged: ExportedStanding[] = [];
          for await (const chunk of withOwnRows(inChunks(others, size), ordering, own)) merged.push(...chunk);
          expect(merged).toEqual(all);
        },
      ),
    );
  });
});
