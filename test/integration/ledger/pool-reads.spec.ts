// Real: PostgreSQL and the ledger of a process.
import { ratingDistribution, ratingsOfPlayers, type Pool } from '@laddercast/ledger';
import { KeptDistributions } from '@laddercast/queries';
import { createTestDatabase, Dice, type TestDatabase } from '@laddercast/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { gameOf, PoolNode } from '../nodes/pool-node.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
const SEED = Number(process.env.TEST_SEED ?? 20_261_123);

describe('reads of many players of a pool', () => {
  let testDatabase: TestDatabase;
  let node: PoolNode;
  let pool: Pool;
  let made = 0;

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    node = new PoolNode(testDatabase.url);
    await node.start();
  });
  beforeEach(async () => {
    pool = await node.makePool(`p${(made += 1)}`, { parameters: { k: 400 } });
  });
  afterAll(async () => {
    await node.stop();
    await testDatabase.drop();
  });

  const playAt = (gameId: string, places: Record<string, number>, daysAgo: number): Promise<unknown> =>
    node.games.record(gameOf(pool.id, gameId, places, { playedAtMs: Date.now() - daysAgo * DAY_MS }));
  const distribution = async (width = 25) => (await ratingDistribution(node.database, pool.uid, width))!;

  it('spread ratings over buckets as one does by hand', async () => {
    const dice = new Dice(SEED);
    const names = Array.from({ length: 40 }, (_, index) => `player ${index}`);
    for (let game = 0; game < 300; game += 1) {
      const [a, b] = [names[dice.below(40)]!, names[dice.below(40)]!];
      if (a !== b) await playAt(`g${game}`, { [a]: 1, [b]: 1 + dice.below(2) }, 0);
    }
    await node.rater.rate(pool.uid);
    const found = await ratingsOfPlayers(node.database, pool.uid, names);
    const ratings = found.ratings.map(({ rating }) => rating.state.rating).sort((a, b) => a - b);
    for (const width of [0.5, 25, 100]) {
      const { histogram, bucketWidth, ...rest } = await distribution(width);
      const span = ratings.at(-1)! - ratings[0]!;
      expect(bucketWidth).toBe(width === 0.5 ? 0.5 * 2 ** Math.ceil(Math.log2(span / 200)) : width);
      const counts = new Map<number, number>();
      for (const rating of ratings) {
        const from = Math.floor(rating / bucketWidth) * bucketWidth;
        counts.set(from, (counts.get(from) ?? 0) + 1);
      }
      expect(histogram, `SEED=${SEED}`).toEqual([...counts].map(([from, players]) => ({ from, players })));
      expect(histogram.length).toBeLessThanOrEqual(401);
      expect(rest).toMatchObject({ players: ratings.length, active: ratings.length, newcomers: ratings.length });
      const middle = ratings.length / 2;
      const median = (ratings[Math.ceil(middle) - 1]! + ratings[Math.floor(middle)]!) / 2;
      expect(rest.median).toBeCloseTo(median, 8);
      expect(rest.sum).toBeCloseTo(1500 * ratings.length, 6);
      expect(rest.mean).toBeCloseTo(1500, 8);
      expect(rest.ratedPosition).toBe((await node.pools.get(pool.id)).ratedPosition);
    }
  });

  it('tell who was active in the week, and who was new in it, by when games were played', async () => {
    await playAt('old', { ada: 1, bob: 2 }, 8);
    await playAt('again', { ada: 1, cy: 2 }, 6);
    await playAt('sent again', { di: 1, ed: 2 }, 30);
    await playAt('late', { cy: 1, di: 2 }, 9);
    await node.rater.rate(pool.uid);
    // Active: ada and cy. Of them ada has an older game.
    expect(await distribution()).toMatchObject({ players: 5, active: 2, newcomers: 1 });
  });

  it('tell them as one does by hand, of games that were recorded over weeks, some of them late', async () => {
    const dice = new Dice(SEED);
    const now = Date.now();
    const firsts = new Map<string, number>();
    const lasts = new Map<string, number>();
    const recorded: number[] = [];
    for (let game = 0; game < 150; game += 1) {
      // One game each five hours; who plays changes as time goes on.
      recorded.push(now - (150 - game) * 5 * HOUR_MS);
      const playedAtMs = recorded[game]! - (dice.isUnder(0.2) ? dice.below(10 * DAY_MS) : dice.below(HOUR_MS));
      const [a, b] = [`p${Math.floor(game / 5) + dice.below(20)}`, `q${Math.floor(game / 9) + dice.below(9)}`];
      await node.games.record(gameOf(pool.id, `g${game}`, { [a]: 1, [b]: 2 }, { playedAtMs }));
      for (const player of [a, b]) {
        if (!firsts.has(player)) firsts.set(player, playedAtMs);
        lasts.set(player, Math.max(lasts.get(player) ?? 0, playedAtMs));
      }
    }
    await node.rater.rate(pool.uid);
    await node.database.query(
      `UPDATE games SET recorded_at = to_timestamp(r.ms / 1000) FROM unnest($2::float8[]) WITH ORDINALITY AS r (ms, n)
       WHERE pool_uid = $1 AND game_id = 'g' || r.n - 1`,
      [pool.uid, recorded],
    );
    const since = now - 7 * DAY_MS;
    const active = [...lasts].filter(([, playedAtMs]) => playedAtMs >= since).map(([player]) => player);
    const newcomers = active.filter((player) => firsts.get(player)! >= since);
    const found = await distribution();
    expect(found, `SEED=${SEED}`).toMatchObject({ active: active.length, newcomers: newcomers.length });
    expect(newcomers.length).toBeGreaterThan(0);
    expect(newcomers.length).toBeLessThan(active.length);
  });

  it('have nothing to spread before the first game, and nothing to say of a pool that is gone', async () => {
    expect(await distribution()).toMatchObject({
      ...{ players: 0, sum: 0, mean: null, median: null, active: 0, newcomers: 0, bucketWidth: 25, histogram: [] },
    });
    expect(await ratingDistribution(node.database, -1, 25)).toBeUndefined();
  });

  it('are computed once for all who ask for a distribution at a time, and of two pools at a time', async () => {
    const asked: unknown[] = [];
    const query = node.database.query.bind(node.database);
    node.database.query = ((...given: Parameters<typeof query>) => {
      if (given[0].includes('percentile_cont')) asked.push(given[1]![0]);
      return query(...given);
    }) as typeof node.database.query;
    try {
      const [other, third] = [await node.makePool(`p${(made += 1)}`), await node.makePool(`p${(made += 1)}`)];
      const distributions = new KeptDistributions(node.database, node.algorithms);
      asked.length = 0;
      const [first, ...others] = await Promise.all(Array.from({ length: 20 }, () => distributions.of(pool)));
      for (const one of others) expect(one).toBe(first);
      expect(asked).toEqual([pool.uid]);
      const fresh = new KeptDistributions(node.database, node.algorithms);
      const answers = await Promise.allSettled([pool, other, third, pool].map((one) => fresh.of(one)));
      expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled']);
      expect(answers[2]).toMatchObject({ reason: { code: 'OVERLOADED', extensions: { retryAfterSeconds: 1 } } });
      expect(await fresh.of(third)).toMatchObject({ players: 0 });
    } finally {
      node.database.query = query as typeof node.database.query;
    }
  });

  it('say of each player once where it stands, and whether others see it', async () => {
    await playAt('g', { ada: 1, bob: 2 }, 0);
    await node.rater.rate(pool.uid);
    await node.database.query(
      `INSERT INTO players (player_id, attributes, listed, changed_at) VALUES ('bob', '{}', false, ladder_now())`,
    );
    const { ratings, nowMs } = await ratingsOfPlayers(node.database, pool.uid, ['bob', 'nobody', 'ada', 'bob']);
    const seen = ratings.map(({ playerId, rating, isListed }) => [playerId, rating.state.rating, isListed]);
    expect(seen.sort()).toEqual([
      ['ada', 1700, true],
      ['bob', 1300, false],
    ]);
    expect(nowMs).toBeGreaterThan(0);
    expect((await ratingsOfPlayers(node.database, pool.uid + 1000, ['ada'])).ratings).toEqual([]);
  });
});
