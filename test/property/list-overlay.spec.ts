// Real: the arithmetic of rows laid over an edition. A list that is ranked anew says what it should answer.
import { GLOBAL_SCOPE, sharesRank, type BoardOrdering } from '@laddercast/domain';
import { ListOverlay, type LaidRow, type StandingPlace, type StruckRow } from '@laddercast/ledger';
import { anyOrdering, anyPlayerId, anyValues, SortedArrayOracle, type OracleValues } from '@laddercast/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

interface Lists {
  ordering: BoardOrdering;
  base: OracleValues[];
  revised: OracleValues[];
}

/** Two lists of some players: each stands in both, with or without other values, or in one. */
const anyLists = (): fc.Arbitrary<Lists> =>
  anyOrdering().chain((ordering) =>
    fc
      .uniqueArray(anyPlayerId(), { minLength: 1, maxLength: 24 })
      .chain((ids) =>
        fc.tuple(
          ...ids.map((playerId) =>
            fc.record({
              playerId: fc.constant(playerId),
              before: fc.option(anyValues(ordering), { freq: 4 }),
              after: fc.option(anyValues(ordering), { freq: 3 }),
              stays: fc.boolean(),
            }),
          ),
        ),
      )
      .map((players) => ({
        ordering,
        base: players.flatMap(({ playerId, before }) => (before ? [{ ...before, playerId }] : [])),
        revised: players.flatMap(({ playerId, before, after, stays }) => {
          const values = stays ? before : after;
          return values ? [{ ...values, playerId }] : [];
        }),
      })),
  );

const placesIn = (oracle: SortedArrayOracle): Map<string, StandingPlace> =>
  new Map(
    oracle.entries.map(({ playerId }, index) => [
      playerId,
      {
        ordinal: index + 1,
        competition: oracle.rankAt(index, 'competition'),
        dense: oracle.rankAt(index, 'dense'),
      },
    ]),
  );

const noZeroes = ({ score, columns }: OracleValues): { score: number; columns: number[] } => ({
  score: score === 0 ? 0 : score,
  columns: columns.map((column) => (column === 0 ? 0 : column)),
});

function overlayOf({ ordering, base, revised }: Lists): ListOverlay {
  const oracle = SortedArrayOracle.of(ordering, base);
  const places = placesIn(oracle);
  const after = new Map(revised.map((values) => [values.playerId, values]));
  const struck: StruckRow[] = base
    .filter((values) => after.get(values.playerId) === undefined || !isSame(values, after.get(values.playerId)!))
    .map((values) => {
      const { ordinal, competition } = places.get(values.playerId)!;
      const equal = oracle.entries.filter((other) => sharesRank(noZeroes(other), noZeroes(values))).length;
      return { ordinal, competition, last: competition + equal - 1 };
    });
  const before = new Map(base.map((values) => [values.playerId, values]));
  const laid: LaidRow[] = revised
    .filter((values) => before.get(values.playerId) === undefined || !isSame(values, before.get(values.playerId)!))
    .map((values) => {
      const better = oracle.rankOf(values, 'competition') - 1;
      const equal = oracle.entries.filter((other) => sharesRank(noZeroes(other), noZeroes(values))).length;
      return {
        player_id: values.playerId,
        ...noZeroes(values),
        achieved_at_ms: values.achievedAtMs,
        metadata: null,
        scopes: [GLOBAL_SCOPE],
        members: null,
        verified: null,
        proof: null,
        before: oracle.countBefore(values),
        better,
        notWorse: better + equal,
        betterValues: oracle.rankOf(values, 'dense') - 1,
      };
    });
  return new ListOverlay(ordering, { struck, laid });
}

const isSame = (a: OracleValues, b: OracleValues): boolean =>
  sharesRank(noZeroes(a), noZeroes(b)) && a.achievedAtMs === b.achievedAtMs;

describe('rows laid over a list', () => {
  it('rank everybody as the list ranked anew does, in every style', () => {
    fc.assert(
      fc.property(anyLists(), (lists) => {
        const overlay = overlayOf(lists);
        const base = SortedArrayOracle.of(lists.ordering, lists.base);
        const before = placesIn(base);
        const oracle = SortedArrayOracle.of(lists.ordering, lists.revised);
        expect(base.entries.length + overlay.longer).toBe(oracle.entries.length);
        for (const [playerId, place] of placesIn(oracle)) {
          const laid = overlay.laidOf(playerId);
          expect(laid ?? overlay.placeOf(before.get(playerId)!)).toMatchObject(place);
          expect(overlay.at(place.ordinal)).toEqual(laid ? { laid } : { base: before.get(playerId)!.ordinal });
        }
        for (const [playerId, { ordinal }] of before) {
          const stays = placesIn(oracle).has(playerId) && overlay.laidOf(playerId) === undefined;
          expect(overlay.isStruck(ordinal)).toBe(!stays);
        }
      }),
      { numRuns: 1000 },
    );
  });

  it('stand in the order of their sort keys, where many stand at one place of the base', () => {
    const ordering: BoardOrdering = { order: 'desc', operator: 'best', tiebreak: 'earliest', columns: [] };
    const laid = ['c', 'a', 'b'].map((player_id, at): LaidRow => {
      const values = {
        score: [10, 11, 11][at]!,
        columns: [],
        achieved_at_ms: 5,
        metadata: null,
        scopes: [],
        members: null,
        verified: null,
        proof: null,
      };
      return { player_id, ...values, before: 2, better: 2, notWorse: 2, betterValues: 1 };
    });
    const overlay = new ListOverlay(ordering, { struck: [], laid });
    expect([3, 4, 5].map((at) => overlay.at(at))).toEqual(['a', 'b', 'c'].map((id) => ({ laid: overlay.laidOf(id) })));
    expect(overlay.laidOf('b')).toMatchObject({ ordinal: 4, competition: 3, dense: 2 });
    expect(overlay.laidOf('c')).toMatchObject({ ordinal: 5, competition: 5, dense: 3 });
  });
});
