// Real: PostgreSQL, its clock in the test's hands, and the ledger of two processes.
import { periodAt, readRating, momentOf } from '@laddercast/domain';
import {
  changesOfPlayer,
  gamesById,
  watchedRatings,
  type AskedCorrection,
  type Pool,
  type RecordedGame,
} from '@laddercast/ledger';
import { createTestDatabase, DatabaseClock, type TestDatabase } from '@laddercast/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FeedNode } from '../nodes/feed-node.js';
import { gameOf } from '../nodes/pool-node.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** A Sunday. */
const START_MS = Date.parse('2026-03-01T00:00:00Z');
const DAYS = { every: 'daily', timeZone: 'UTC', graceSeconds: 6 * 3600 };
const ALL = { gameIds: null, playerId: null, fromMs: null, toMs: null };
const printed = (value: number): number => Math.round(value * 1e6) / 1e6;

describe('a pool that rates by periods', () => {
  let testDatabase: TestDatabase;
  let node: FeedNode;
  let clock: DatabaseClock;
  let pool: Pool;
  let made = 0;
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

  const goTo = async (hours: number): Promise<void> => {
    nowMs = START_MS + hours * HOUR_MS;
    await clock.stopAt(nowMs);
  };
  const begin = async (definition: object): Promise<void> => {
    await goTo(0);
    pool = await node.makePool(`p${(made += 1)}`, definition);
  };
  const play = (gameId: string, places: Record<string, number>, hours?: number, by = node): Promise<unknown> =>
    by.games.record(
      gameOf(pool.id, gameId, places, hours === undefined ? {} : { playedAtMs: START_MS + hours * HOUR_MS }),
    );
  /** As the projector does it. */
  const close = async (): Promise<void> => {
    await node.closePeriods();
    await node.rater.rate(pool.uid);
  };
  const storedRating = async (playerId: string): Promise<(number | null)[] | null> => {
    const rating = await node.playerRating(pool, playerId);
    if (!rating) return null;
    const { rating: value, deviation, volatility } = rating.state;
    return [value, deviation, volatility].map((one) => one && printed(one));
  };
  const progress = async (): Promise<unknown> => {
    const { pending, games, players } = await node.pools.get(pool.id);
    return { pending, games, players };
  };
  const game = async (gameId: string): Promise<RecordedGame> =>
    (await gamesById(node.database, pool.uid, [gameId]))[0]!;
  const historyOf = async (playerId: string): Promise<(string | number)[][]> =>
    (await changesOfPlayer(node.database, pool.uid, playerId, { beforePosition: null, limit: 100 }))
      .reverse()
      .map(({ gameId, before, after }) => [gameId, before, after]);

  describe('moves ratings when a period closes', () => {
    it('by the example of the Glicko-2 paper', async () => {
      await begin({ algorithm: 'glicko2', update: 'per-period', periods: DAYS, parameters: { tau: 0.5 } });
      for (const [index, opponent] of ['bob', 'cy', 'di'].entries()) {
        await play(`g${index}`, opponent === 'bob' ? { ada: 1, bob: 2 } : { ada: 2, [opponent]: 1 });
      }
      // Where they stood before, as if they had played long ago.
      const states = [
        ['ada', 1500, 200],
        ['bob', 1400, 30],
        ['cy', 1550, 100],
        ['di', 1700, 300],
      ] as const;
      for (const [playerId, rating, deviation] of states) {
        await node.database.query(
          `INSERT INTO ratings (pool_uid, player_id, position, rating, deviation, volatility, games, wins, draws, losses)
           VALUES ($1, $2, 1, $3, $4, 0.06, 1, 0, 1, 0)`,
          [pool.uid, playerId, rating, deviation],
        );
      }
      await goTo(30);
      await close();
      expect(await storedRating('ada')).toEqual([1464.050671, 151.516524, 0.059996]);
    });

    it('by the table of FIDE, rounded once', async () => {
      await begin({ algorithm: 'fide', periods: DAYS });
      await play('g1', { ada: 1, bob: 2 });
      await play('g2', { ada: 1, cy: 1 });
      expect(await storedRating('ada')).toBeNull();
      expect(await progress()).toEqual({ pending: 2, games: 2, players: 0 });
      await goTo(24 + 5.99);
      await close();
      expect(await storedRating('ada')).toBeNull();
      await goTo(24 + 6);
      await close();
      // K 40, all at 1500: 40 × (1.5 − 2 × 0.5).
      expect(await storedRating('ada')).toEqual([1520, null, null]);
      expect(await storedRating('bob')).toEqual([1480, null, null]);
      expect(await storedRating('cy')).toEqual([1500, null, null]);
      expect(await progress()).toEqual({ pending: 0, games: 2, players: 3 });
      expect(await historyOf('ada')).toEqual([
        ['g1', 1500, 1500],
        ['g2', 1500, 1520],
      ]);
    });

    it('and says of its games until then that they are not rated', async () => {
      await begin({ algorithm: 'fide', periods: DAYS });
      await play('g1', { ada: 1, bob: 2 });
      await node.rater.rate(pool.uid);
      expect(await game('g1')).toMatchObject({ isRated: false, unrated: null, changes: [] });
      await goTo(30);
      await close();
      expect(await game('g1')).toMatchObject({
        isRated: true,
        changes: [
          { playerId: 'ada', before: 1500, after: 1520, expected: 0.5, k: 40 },
          { playerId: 'bob', before: 1500, after: 1480, expected: 0.5, k: 40 },
        ],
      });
    });

    it('in the order of the periods, whenever their games were sent', async () => {
      await begin({ algorithm: 'fide', periods: DAYS });
      await play('first', { ada: 1, bob: 2 }, 0);
      await goTo(25);
      await play('of the next day', { ada: 1, bob: 2 });
      await play('of the day before', { ada: 1, bob: 2 }, 23);
      await goTo(100);
      await close();
      const [first, second, third] = await historyOf('ada');
      expect([first![0], second![0], third![0]]).toEqual(['first', 'of the day before', 'of the next day']);
      expect([first![2], second![1], third![1]]).toEqual([1500, 1500, 1540]);
      // 1540 against 1460: 0.61 is expected, the higher rated gains 16.
      expect(await storedRating('ada')).toEqual([1556, null, null]);
      const [pushed] = await watchedRatings(
        node.database,
        [{ poolUid: pool.uid, playerId: 'ada', afterPosition: 0 }],
        10,
      );
      expect(pushed!.changes.map(({ gameId }) => gameId)).toEqual(['first', 'of the day before', 'of the next day']);
      const { ratedPosition } = await node.pools.get(pool.id);
      expect(Math.max(...pushed!.changes.map(({ position }) => position))).toBeLessThan(ratedPosition);
    });

    it('once each, and all that are over after a long time', async () => {
      await begin({ algorithm: 'fide', periods: DAYS });
      await play('g1', { ada: 1, bob: 2 });
      await goTo(24 * 5);
      await play('g2', { ada: 1, bob: 2 });
      await goTo(24 * 30);
      const second = new FeedNode(testDatabase.url);
      await second.start();
      try {
        await Promise.all([node.closePeriods(), second.closePeriods()]);
        await Promise.all([node.rater.rate(pool.uid), second.rater.rate(pool.uid)]);
        await close();
      } finally {
        await second.stop();
      }
      const closed = await node.database.query<{ period: number }>(
        `SELECT (payload ->> 'period')::int AS period FROM pool_events WHERE pool_uid = $1 AND type = 'period-closed'
         ORDER BY position`,
        [pool.uid],
      );
      const firstDay = periodAt(pool.definition.periods!, START_MS).number;
      expect(closed.map(({ period }) => period - firstDay)).toEqual([0, 5]);
      expect(await storedRating('ada')).toEqual([1538, null, null]);
    });
  });

  describe('takes a game', () => {
    it('until the grace of its period is over, and never after a close', async () => {
      await begin({ algorithm: 'fide', periods: DAYS });
      await play('g1', { ada: 1, bob: 2 });
      await goTo(24 + 5.99);
      await play('g2', { ada: 1, bob: 2 }, 1);
      await goTo(24 + 6);
      await expect(play('g3', { ada: 1, bob: 2 }, 1)).rejects.toMatchObject({
        code: 'PERIOD_CLOSED',
        extensions: { period: 'daily:2026-03-01', closedAt: '2026-03-02T06:00:00.000Z' },
      });
      await close();
      // The clock of another server, which took over, is behind.
      await goTo(24 + 5);
      await expect(play('g3', { ada: 1, bob: 2 }, 1)).rejects.toMatchObject({ code: 'PERIOD_CLOSED' });
      await play('g4', { ada: 1, bob: 2 }, 24.5);
      await play('g2', { ada: 1, bob: 2 }, 1);
      expect(await progress()).toMatchObject({ games: 3, pending: 1 });
    });

    it('that was corrected before the close as it is then, and none that is void', async () => {
      await begin({ algorithm: 'fide', periods: DAYS });
      for (const gameId of ['g1', 'g2', 'g3']) await play(gameId, { ada: 1, bob: 2 });
      const selection = { gameIds: ['g1'], playerId: null, fromMs: null, toMs: null };
      await node.corrections.record(pool.id, { selection, mode: 'recompute', reason: 'r' }, 'test');
      const { players } = gameOf(pool.id, 'g2', { cy: 1, bob: 2 });
      await node.corrections.record(pool.id, { gameId: 'g2', players, reason: 'r' }, 'test');
      await goTo(30);
      await close();
      expect(await historyOf('ada')).toEqual([['g3', 1500, 1520]]);
      expect(await historyOf('cy')).toEqual([['g2', 1500, 1520]]);
      expect(await storedRating('bob')).toEqual([1460, null, null]);
      expect(await game('g1')).toMatchObject({ unrated: 'VOID', voided: 'recompute', changes: [] });
      expect(await progress()).toMatchObject({ pending: 0 });
    });
  });

  it('goes on where a process died between two chunks of its players, and shows nothing of it before', async () => {
    await begin({ algorithm: 'fide', periods: DAYS });
    const games = Array.from({ length: 2600 }, (_, index) => ({ [`a${index}`]: 1, [`b${index}`]: 2 }));
    await Promise.all(games.map((places, index) => play(`g${index}`, places)));
    await goTo(30);
    await node.closePeriods();
    const query = node.database.query.bind(node.database);
    const kept: number[] = [];
    const countKept = async (limit: number): Promise<void> => {
      node.database.query = (async (...given: Parameters<typeof query>) => {
        if (given[0].includes('SET result =')) {
          if (kept.length === limit) throw new Error('it died');
          kept.push(kept.length);
        }
        return query(...given);
      }) as typeof query;
      try {
        await node.rater.rate(pool.uid);
      } finally {
        node.database.query = query;
      }
    };
    await expect(countKept(1)).rejects.toThrow('it died');
    expect(await storedRating('a1')).toBeNull();
    expect(await game('g1')).toMatchObject({ isRated: false });
    expect(await progress()).toEqual({ pending: 2600, games: 2600, players: 0 });
    kept.length = 0;
    await countKept(10);
    // The first 5,000 of 5,200 were kept.
    expect(kept).toHaveLength(1);
    expect(await progress()).toEqual({ pending: 0, games: 2600, players: 5200 });
    expect(await storedRating('a1')).toEqual([1520, null, null]);
    expect(await storedRating('b2599')).toEqual([1480, null, null]);
    expect(await node.database.query('SELECT 1 FROM period_results')).toEqual([]);
  });

  it('is broken off between two chunks where its process stops, and its turn does not idle over them', async () => {
    await begin({ algorithm: 'fide', periods: DAYS });
    const games = Array.from({ length: 2600 }, (_, index) => ({ [`a${index}`]: 1, [`b${index}`]: 2 }));
    await Promise.all(games.map((places, index) => play(`g${index}`, places)));
    await goTo(30);
    await node.closePeriods();
    const stopped = new FeedNode(testDatabase.url);
    await stopped.start();
    const query = stopped.database.query.bind(stopped.database);
    let kept = 0;
    let stopping: Promise<void> | undefined;
    stopped.database.query = (async (...given: Parameters<typeof query>) => {
      const rows = await query(...given);
      if (given[0].includes('SET result =')) {
        kept += 1;
        stopping = stopped.rater.stop();
      }
      return rows;
    }) as typeof query;
    await expect(stopped.rater.rate(pool.uid)).rejects.toThrow();
    await stopping;
    await stopped.stop();
    expect(kept).toBe(1);
    expect(await progress()).toEqual({ pending: 2600, games: 2600, players: 0 });
    await node.rater.rate(pool.uid);
    expect(await progress()).toEqual({ pending: 0, games: 2600, players: 5200 });
  });

  it('keeps its calendar once it has games', async () => {
    await begin({ algorithm: 'fide', periods: DAYS });
    await play('g1', { ada: 1, bob: 2 });
    const again = (periods: object): Promise<unknown> => node.makePool(pool.id, { algorithm: 'fide', periods });
    await again(DAYS);
    await expect(again({ ...DAYS, every: 'weekly' })).rejects.toMatchObject({ code: 'POOL_HAS_GAMES' });
    await expect(again({ ...DAYS, graceSeconds: 0 })).rejects.toMatchObject({ code: 'POOL_HAS_GAMES' });
  });

  it('feeds boards at the close, with windows by when games were played', async () => {
    await node.makeBoard('fed', { windows: ['alltime', 'daily'] });
    await begin({ algorithm: 'fide', periods: DAYS, board: 'fed' });
    await node.boards.refresh();
    await play('g1', { ada: 1, bob: 2 });
    await goTo(23);
    await play('g2', { ada: 1, cy: 2 });
    await node.settle(pool.uid);
    expect(await node.linesOf('fed')).toEqual([]);
    await goTo(30);
    await node.closePeriods();
    await node.settle(pool.uid);
    expect(await node.linesOf('fed')).toEqual([
      ...['alltime ada 1540', 'alltime bob 1480', 'alltime cy 1480'],
      ...['daily:2026-03-01 ada 1540', 'daily:2026-03-01 bob 1480', 'daily:2026-03-01 cy 1480'],
    ]);
  });

  it('lets the deviation of idle players grow with each period, and takes them off its boards at a close', async () => {
    await node.makeBoard('certain');
    const rules = { rankable: { deviationMax: 295 }, board: 'certain' };
    await begin({ algorithm: 'glicko2', update: 'per-period', periods: DAYS, ...rules });
    await node.boards.refresh();
    await play('g1', { ada: 1, bob: 2 });
    await goTo(30);
    await node.closePeriods();
    await node.settle(pool.uid);
    const rating = node.algorithms.poolOf(pool.definition);
    const ada = (await node.playerRating(pool, 'ada'))!;
    const { rankable, deviation } = { rankable: 295, deviation: ada.state.deviation! };
    // (295² − deviation²) ÷ (173.7178 × σ)², in periods.
    const periods = Math.ceil((rankable ** 2 - deviation ** 2) / (173.7178 * ada.state.volatility!) ** 2);
    const reading = readRating(rating, ada, momentOf(rating, nowMs));
    expect(reading.deviation).toBe(deviation);
    const untilMs = START_MS + (1 + periods) * DAY_MS + 6 * HOUR_MS;
    expect(reading).toMatchObject({ isRankable: true, untilMs });
    expect((await node.linesOf('certain')).length).toBe(2);
    await clock.stopAt(untilMs - 1);
    await node.ender.run(new AbortController().signal);
    await node.settle(pool.uid);
    expect((await node.linesOf('certain')).length).toBe(2);
    await clock.stopAt(untilMs);
    await node.ender.run(new AbortController().signal);
    await node.settle(pool.uid);
    expect(await node.linesOf('certain')).toEqual([]);
  });

  it('has as a peak what the last game of a period made, on boards and after a void, too', async () => {
    await node.makeBoard('peaks', { windows: ['alltime', 'daily'] });
    await begin({ algorithm: 'fide', periods: DAYS, boards: [{ board: 'peaks', value: 'peak' }] });
    await node.boards.refresh();
    for (const gameId of ['g1', 'g2', 'g3']) await play(gameId, { ada: 1, bob: 2 });
    await goTo(30);
    await node.closePeriods();
    await node.settle(pool.uid);
    const peaks = ['alltime ada 1560', 'alltime bob 1440', 'daily:2026-03-01 ada 1560', 'daily:2026-03-01 bob 1440'];
    expect(await node.linesOf('peaks')).toEqual(peaks);
    await voidGames(['g1']);
    await node.settle(pool.uid);
    expect((await node.playerRating(pool, 'bob'))!.peak).toMatchObject({ rating: 1460, gameId: 'g3' });
    const after = ['alltime ada 1540', 'alltime bob 1460', 'daily:2026-03-01 ada 1540', 'daily:2026-03-01 bob 1460'];
    expect(await node.linesOf('peaks')).toEqual(after);
  });

  it('is after a correction as if the game had been so from the beginning, in all periods since', async () => {
    await begin({ algorithm: 'fide', periods: DAYS });
    await play('g1', { ada: 1, bob: 2 });
    await play('g2', { cy: 1, di: 2 });
    await goTo(25);
    await play('g3', { bob: 1, cy: 2 });
    await goTo(60);
    await close();
    const before = await storedRating('di');
    const dry = await node.corrections.dryRun(pool.id, voidOf(['g1']));
    expect(dry).toMatchObject({
      games: 1,
      players: [{ playerId: 'ada', before: 1520, after: 1500, delta: -20 }, {}, {}],
    });
    expect(await storedRating('ada')).toEqual([1520, null, null]);
    await voidGames(['g1']);
    expect(await storedRating('ada')).toBeNull();
    // 1500 beats 1520, of whom 0.53 is expected: 40 × 0.53 = 21.
    expect(await storedRating('bob')).toEqual([1521, null, null]);
    expect(await storedRating('cy')).toEqual([1499, null, null]);
    expect(await storedRating('di')).toEqual(before);
    expect(await game('g1')).toMatchObject({ unrated: 'VOID', voided: 'recompute', changes: [] });
    const { players } = gameOf(pool.id, 'g3', { ed: 1, cy: 2 });
    await correct({ gameId: 'g3', players, reason: 'r' });
    expect(await storedRating('bob')).toBeNull();
    expect(await storedRating('ed')).toEqual([1521, null, null]);
    await correct({ selection: { ...ALL, gameIds: ['g2'] }, mode: 'keep', reason: 'r' });
    expect(await storedRating('di')).toEqual(before);
    expect(await progress()).toMatchObject({ pending: 0, players: 3 });
  });

  it('gives back what a game alone cost its loser, since a period moves a rating by all of them', async () => {
    await begin({ algorithm: 'fide', periods: DAYS });
    await play('g1', { ada: 1, bob: 2 });
    await play('g2', { bob: 1, cy: 1 });
    await play('g3', { bob: 1, cy: 2 });
    await goTo(30);
    await close();
    // Of bob's three games 1.5 points, as was expected.
    expect(await storedRating('bob')).toEqual([1500, null, null]);
    await correct({ selection: { ...ALL, gameIds: ['g1'] }, mode: 'refund', reason: 'r' });
    expect(await storedRating('bob')).toEqual([1520, null, null]);
    expect(await storedRating('ada')).toEqual([1520, null, null]);
    expect((await historyOf('bob')).at(-1)).toEqual(['g1', 1500, 1520]);
    expect(await game('g1')).toMatchObject({ voided: 'refund', unrated: null });
    expect((await node.pools.get(pool.id)).refunded).toBe(20);
    // The next period begins with it, and so does a recompute of the first.
    await play('g4', { bob: 1, di: 1 });
    await goTo(60);
    await close();
    expect(await storedRating('bob')).toEqual([1519, null, null]);
    await voidGames(['g3']);
    // Without the second point of g3 bob is 20 less at the end of the first period, and draws as an equal.
    expect(await storedRating('bob')).toEqual([1500, null, null]);
    expect((await historyOf('bob')).slice(-2)).toEqual([
      ['g1', 1480, 1500],
      ['g4', 1500, 1500],
    ]);
  });

  function voidOf(gameIds: string[]): AskedCorrection {
    return { selection: { ...ALL, gameIds }, mode: 'recompute', reason: 'r' };
  }

  async function correct(asked: AskedCorrection): Promise<void> {
    await node.corrections.record(pool.id, asked, 'test');
    await node.rater.rate(pool.uid);
  }

  const voidGames = (gameIds: string[]): Promise<void> => correct(voidOf(gameIds));
});
