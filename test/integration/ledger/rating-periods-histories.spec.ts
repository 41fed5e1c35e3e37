// Real: PostgreSQL, its clock in the test's hands, and the ledger. Checked against plain formulas, from the first game on. The
// random histories print their seed; SEED=… repeats them.
import {
  newcomer,
  periodAt,
  RATING_ALGORITHMS,
  type PoolGame,
  type RatingAlgorithm,
  type RatingPool,
} from '@laddercast/domain';
import {
  changesOfPlayer,
  gamesById,
  replayPool,
  type AskedCorrection,
  type Pool,
  type RatingStep,
} from '@laddercast/ledger';
import { metrics } from '@laddercast/platform';
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

const glicko2 = RATING_ALGORITHMS.find(({ name }) => name === 'glicko2')!;
/** Glicko-2 whose numbers are not finite for who begins a period with some ratings. */
const notFiniteFrom = (name: string, isNotFinite: (rating: number) => boolean): RatingAlgorithm => ({
  ...glicko2,
  name,
  ratePeriod: (parameters, player, games, period) => {
    const rated = glicko2.ratePeriod!(parameters, player, games, period);
    return isNotFinite(player.rating) ? { ...rated, after: { ...rated.after, rating: NaN } } : rated;
  },
});
const odd = notFiniteFrom('odd', (rating) => Math.floor(rating) % 3 === 1);
const limited = notFiniteFrom('limited', (rating) => rating > 1600);

describe('a pool that rates by periods', () => {
  const seed = seedOfRun();
  let testDatabase: TestDatabase;
  let node: FeedNode;
  let clock: DatabaseClock;
  let pool: Pool;
  let nowMs = START_MS;
  let given = 0;
  let numeric = 0;

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    node = new FeedNode(testDatabase.url);
    node.ofTeams.push(odd, limited);
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

  it('rates again who stayed where it was, as its numbers were not finite, once they are', async () => {
    await goTo(START_MS);
    const periods = { every: 'daily', timeZone: 'UTC', graceSeconds: 0 };
    pool = await node.makePool('again', { algorithm: 'limited', update: 'per-period', periods });
    const rating = node.algorithms.poolOf(pool.definition);
    const play = (gameId: string, places: Record<string, number>): Promise<unknown> =>
      node.games.record(gameOf(pool.id, gameId, places));
    const shown = async (): Promise<unknown> => {
      const games = await gamesById(node.database, pool.uid, ['g3', 'g4']);
      const players = await Promise.all(['ada', 'cy', 'eve'].map((playerId) => node.playerRating(pool, playerId)));
      const { named } = await replayPool(node.database, await node.pools.get(pool.id), rating);
      return [...games.map(({ unrated }) => unrated), ...players.map((player) => player?.games ?? 0), ...named];
    };
    const voidGame = async (gameId: string): Promise<void> => {
      const asked = { selection: { ...ALL, gameIds: [gameId] }, mode: 'recompute' as const, reason: 'r' };
      await node.corrections.record(pool.id, asked, 'test');
      await node.rater.rate(pool.uid);
    };
    const looked = async (): Promise<{ rated: number; NUMERIC: number; TOO_FEW_SIDES: number }> => {
      const { values } = await metrics.gamesRated.get();
      const counted = values.map(({ labels, value }) => [labels['outcome'], value]);
      return { rated: 0, NUMERIC: 0, TOO_FEW_SIDES: 0, ...(Object.fromEntries(counted) as object) };
    };
    const before = await looked();
    await play('g1', { ada: 1, bob: 2 });
    await play('g2', { cy: 1, di: 2 });
    const absent = gameOf(pool.id, 'absent', { gil: 1, hal: 1 });
    const players = absent.players.map((player) => ({ ...player, status: 'absent' as const, place: null }));
    await node.games.record({ ...absent, players });
    await play('void', { gil: 1, hal: 2 });
    await voidGame('void');
    await goTo(START_MS + DAY_MS);
    await play('g3', { ada: 1, cy: 2 });
    await play('g4', { cy: 1, eve: 2 });
    await goTo(START_MS + 2 * DAY_MS);
    await play('g5', { eve: 1, fay: 2 });
    await goTo(START_MS + 4 * DAY_MS);
    await node.closePeriods();
    await node.rater.rate(pool.uid);
    expect(await shown()).toEqual(['NUMERIC', null, 1, 1, 2]);
    expect(await looked()).toEqual({
      ...before,
      rated: before.rated + 4,
      NUMERIC: before.NUMERIC + 1,
      TOO_FEW_SIDES: before.TOO_FEW_SIDES + 1,
    });
    await voidGame('g1');
    expect(await shown()).toEqual([null, null, 1, 1, 2]);
    await voidGame('g2');
    expect(await shown()).toEqual([null, null, 1, 2, 2]);
  });

  it(`comes to what plain formulas say in random histories (SEED=${seed})`, { timeout: 600_000 }, async () => {
    const dice = new Dice(seed);
    for (const [round, algorithm] of ['fide', 'glicko2', 'odd', 'fide', 'glicko2', 'odd'].entries()) {
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
        if (dice.isUnder(0.15)) await goTo(nowMs + dice.below(round < 3 ? 30 : 120) * HOUR_MS);
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
      if (algorithm === 'odd') {
        await expectReplayed(rating);
        continue;
      }
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
    expect(numeric).toBeGreaterThan(0);
  });

  /** As no formula says: by a replay of all games, of which those count for nobody that moved nobody. */
  async function expectReplayed(rating: RatingPool): Promise<void> {
    const { named } = await replayPool(node.database, await node.pools.get(pool.id), rating);
    expect(named).toEqual([]);
    const games = await node.database.query<{ isNumeric: boolean; isRated: boolean }>(
      `SELECT unrated IS NOT NULL AS "isNumeric", EXISTS (
         SELECT FROM rating_changes AS c WHERE c.pool_uid = $1 AND c.game_position = g.position AND refund IS NULL) AS "isRated"
       FROM games AS g WHERE pool_uid = $1 AND (unrated IS NULL OR unrated = 'NUMERIC')`,
      [pool.uid],
    );
    expect(games.filter(({ isNumeric, isRated }) => isNumeric === isRated)).toEqual([]);
    numeric += games.filter(({ isNumeric }) => isNumeric).length;
    const refunds = 'SELECT FROM rating_changes WHERE pool_uid = $1 AND refund IS NOT NULL';
    given += (await node.database.query(refunds, [pool.uid])).length;
  }

  async function historyOf(playerId: string): Promise<RatingStep[]> {
    const page = { beforePosition: null, limit: 100 };
    return (await changesOfPlayer(node.database, pool.uid, playerId, page)).reverse();
  }

  /** Makes a game void, or gives it another result. */
  async function correctSome(dice: Dice, rating: RatingPool): Promise<void> {
    const left = await node.database.query<{ gameId: string }>(
      'SELECT game_id AS "gameId" FROM games WHERE pool_uid = $1 AND void_position IS NULL ORDER BY position',
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
