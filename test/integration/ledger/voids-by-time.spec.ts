// Real: PostgreSQL and the ledger of one process, with a pool of many games that were recorded long ago.
import { LaneQueue, PoolCorrections, type AskedCorrection, type Pool, type PostgresDatabase } from '@laddercast/ledger';
import { createTestDatabase, type TestDatabase } from '@laddercast/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { gameOf, PoolNode } from '../nodes/pool-node.js';

const OLD_GAMES = 20_000;
const MINUTE_MS = 60_000;

interface Asked {
  sql: string;
  parameters: unknown[];
}

/** Of how many elements an array is that goes in binary. */
const countOf = (array: Buffer): number => array.readInt32BE(12);

describe('voids of the games of a time', () => {
  let testDatabase: TestDatabase;
  let node: PoolNode;
  let pool: Pool;
  let lastPlayedAtMs: number;
  let asked: Asked[];

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    node = new PoolNode(testDatabase.url);
    await node.start();
    pool = await node.makePool('p');
    await node.games.record(gameOf('p', 'g', { ada: 1, bob: 2 }));
    await node.rater.rate(pool.uid);
    const [game] = await node.database.query<{ playedAtMs: number }>('SELECT played_at_ms AS "playedAtMs" FROM games');
    lastPlayedAtMs = game!.playedAtMs;
    // One a minute, an hour and more before. By their positions the first of them was the last, as when a clock was set back.
    await node.database.query(
      `INSERT INTO games (pool_uid, game_id, position, body_sha256, played_at_ms, recorded_at, weight, results, players)
       SELECT pool_uid, game_id || n, position - ${OLD_GAMES + 1} + n, body_sha256, played_at_ms - (60 + n) * ${MINUTE_MS},
         recorded_at - (60 + n) * interval '1 minute', weight, results, players
       FROM games, generate_series(1, ${OLD_GAMES}) AS n`,
    );
    await node.database.query('ANALYZE games');
  });
  beforeEach(() => {
    asked = [];
  });
  afterAll(async () => {
    await node.stop();
    await testDatabase.drop();
  });

  const corrections = (): PoolCorrections => {
    const watched = {
      transaction: (work: Parameters<PostgresDatabase['transaction']>[0]) =>
        node.database.transaction((transaction) =>
          work({
            query: (sql: string, parameters: unknown[] = []) => {
              asked.push({ sql, parameters });
              return transaction.query(sql, parameters);
            },
          }),
        ),
    } as PostgresDatabase;
    const work = new LaneQueue(watched, node.lanes, node.notifier);
    return new PoolCorrections(watched, work, node.algorithms, { RECOMPUTE_GAMES_MAX: 100_000 });
  };
  const voidOf = (fromMs: number | null, toMs: number | null): AskedCorrection => ({
    selection: { gameIds: null, playerId: null, fromMs, toMs },
    mode: 'keep',
    reason: 'cheated',
  });

  it('read no games that were recorded long before it', async () => {
    expect(await corrections().dryRun('p', voidOf(lastPlayedAtMs, null))).toMatchObject({ games: 1 });
    const select = asked.find(({ sql }) => sql.includes('games AS g'))!;
    const plan = await node.database.query<{ 'QUERY PLAN': string }>(
      `EXPLAIN (ANALYZE, FORMAT TEXT) ${select.sql}`,
      select.parameters,
    );
    expect(plan.map((line) => line['QUERY PLAN']).join('\n')).not.toMatch(/Rows Removed by Filter: \d{3,}/);
  });

  it('mark the games some thousand at a time, in their order', async () => {
    const { games } = await corrections().record('p', voidOf(null, lastPlayedAtMs), 'test');
    expect(games).toBe(OLD_GAMES);
    const marked = asked
      .filter(({ sql }) => sql.includes('UPDATE games'))
      .map(({ parameters }) => countOf(parameters[1] as Buffer));
    expect(marked.length).toBeGreaterThan(1);
    expect(Math.max(...marked)).toBeLessThanOrEqual(5000);
    const left = await node.database.query('SELECT game_id AS id FROM games WHERE void_position IS NULL');
    expect(left).toEqual([{ id: 'g' }]);
    const [event] = await node.database.query<{ payload: { positions: number[] } }>('SELECT payload FROM pool_events');
    const { positions } = event!.payload;
    expect(positions).toEqual(positions.toSorted((one, other) => one - other));
  });
});
