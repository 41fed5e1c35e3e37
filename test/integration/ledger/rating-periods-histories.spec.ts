// Real: PostgreSQL, its clock in the test's hands, and the ledger. Checked against plain formulas, from the first game on. The
// random histories print their seed; SEED=… repeats them.
import { newcomer, periodAt, type PoolGame, type RatingPool } from '@laddercast/domain';
import { changesOfPlayer, replayPool, type AskedCorrection, type Pool, type RatingStep } from '@laddercast/ledger';
import {
  createTestDatabase,
  DatabaseClock,
  Dice,
  randomGames,
  ratingsOracleByPeriod,
  seedOfRun,
  type OraclePeriod,
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

describe('a pool that rates by periods', () => {
  const seed = seedOfRun();
  let testDatabase: TestDatabase;
  let node: FeedNode;
  let clock: DatabaseClock;
  let pool: Pool;
  let nowMs = START_MS;
  let given = 0;

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
  };

  it(`comes to what plain formulas say in random histories (SEED=${seed})`, { timeout: 600_000 }, async () => {
    const dice = new Dice(seed);
    for (const [round, algorithm] of ['fide', 'glicko2', 'fide', 'glicko2'].entries()) {
      const zone = dice.oneOf(['UTC', 'America/New_York', 'Pacific/Auckland']);
      const periods = {
        every: dice.oneOf(['daily', 'weekly']),
        timeZone: zone,
        graceSeconds: dice.oneOf([0, 7200, 172_800]),
      };
      await goTo(START_MS);
      pool = await node.makePool(`p${round}`, { algorithm, update: 'per-period', periods });
      const rating = node.algorithms.poolOf(pool.definition);
      const games = randomGames(dice, rating, { games: 200, players: dice.oneOf([5, 30]), stepMs: 1 });
      let refused = 0;
      for (const { gameId, players } of games) {
        if (dice.isUnder(0.15)) await goTo(nowMs + dice.below(round < 2 ? 30 : 120) * HOUR_MS);
        const playedAtMs = nowMs - dice.below(dice.oneOf([1, 3 * HOUR_MS, 4 * DAY_MS]));
        const write = gameOf(pool.id, gameId, {}, { playedAtMs });
        await node.games
          .record({ ...write, players: players.map((player) => ({ ...player, score: null })) })
          .catch((error: unknown) => {
            expect(error).toMatchObject({ code: 'PERIOD_CLOSED' });
            refused += 1;
          });
        if (dice.isUnder(0.05)) await correctSome(dice, rating);
        if (dice.isUnder(0.2)) await node.closePeriods();
        if (dice.isUnder(0.2)) await node.rater.rate(pool.uid);
      }
      await goTo(nowMs + 30 * DAY_MS);
      await node.closePeriods();
      await node.rater.rate(pool.uid);
      const expected = ratingsOracleByPeriod({ algorithm, parameters: rating.parameters }, await storedPeriods());
      expect(refused).toBeLessThan(games.length);
      expect(expected.size).toBeGreaterThan(3);
      const progress = { pending: 0, games: games.length - refused, players: expected.size };
      expect(await node.pools.get(pool.id)).toMatchObject(progress);
      const { named, changes } = await replayPool(node.database, await node.pools.get(pool.id), rating);
      expect(named).toEqual([]);
      expect(changes).toBeGreaterThan(expected.size);
      for (const [playerId, said] of expected) {
        const stored = (await node.playerRating(pool, playerId)) ?? newcomer(rating);
        const { games: count, wins, draws, losses } = stored;
        expect({ playerId, count, wins, draws, losses }).toEqual({
          ...{ playerId, count: said.games, wins: said.wins, draws: said.draws, losses: said.losses },
        });
        expect(stored.state.rating).toBeCloseTo(said.rating, 8);
        if (algorithm === 'glicko2') expect(stored.state.deviation).toBeCloseTo(said.deviation, 8);
        expect(stored.peak).toMatchObject({ gameId: said.peak!.gameId });
        expect(stored.lastPlayedAtMs).toBe(said.lastPlayedAtMs);
        const history = await historyOf(playerId);
        expect(history.filter(({ isRefund }) => !isRefund).length).toBe(said.games);
        expect(history.at(-1)!.after).toBe(stored.state.rating);
        history.forEach(({ before }, at) =>
          expect(before).toBe(at === 0 ? newcomer(rating).state.rating : history[at - 1]!.after),
        );
      }
    }
    expect(given).toBeGreaterThan(0);
  });

  async function historyOf(playerId: string): Promise<RatingStep[]> {
    const page = { beforePosition: null, limit: 100 };
    return (await changesOfPlayer(node.database, pool.uid, playerId, page)).reverse();
  }

  /** Makes a game void, or gives it another result. */
  async function correctSome(dice: Dice, rating: RatingPool): Promise<void> {
    const left = await node.database.query<{ gameId: string }>(
      'SELECT game_id AS "gameId" FROM games WHERE pool_uid = $1 AND void_position IS NULL',
      [pool.uid],
    );
    if (left.length === 0) return;
    const { gameId } = dice.oneOf(left);
    const { players } = randomGames(dice, rating, { games: 1, players: 30, stepMs: 1 })[0]!;
    const result = { gameId, players: players.map((player) => ({ ...player, score: null })), reason: 'r' };
    const mode = dice.oneOf(['recompute', 'refund'] as const);
    const selection = { ...ALL, gameIds: [gameId], playerId: dice.oneOf([null, players[0]!.playerId]) };
    const asked: AskedCorrection = dice.isUnder(0.6) ? { selection, mode, reason: 'r' } : result;
    await node.corrections.record(pool.id, asked, 'test');
  }

  /** What is recorded and counts, by the period that the calendar says. */
  async function storedPeriods(): Promise<OraclePeriod[]> {
    const rows = await node.database.query<PoolGame>(
      `SELECT game_id AS "gameId", position, played_at_ms AS "playedAtMs", weight, players, results FROM games
       WHERE pool_uid = $1 AND unrated IS DISTINCT FROM 'VOID' ORDER BY position`,
      [pool.uid],
    );
    const refunds = await node.database.query<{ playerId: string; points: number; follows: number }>(
      `SELECT player_id AS "playerId", refund AS points, (SELECT (payload ->> 'period')::int FROM pool_events AS e
         WHERE e.pool_uid = c.pool_uid AND e.type = 'period-closed' AND e.position < c.position
         ORDER BY e.position DESC LIMIT 1) AS follows
       FROM rating_changes AS c WHERE pool_uid = $1 AND refund IS NOT NULL ORDER BY position`,
      [pool.uid],
    );
    const byPeriod = new Map<number, PoolGame[]>();
    for (const row of rows) {
      const { number } = periodAt(pool.definition.periods!, row.playedAtMs);
      byPeriod.set(number, [...(byPeriod.get(number) ?? []), row]);
    }
    const numbers = [...byPeriod.keys()].sort((a, b) => a - b);
    // Of a period nothing may be left but the refunds after it.
    const givenAfter = (period: number): typeof refunds =>
      refunds.filter(({ follows }) => numbers.findLast((one) => one <= follows) === period);
    given += refunds.length;
    return numbers.map((period) => ({ period, games: byPeriod.get(period)!, given: givenAfter(period) }));
  }
});
