// Real: PostgreSQL, its clock in the test's hands, and the ledger of one process. A pool that keeps changes for a week is
// compared with one that has the same games and keeps all. The random histories print their seed; SEED=… repeats them.
import type { PlayerRating, RatingPool } from '@laddercast/domain';
import {
  asAnswered,
  changesOfPlayer,
  gamesById,
  outcomeOfPoolEvent,
  ratingDistribution,
  replayPool,
  type AskedCorrection,
  type CorrectionOutcome,
  type KeptOutcome,
  type Pool,
  type RatingStep,
} from '@laddercast/ledger';
import {
  createTestDatabase,
  DatabaseClock,
  Dice,
  randomGames,
  seedOfRun,
  type TestDatabase,
} from '@laddercast/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FeedNode } from '../nodes/feed-node.js';
import { gameOf } from '../nodes/pool-node.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** A Sunday. */
const START_MS = Date.parse('2026-03-01T00:00:00Z');
const ALL = { gameIds: null, playerId: null, fromMs: null, toMs: null };
const VALUES = ['rating', 'peak', 'gain', 'games', 'wins'] as const;
const WINDOWS = ['alltime' as const, 'weekly' as const, { rolling: '48h' }];
const WEEK = { keepDays: 7 };

/** As the closer does once all is fed, with a new revision for their boards; boards here have no grace. */
const SETTLE_WEEKS = `
  WITH over AS (
    UPDATE windows SET state = 'settled'
    WHERE ends_at <= ladder_now() AND window_id ~ '^weekly' AND state = 'open' RETURNING board_uid
  )
  UPDATE boards SET revision = nextval('ladder_position') WHERE board_uid IN (SELECT board_uid FROM over)`;

const FED_BOARDS = 'SELECT board_id AS id FROM boards WHERE board_id IS NOT NULL AND feed IS NOT NULL';

