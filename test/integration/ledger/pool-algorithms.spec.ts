// Real: PostgreSQL and the ledger of two processes. The other side is the plain model of libs/testing.
import { foldGames, RATING_ALGORITHMS, type PlayerRating, type PoolGame } from '@laddercast/domain';
import { ratingsOfPlayers, type Pool } from '@laddercast/ledger';
import { metrics } from '@laddercast/platform';
import {
  createTestDatabase,
  Dice,
  expectAsOracle,
  randomGames,
  ratingsOracle,
  seedOfRun,
  type TestDatabase,
} from '@laddercast/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { gameOf, PoolNode } from '../nodes/pool-node.js';

const DAY_MS = 86_400_000;

describe('the ratings of a pool', () => {
  const seed = seedOfRun();
  let testDatabase: TestDatabase;
  let node: PoolNode;
  let other: PoolNode;
  let made = 0;

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    node = new PoolNode(testDatabase.url);
    await node.start();
    other = new PoolNode(testDatabase.url);
    await other.start();
  });
  afterAll(async () => {
    await other.stop();
    await node.stop();
    await testDatabase.drop();
  });

  const makePool = (definition: object): Promise<Pool> => node.makePool(`p${(made += 1)}`, definition);
  const record = (pool: Pool, { gameId, players, playedAtMs, weight }: PoolGame): Promise<unknown> =>
    node.games.record(
      gameOf(pool.id, gameId, {}, { players: players.map((one) => ({ ...one, score: null })), playedAtMs, weight }),
    );
  const stored = async (pool: Pool, games: readonly PoolGame[]): Promise<Map<string, PlayerRating>> => {
    const named = games.flatMap(({ players }) => players.map(({ playerId }) => playerId));
    const { ratings } = await ratingsOfPlayers(node.database, pool.uid, named);
    return new Map(ratings.map(({ playerId, rating }) => [playerId, rating]));
  };

  it.each<[string, Record<string, unknown>]>([
    ['glicko2', {}],
    [
      'glicko2',
      { tau: 1.2, deviationMin: 60, deviationMax: 300, deviation: 250, volatilityMax: 0.0605, homeAdvantage: 40 },
    ],
    ['glicko2', { periodDays: 0.5, tau: 0.3 }],
    ['weng-lin', {}],
    ['weng-lin', { tau: 0.5, beta: 3, kappa: 0.01, limitSigma: true, initial: 1000, deviation: 10 }],
    ['weng-lin', { model: 'bradley-terry-full' }],
    // With such a beta no side is so far ahead that openskill approximates this model.
    ['weng-lin', { model: 'thurstone-mosteller-full', beta: 20 }],
  ])(
    `are what the formulas of the papers make of its games, to the bits of one fold: %s %j, seed ${seed}`,
    async (algorithm, parameters) => {
      const dice = new Dice(seed);
      const pool = await makePool({ algorithm, parameters });
      const rating = node.algorithms.poolOf(pool.definition);
      const { results } = rating;
      const games = randomGames(dice, rating, { games: 120, players: 12, stepMs: 2 * DAY_MS }).map((game) => ({
        ...game,
        results,
      }));
      for (let at = 0; at < games.length;) {
        const batch = games.slice(at, at + dice.from(1, 30));
        at += batch.length;
        await Promise.all(batch.map((game) => record(pool, game)));
        await Promise.all([node.rater.rate(pool.uid), other.rater.rate(pool.uid)]);
      }
      const ratings = await stored(pool, games);
      expectAsOracle(ratings, ratingsOracle({ algorithm, parameters: rating.parameters }, games));
      const { players } = foldGames(rating, new Map(), games);
      for (const [playerId, { state }] of ratings) expect(state).toEqual(players.get(playerId)!.state);
    },
  );

  it('stay where they are after a game that has no finite numbers, and the next games are rated', async () => {
    const pool = await makePool({ algorithm: 'weng-lin' });
    const play = async (gameId: string, places: Record<string, number>): Promise<string | null> => {
      await node.games.record(gameOf(pool.id, gameId, places));
      await node.rater.rate(pool.uid);
      const [row] = await node.database.query<{ unrated: string | null }>(
        'SELECT unrated FROM games WHERE pool_uid = $1 AND game_id = $2',
        [pool.uid, gameId],
      );
      return row!.unrated;
    };
    expect(await play('g1', { ada: 1, bob: 2 })).toBeNull();
    // 40,000 apart, as no sane history makes them: exp(μ/c) is infinite.
    await node.database.query(`UPDATE ratings SET rating = rating + 40000 WHERE pool_uid = $1 AND player_id = 'ada'`, [
      pool.uid,
    ]);
    const before = await node.ratingOf(pool, 'ada');
    expect(await play('g2', { bob: 1, ada: 2 })).toBe('NUMERIC');
    expect(await node.ratingOf(pool, 'ada')).toBe(before);
    expect(await play('g3', { bob: 1, cy: 2 })).toBeNull();
    expect(await node.pools.get(pool.id)).toMatchObject({ games: 3, pending: 0, players: 3 });
    const [bad] = await node.database.query<{ count: number }>(
      `SELECT count(*)::int AS count FROM ratings WHERE pool_uid = $1 AND NOT rating BETWEEN -1e9 AND 1e9`,
      [pool.uid],
    );
    expect(bad!.count).toBe(0);
  });

  it('wait where a process does not have the algorithm, and other pools do not wait with them', async () => {
    const elo = RATING_ALGORITHMS.find(({ name }) => name === 'elo')!;
    const ofTeam = { ...elo, name: 'of-a-team', engine: 'of-a-team@1' };
    node.ofTeams.push(ofTeam);
    try {
      const pool = await makePool({ algorithm: 'of-a-team' });
      const free = await makePool({});
      const left = async (): Promise<number> => {
        const { values } = await metrics.poolTurnsLeft.get();
        return values.find(({ labels }) => labels['algorithm'] === 'of-a-team')?.value ?? 0;
      };
      const before = await left();
      await node.games.record(gameOf(pool.id, 'g1', { ada: 1, bob: 2 }));
      await node.games.record(gameOf(free.id, 'g1', { ada: 1, bob: 2 }));
      const refused = other.games.record(gameOf(pool.id, 'g2', { ada: 1, bob: 2 }));
      await expect(refused).rejects.toMatchObject({ code: 'ALGORITHM_MISSING' });

      expect(await other.rater.rate(pool.uid)).toBe(false);
      expect(await left()).toBe(before + 1);
      expect(await other.rater.sweep(new AbortController().signal)).toBeUndefined();
      expect(await left()).toBe(before + 2);
      expect(await node.ratingOf(pool, 'ada')).toBeNull();
      expect(await node.pools.get(pool.id)).toMatchObject({ games: 1, pending: 1 });
      expect(await node.ratingOf(free, 'ada')).toBe(1516);

      await node.rater.rate(pool.uid);
      expect(await node.ratingOf(pool, 'ada')).toBe(1516);
      expect(await node.pools.get(pool.id)).toMatchObject({ games: 1, pending: 0 });
    } finally {
      node.ofTeams.pop();
    }
  });

  it('are swept though more pools than a sweep looks at wait for an algorithm', async () => {
    const elo = RATING_ALGORITHMS.find(({ name }) => name === 'elo')!;
    node.ofTeams.push({ ...elo, name: 'of-a-team', engine: 'of-a-team@1' });
    try {
      const waits = await makePool({ algorithm: 'of-a-team' });
      await node.games.record(gameOf(waits.id, 'g1', { ada: 1, bob: 2 }));
      await copied(waits, 1000);
      const free = await makePool({});
      await node.games.record(gameOf(free.id, 'g1', { ada: 1, bob: 2 }));
      for (let sweeps = 0; sweeps < 2; sweeps += 1) await other.rater.sweep(new AbortController().signal);
      expect(await node.ratingOf(free, 'ada')).toBe(1516);
      expect(await node.ratingOf(waits, 'ada')).toBeNull();
    } finally {
      await node.database.query(
        `DELETE FROM games WHERE pool_uid IN (SELECT pool_uid FROM pools WHERE pool_id LIKE 'copy-%')`,
      );
      await node.database.query(`DELETE FROM pools WHERE pool_id LIKE 'copy-%'`);
      node.ofTeams.pop();
    }
  });

  /** So many pools more, each with the games of one. */
  async function copied({ uid }: Pool, times: number): Promise<void> {
    await node.database.query(
      `WITH copies AS (
         INSERT INTO pools (pool_id, definition, revision, recorded_position)
         SELECT 'copy-' || number, definition, revision, recorded_position
         FROM pools, generate_series(1, $2::int) AS number WHERE pool_uid = $1
         RETURNING pool_uid)
       INSERT INTO games (pool_uid, game_id, position, body_sha256, played_at_ms, recorded_at, weight, results, players)
       SELECT copies.pool_uid, game_id, position, body_sha256, played_at_ms, recorded_at, weight, results, players
       FROM games, copies WHERE games.pool_uid = $1`,
      [uid, times],
    );
  }

  it('are corrected by a process that has the algorithm; another says nothing of what a correction would do', async () => {
    const elo = RATING_ALGORITHMS.find(({ name }) => name === 'elo')!;
    node.ofTeams.push({ ...elo, name: 'of-a-team', engine: 'of-a-team@1' });
    try {
      const pool = await makePool({ algorithm: 'of-a-team' });
      for (const gameId of ['g1', 'g2']) await node.games.record(gameOf(pool.id, gameId, { ada: 1, bob: 2 }));
      await node.rater.rate(pool.uid);
      const before = await node.ratingOf(pool, 'ada');
      const selection = { gameIds: ['g1'], playerId: null, fromMs: null, toMs: null };
      const asVoid = { selection, mode: null, reason: 'a bot' };
      const { players } = gameOf(pool.id, 'g1', { bob: 1, ada: 2 });
      const missing = { code: 'ALGORITHM_MISSING' };
      await expect(other.corrections.dryRun(pool.id, asVoid)).rejects.toMatchObject(missing);
      const result = other.corrections.record(pool.id, { gameId: 'g1', players, reason: 'typo' }, 'test');
      await expect(result).rejects.toMatchObject(missing);
      expect(await node.pools.get(pool.id)).toMatchObject({ pending: 0, ratedPosition: expect.any(Number) as number });

      // A void can be recorded by whoever: it is computed in the turn of the pool.
      const { position } = await other.corrections.record(pool.id, asVoid, 'test');
      expect(await other.rater.rate(pool.uid)).toBe(false);
      expect(await node.ratingOf(pool, 'ada')).toBe(before);
      await node.rater.rate(pool.uid);
      expect(await node.pools.get(pool.id)).toMatchObject({ ratedPosition: position });
      expect(await node.ratingOf(pool, 'ada')).toBe(1516);
    } finally {
      node.ofTeams.pop();
    }
  });
});
