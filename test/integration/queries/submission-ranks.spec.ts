// Real: what says where a submission stands, the cache of sketches and what makes them. In memory: ranks and the store.
import { SubmissionRanks, type AcceptedSubmission } from '@laddercast/commands';
import { type Identity } from '@laddercast/identity';
import {
  encodeSortKey,
  firstLayouts,
  GLOBAL_SCOPE,
  LadderError,
  withBoardDefaults,
  type Board,
  type EntryState,
} from '@laddercast/domain';
import type { SqlRunner, WindowCatalog } from '@laddercast/ledger';
import { monotonicMs } from '@laddercast/platform';
import { AnsweredVersions, rankListOf, SketchBuilder, SketchCache } from '@laddercast/projections';
import { RankEstimates, type ResolvedList } from '@laddercast/queries';
import { clockOfThisProcess } from '@laddercast/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MemoryRankProjection } from '../../../libs/realtime/test/memory-ports.js';
import { MemorySketchStore } from '../../../libs/realtime/test/memory-sketch-store.js';

const WINDOW = { uid: 7, kind: 'alltime', id: 'alltime', startsAtMs: null, endsAtMs: null, freezeAtMs: null };
const windows = { byUid: async () => ({ ...WINDOW, state: 'open' }) } as unknown as WindowCatalog;
const definition = withBoardDefaults({ order: 'desc', operator: 'latest' });
const board: Board = {
  uid: 1,
  id: 'blitz',
  revision: 1,
  definitionRevision: 1,
  windowsSinceMs: {},
  definition,
  layouts: firstLayouts(definition),
};
const list = rankListOf(board, WINDOW.uid, GLOBAL_SCOPE);
const server: Identity = { kind: 'key', keyId: 'k', scopes: ['scores:write'] };

const entry = (score: number): EntryState => ({ score, columns: [], achievedAtMs: 1000, metadata: null, version: 9 });
const keyOf = (playerId: string, score: number) => encodeSortKey(definition, entry(score), playerId);

function accepted(playerId: string, after: number, before: number | null): AcceptedSubmission {
  const movement = { after: entry(after), before: before === null ? null : entry(before) };
  const answer = { outcome: 'changed', score: after, previousScore: before, version: 9, windows: ['alltime'] };
  const receipt = { kind: 'submit', replayed: false, answer, windowUid: WINDOW.uid, movement };
  return { board, write: { playerId }, receipt } as unknown as AcceptedSubmission;
}

/** A ledger without the entry of a shadowed player. */
const NOBODY_SHADOWED: SqlRunner = { query: () => Promise.resolve([]) };

/** A list with these scores, sketched by so many marks. */
async function ranksOver(scores: ReadonlyMap<string, number>, marksMax: number) {
  const projection = new MemoryRankProjection();
  const changes = [...scores].map(([playerId, score], at) => ({
    playerId,
    version: at + 1,
    key: keyOf(playerId, score),
  }));
  await projection.apply(list, 0, changes);
  const store = new MemorySketchStore();
  const cache = new SketchCache(store, new SketchBuilder(projection, store, marksMax));
  return {
    projection,
    cache,
    ranks: new SubmissionRanks(
      projection,
      windows,
      cache,
      new AnsweredVersions(),
      clockOfThisProcess(),
      NOBODY_SHADOWED,
    ),
  };
}

const anyScore = fc.integer({ min: 0, max: 12 });
const anyScores = fc
  .array(anyScore, { maxLength: 200, size: 'max' })
  .map((all) => new Map(all.map((score, at) => [`p${at}`, score])));

describe('the rank in the answer to a submission', () => {
  it('is within its bound for the list that was sketched, the player left out, whatever the list holds of it', () =>
    fc.assert(
      fc.asyncProperty(
        fc.record({
          scores: anyScores,
          marksMax: fc.oneof(fc.integer({ min: 2, max: 12 }), fc.integer({ min: 2, max: 120 })),
          player: fc.nat({ max: 220 }).map((at) => `p${at}`),
          after: anyScore,
          before: fc.option(anyScore),
          isSketchedBefore: fc.boolean(),
        }),
        async ({ scores, marksMax, player, after, before, isSketchedBefore }) => {
          // The list may hold the entry before this run, or one that is older still, or none.
          if (isSketchedBefore && before !== null) scores.set(player, before);
          const { ranks } = await ranksOver(scores, marksMax);
          const said = await ranks.movementOf(accepted(player, after, before), null, server);
          // By a sketch of an empty list everybody would be first.
          if (scores.size === 0) {
            expect(said).toBeNull();
            return;
          }
          const rank = said!;
          const others = [...scores].filter(([id]) => id !== player);
          const rankOf = (score: number): number =>
            1 + others.filter(([id, other]) => other > score || (other === score && id < player)).length;
          expect(rank.accuracy).toBe('estimated');
          expect(Math.abs(rank.after - rankOf(after))).toBeLessThanOrEqual(rank.errorBound);
          expect(rank.total).toBeGreaterThanOrEqual(Math.max(rank.after, rank.before ?? 0));
          if (before === null) expect([rank.before, rank.delta]).toEqual([null, null]);
          else {
            expect(Math.abs(rank.before! - rankOf(before))).toBeLessThanOrEqual(rank.errorBound);
            expect(rank.delta).toBe(rank.before! - rank.after);
          }
          if (scores.size >= 2 * marksMax) return;
          expect(rank).toMatchObject({ errorBound: 0, after: rankOf(after), total: others.length + 1 });
        },
      ),
      { numRuns: 300 },
    ));

  it('is not said by a sketch of an empty list, by which reads do not estimate either', async () => {
    const { projection, ranks, cache } = await ranksOver(new Map(), 100);
    const estimates = new RankEstimates(projection, cache);
    const resolved = { board, list, edition: null, window: WINDOW } as unknown as ResolvedList;
    const style = 'ordinal';
    expect((await cache.get(list))!.sketch.total).toBe(0);
    expect(await estimates.ofPlayers(resolved, ['p1'], { style })).toMatchObject({ total: 0, players: [null] });
    const changes = Array.from({ length: 50 }, (_, at) => ({
      playerId: `p${at}`,
      version: at + 1,
      key: keyOf(`p${at}`, at),
    }));
    await projection.apply(list, 0, changes);
    expect(await ranks.movementOf(accepted('p1', 1, null), null, server)).toBeNull();
    expect(await estimates.sketchOf(resolved, { style })).toBeNull();
    expect(await estimates.ofPlayers(resolved, ['p1'], { style })).toBeNull();
  });

  it('is said without the store, also when its submission is to be waited for', async () => {
    const { projection, ranks } = await ranksOver(
      new Map([
        ['ada', 5],
        ['bob', 4],
      ]),
      100,
    );
    expect(await ranks.movementOf(accepted('cy', 3, null), null, server)).toMatchObject({ after: 3 });
    projection.failure = new LadderError('PROJECTION_UNAVAILABLE', 'Redis is away.');
    for (const untilMs of [null, monotonicMs() + 30_000]) {
      const startedAtMs = monotonicMs();
      const rank = await ranks.movementOf(accepted('cy', 4.5, null), untilMs, server);
      expect(rank).toMatchObject({ before: null, after: 2, total: 3, accuracy: 'estimated', errorBound: 0 });
      expect(monotonicMs() - startedAtMs).toBeLessThan(10_000);
    }
  });
});