describe('a pool that keeps changes for a week', () => {
  const seed = seedOfRun();
  let testDatabase: TestDatabase;
  let node: FeedNode;
  let clock: DatabaseClock;
  let nowMs = START_MS;

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    node = new FeedNode(testDatabase.url);
    await node.start();
    clock = await DatabaseClock.of(testDatabase.url);
  });
  afterAll(async () => {
    await clock.close();
    await node.stop();
    await testDatabase.drop();
  });

  const goTo = async (atMs: number): Promise<void> => {
    nowMs = atMs;
    await clock.stopAt(nowMs);
    // As the feed does within a second: a window that is made when it is over has nothing of what was given up until then.
    for (const { id } of await node.database.query<{ id: string }>(FED_BOARDS)) {
      await node.windows.at(node.boards.byId(id)!, nowMs, nowMs);
    }
  };
  const historyOf = (pool: Pool, playerId: string): Promise<RatingStep[]> =>
    changesOfPlayer(node.database, pool.uid, playerId, { beforePosition: null, limit: 10_000 });
  const correct = async (pool: Pool, asked: AskedCorrection): Promise<CorrectionOutcome> => {
    const { position } = await node.corrections.record(pool.id, asked, 'test');
    await node.rater.rate(pool.uid);
    return asAnswered((await outcomeOfPoolEvent<KeptOutcome>(node.database, pool.uid, position))!);
  };
  const voidOf = (gameId: string, mode: 'recompute' | 'refund' | 'keep' = 'recompute'): AskedCorrection => ({
    ...{ selection: { ...ALL, gameIds: [gameId] }, mode, reason: 'r' },
  });
  /** A pool with a board of each value. */
  const makePool = async (id: string, definition: object): Promise<Pool> => {
    for (const value of VALUES) await node.makeBoard(`${id}-${value}`, { windows: WINDOWS, graceSeconds: 0 });
    const boards = VALUES.map((value) => ({ board: `${id}-${value}`, value }));
    const pool = await node.makePool(id, { ...definition, boards });
    await node.boards.refresh();
    return pool;
  };
  /** Rates all and writes the boards, with what time does to entries. */
  const settle = async (...pools: Pool[]): Promise<void> => {
    for (const pool of pools) await node.rater.rate(pool.uid);
    while ((await node.ender.run(new AbortController().signal)) !== undefined);
    for (const pool of pools) await node.settle(pool.uid);
    await node.database.query(SETTLE_WEEKS);
    await node.boards.refresh();
  };
  const players = async (pool: Pool): Promise<Map<string, Omit<PlayerRating, 'position'>>> => {
    const rows = await node.database.query<{ playerId: string }>(
      'SELECT player_id AS "playerId" FROM ratings WHERE pool_uid = $1 ORDER BY player_id',
      [pool.uid],
    );
    const found = new Map<string, Omit<PlayerRating, 'position'>>();
    for (const { playerId } of rows) {
      const { position: _, ...rating } = (await node.playerRating(pool, playerId))!;
      found.set(playerId, rating);
    }
    return found;
  };

  /** Whether all that can be read is the same, but for the history, which ends earlier. */
  const expectAlike = async (kept: Pool, pruned: Pool): Promise<void> => {
    const all = await players(kept);
    expect(await players(pruned)).toEqual(all);
    const spreadOf = async (pool: Pool): Promise<object> => {
      const { ratedPosition: _, sum, mean, ...spread } = (await ratingDistribution(node.database, pool.uid, 25))!;
      // Their last bits go by the order in which rows are added up.
      return { ...spread, sum: sum.toFixed(6), mean: mean?.toFixed(6) };
    };
    expect(await spreadOf(pruned)).toEqual(await spreadOf(kept));
    for (const value of VALUES) {
      const lines = await node.linesOf(`${kept.id}-${value}`);
      expect(await node.linesOf(`${pruned.id}-${value}`), value).toEqual(lines);
    }
    for (const playerId of all.keys()) {
      const without = ({ position: _, recomputedBy: __, ...step }: RatingStep): object => step;
      const whole = (await historyOf(kept, playerId)).map(without);
      const left = (await historyOf(pruned, playerId)).map(without);
      expect(left).toEqual(whole.slice(0, left.length));
    }
    const { named } = await replayPool(
      node.database,
      await node.pools.get(pruned.id),
      node.algorithms.poolOf(pruned.definition),
    );
    expect(named).toEqual([]);
  };

  it(`shows all that one does which keeps everything (SEED=${seed})`, { timeout: 600_000 }, async () => {
    const dice = new Dice(seed);
    const periods = { every: 'daily', timeZone: 'Europe/Berlin', graceSeconds: 7200 };
    const definitions = [
      { algorithm: 'elo', provisional: { games: 5 } },
      { algorithm: 'glicko2', provisional: { deviationAbove: 200 }, rankable: { gamesMin: 2 } },
      { algorithm: 'fide', update: 'per-period', periods },
    ];
    let deleted = 0;
    let corrected = 0;
    for (const [round, definition] of definitions.entries()) {
      await goTo(START_MS + round * 200 * DAY_MS);
      const kept = await makePool(`all${round}`, definition);
      const pruned = await makePool(`week${round}`, { ...definition, history: WEEK });
      const rating = node.algorithms.poolOf(kept.definition);
      const games = randomGames(dice, rating, { games: 150, players: 12, stepMs: 1 });
      for (const { gameId, players: ofGame } of games) {
        if (dice.isUnder(0.3)) await goTo(nowMs + dice.below(30) * HOUR_MS);
        const playedAtMs = nowMs - dice.below(HOUR_MS);
        const more = { playedAtMs, players: ofGame.map((player) => ({ ...player, score: null })) };
        for (const pool of [kept, pruned]) await node.games.record({ ...gameOf(pool.id, gameId, {}), ...more });
        if (dice.isUnder(0.2)) await node.closePeriods();
        if (dice.isUnder(0.1)) await node.pruneHistory(pruned);
        if (dice.isUnder(0.1)) await settle(kept, pruned);
        if (dice.isUnder(0.1)) {
          if (await correctSome(dice, rating, kept, pruned)) corrected += 1;
        }
      }
      await settle(kept, pruned);
      await expectAlike(kept, pruned);
      await goTo(nowMs + 9 * DAY_MS);
      await node.closePeriods();
      await settle(kept, pruned);
      await node.pruneHistory(pruned);
      for (const pool of [kept, pruned]) await node.database.query(FILL, [pool.uid]);
      await node.fill();
      await expectAlike(kept, pruned);
      for (const playerId of (await players(kept)).keys()) {
        deleted += (await historyOf(kept, playerId)).length - (await historyOf(pruned, playerId)).length;
      }
      const left = await node.database.query<{ gameId: string }>(NOT_VOID, [pruned.uid]);
      const oldest = left[0]!.gameId;
      expect(await correctBoth(kept, pruned, oldest, voidOf(oldest))).toBe(false);
      // Who comes back plays on from where it was.
      const small = games.find((game) => game.players.length <= 4)!;
      const write = { playedAtMs: nowMs, players: small.players.map((player) => ({ ...player, score: null })) };
      for (const pool of [kept, pruned]) await node.games.record({ ...gameOf(pool.id, 'back', {}), ...write });
      await goTo(nowMs + 2 * DAY_MS);
      await node.closePeriods();
      await settle(kept, pruned);
      await expectAlike(kept, pruned);
      // It was others who played: they have nothing but what their old changes came to.
      const first = small.players.map(({ playerId }) => playerId);
      const idle = [...(await players(kept)).keys()].filter((playerId) => !first.includes(playerId));
      const others = write.players.map((player, at) => ({ ...player, playerId: idle[at]! }));
      const result = { gameId: 'back', players: others, reason: 'r' };
      expect(await correct(pruned, result)).toEqual(await correct(kept, result));
      await settle(kept, pruned);
      await expectAlike(kept, pruned);
      for (const pool of [kept, pruned]) await correct(pool, voidOf('back'));
      await settle(kept, pruned);
      await expectAlike(kept, pruned);
    }
    expect(deleted).toBeGreaterThan(300);
    expect(corrected).toBeGreaterThan(5);
  });

  const NOT_VOID = `
    SELECT game_id AS "gameId" FROM games WHERE pool_uid = $1 AND void_position IS NULL ORDER BY position`;
  const FILL = `INSERT INTO board_fills (board_uid, pool_uid, round)
    SELECT board_uid, $1, nextval('ladder_position') FROM boards
    WHERE board_id IS NOT NULL AND (feed ->> 'poolUid')::int = $1 ON CONFLICT DO NOTHING`;

  /** Corrects the same game of both, unless what it did is kept no longer: then nothing of it changes. */
  async function correctSome(dice: Dice, rating: RatingPool, kept: Pool, pruned: Pool): Promise<boolean> {
    const left = await node.database.query<{ gameId: string }>(NOT_VOID, [pruned.uid]);
    const { gameId } = dice.oneOf(dice.isUnder(0.7) ? left.slice(-20) : left);
    const { players: others } = randomGames(dice, rating, { games: 1, players: 12, stepMs: 1 })[0]!;
    const result = { gameId, players: others.map((player) => ({ ...player, score: null })), reason: 'r' };
    const asked = dice.isUnder(0.7) ? voidOf(gameId, dice.oneOf(['recompute', 'refund'])) : result;
    return correctBoth(kept, pruned, gameId, asked);
  }

  async function correctBoth(kept: Pool, pruned: Pool, gameId: string, asked: AskedCorrection): Promise<boolean> {
    for (const pool of [kept, pruned]) await node.rater.rate(pool.uid);
    const [game] = await gamesById(node.database, pruned.uid, [gameId]);
    if (!game!.isGone) {
      const outcomes = [await correct(kept, asked), await correct(pruned, asked)];
      expect(outcomes[1]).toEqual(outcomes[0]);
      return true;
    }
    const before = await players(pruned);
    await expect(correct(pruned, asked)).rejects.toMatchObject({ code: 'RECOMPUTE_TOO_LARGE' });
    expect(await players(pruned)).toEqual(before);
    expect((await gamesById(node.database, pruned.uid, [gameId]))[0]).toMatchObject({ voided: null });
    return false;
  }

  it('keeps them for as long as a window takes entries, and feeds no window that began before', async () => {
    await goTo(START_MS);
    await node.makeBoard('monthly', { windows: ['monthly'], graceSeconds: 0 });
    const boards = [{ board: 'monthly', value: 'gain' }];
    const pool = await node.makePool('months', { history: WEEK, boards });
    await node.boards.refresh();
    await node.games.record(gameOf(pool.id, 'g1', { ada: 1, bob: 2 }));
    await goTo(START_MS + 25 * DAY_MS);
    await node.games.record(gameOf(pool.id, 'g2', { ada: 1, bob: 2 }));
    await node.settle(pool.uid);
    await node.pruneHistory(pool);
    expect(await historyOf(pool, 'ada')).toHaveLength(2);
    await goTo(Date.parse('2026-04-05T00:00:00Z'));
    await node.pruneHistory(pool);
    expect(await historyOf(pool, 'ada')).toHaveLength(2);
    await node.database.query(`UPDATE windows SET state = 'settled' WHERE window_id = 'monthly:2026-03'`);
    await node.pruneHistory(pool);
    // A week ago it was March, and g2 was older.
    expect(await historyOf(pool, 'ada')).toHaveLength(0);
    const { historyFromMs } = await node.pools.get(pool.id);
    expect(historyFromMs).toBe(Date.parse('2026-03-29T00:00:00Z'));
    const season = { season: 's', startsAt: '2026-03-28T00:00:00.000Z', endsAt: '2026-05-01T00:00:00.000Z' };
    await node.makeBoard('season', { windows: [season], graceSeconds: 0 });
    await expect(
      node.makePool('months', { history: WEEK, boards: [...boards, { board: 'season', value: 'gain' }] }),
    ).rejects.toMatchObject({ code: 'NOT_SUPPORTED', message: expect.stringContaining('2026-03-29') as string });
    const { definition } = node.boards.byId('monthly')!;
    const long = node.registry.put('monthly', { ...definition, windows: ['monthly', { rolling: '240h' }] });
    await expect(long).rejects.toMatchObject({ code: 'NOT_SUPPORTED' });
    const short = await node.registry.put('monthly', { ...definition, windows: ['monthly', { rolling: '48h' }] });
    expect(short.created).toBe(false);
  });

  it('makes no window of what is left of its games', async () => {
    await goTo(START_MS);
    await node.makeBoard('late', { windows: ['weekly'], graceSeconds: 0 });
    const pool = await node.makePool('late', { history: WEEK, boards: [{ board: 'late', value: 'gain' }] });
    await node.boards.refresh();
    // Noon of Monday, Thursday and the Tuesday after, which nobody hears of for a week.
    for (const day of [1, 4, 9]) {
      await clock.stopAt(START_MS + (day + 0.5) * DAY_MS);
      await node.games.record(gameOf(pool.id, `g${day}`, { ada: 1, bob: 2 }));
    }
    await node.rater.rate(pool.uid);
    await clock.stopAt(START_MS + 10 * DAY_MS);
    await node.pruneHistory(pool);
    expect(await historyOf(pool, 'ada')).toHaveLength(2);
    await node.settle(pool.uid);
    const lines = await node.linesOf('late');
    expect(lines.map((line) => line.split(' ').slice(0, 2))).toEqual([
      ['weekly:2026-W11', 'ada'],
      ['weekly:2026-W11', 'bob'],
    ]);
  });

  it('makes the window of a period that closes late, of which nothing was given up', async () => {
    await goTo(START_MS);
    await node.makeBoard('march', { windows: ['monthly'], graceSeconds: 0 });
    const periods = { every: 'monthly', timeZone: 'UTC', graceSeconds: 86_400 };
    const boards = [{ board: 'march', value: 'games' }];
    const pool = await node.makePool('march', { algorithm: 'fide', periods, history: WEEK, boards });
    await node.boards.refresh();
    await clock.stopAt(START_MS + 2 * DAY_MS);
    await node.games.record(gameOf(pool.id, 'g1', { ada: 1, bob: 2 }));
    await clock.stopAt(Date.parse('2026-04-01T01:00:00Z'));
    await node.pruneHistory(pool);
    await clock.stopAt(Date.parse('2026-04-02T00:00:00Z'));
    await node.closePeriods();
    await node.settle(pool.uid);
    expect(await node.linesOf('march')).toEqual(['monthly:2026-03 ada 1', 'monthly:2026-03 bob 1']);
    // A season that holds all of March may still be named.
    const season = { season: 'spring', startsAt: '2026-03-01T00:00:00Z', endsAt: '2026-06-01T00:00:00Z' };
    await node.makeBoard('spring', { windows: [season] });
    const named = [...pool.definition.boards, { ...pool.definition.boards[0]!, board: 'spring' }];
    await node.pools.put(pool.id, { ...pool.definition, boards: named }, {}, 'test');
    await node.boards.refresh();
    await node.fill();
    expect(await node.linesOf('spring')).toEqual(['season:spring ada 1', 'season:spring bob 1']);
  });

  it('takes the mode keep for a game whose changes are gone, and shows that they are', async () => {
    await goTo(START_MS);
    const pool = await node.makePool('gone', { history: WEEK });
    await node.games.record(gameOf(pool.id, 'g1', { ada: 1, bob: 2 }));
    await goTo(START_MS + 8 * DAY_MS);
    await node.games.record(gameOf(pool.id, 'g2', { ada: 1, bob: 2 }));
    await node.rater.rate(pool.uid);
    await node.pruneHistory(pool);
    const shown = await gamesById(node.database, pool.uid, ['g1', 'g2']);
    const byId = new Map(shown.map(({ gameId, isGone, changes }) => [gameId, [isGone, changes.length]]));
    expect(Object.fromEntries(byId)).toEqual({ g1: [true, 0], g2: [false, 2] });
    await expect(node.corrections.dryRun(pool.id, voidOf('g1'))).rejects.toMatchObject({
      code: 'RECOMPUTE_TOO_LARGE',
      message: expect.stringContaining('history.keepDays') as string,
    });
    expect(await correct(pool, voidOf('g1', 'keep'))).toEqual({ games: 1, players: [] });
    expect(await node.playerRating(pool, 'ada')).toMatchObject({ games: 2, wins: 2 });
    await node.pools.put(pool.id, { ...pool.definition, history: { keepDays: null } }, {}, 'test');
    await goTo(START_MS + 30 * DAY_MS);
    await node.pruneHistory(pool);
    expect(await historyOf(pool, 'ada')).toHaveLength(1);
  });

  it('is pruned behind a thousand others that keep them for so long', async () => {
    await goTo(START_MS);
    const first = await node.makePool('thousand', { history: WEEK });
    await node.database.query(
      `INSERT INTO pools (pool_id, definition, revision, games_recorded, history_from_ms)
       SELECT 'thousand-' || n, definition, revision, 1, $2 FROM pools, generate_series(1, 1000) AS n WHERE pool_uid = $1`,
      [first.uid, START_MS + DAY_MS],
    );
    const last = await node.makePool('last', { history: WEEK });
    await node.games.record(gameOf(last.id, 'g1', { ada: 1, bob: 2 }));
    await node.rater.rate(last.uid);
    await goTo(START_MS + 8 * DAY_MS);
    // The others have given up all that is so old.
    for (let look = 0; look < 2; look += 1) await node.pruneHistory(last);
    expect(await historyOf(last, 'ada')).toEqual([]);
  });
});
