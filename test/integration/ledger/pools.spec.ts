// Real: PostgreSQL and the ledger.
import { parsePoolDefinition } from '@laddercast/commands';
import { RATING_ALGORITHMS } from '@laddercast/domain';
import { entityTagOfPool, type PoolDefinition } from '@laddercast/ledger';
import { createTestDatabase, type TestDatabase } from '@laddercast/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { gameOf, PoolNode } from '../nodes/pool-node.js';

const elo = (changes: object = {}): PoolDefinition =>
  parsePoolDefinition({ algorithm: 'elo', ...changes }, 'p', RATING_ALGORITHMS);

describe('pools', () => {
  let testDatabase: TestDatabase;
  let node: PoolNode;

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    node = new PoolNode(testDatabase.url);
    await node.start();
  });
  afterAll(async () => {
    await node.stop();
    await testDatabase.drop();
  });

  const put = (id: string, definition: PoolDefinition, condition = {}) =>
    node.pools.put(id, definition, condition, 'key-1');

  it('are made, replaced and read, and say so in the audit log', async () => {
    const first = await put('made', elo());
    expect(first).toMatchObject({ created: true, pool: { id: 'made', definition: { algorithm: 'elo' } } });
    const second = await put('made', elo({ title: 'Blitz' }));
    expect(second).toMatchObject({ created: false, pool: { uid: first.pool.uid, definition: { title: 'Blitz' } } });
    expect(entityTagOfPool(second.pool)).not.toBe(entityTagOfPool(first.pool));
    const progress = {
      ratedPosition: 0,
      pending: 0,
      players: 0,
      games: 0,
      refunded: 0,
      historyFromMs: null,
      closedPeriod: null,
      nowMs: expect.any(Number) as number,
    };
    expect(await node.pools.get('made')).toEqual({ ...second.pool, ...progress });
    await expect(node.pools.get('not made')).rejects.toMatchObject({ code: 'POOL_NOT_FOUND' });
    const acts = await node.database.query(
      `SELECT actor, action FROM audit_log WHERE subject = 'made' ORDER BY audit_id`,
    );
    expect(acts).toEqual([
      { actor: 'key-1', action: 'pool.create' },
      { actor: 'key-1', action: 'pool.replace' },
    ]);
  });

  it('are only put where they are as the condition says', async () => {
    const { pool } = await put('held', elo());
    const tag = entityTagOfPool(pool);
    const failed = { code: 'PRECONDITION_FAILED' };
    await expect(put('held', elo(), { onlyCreate: true })).rejects.toMatchObject(failed);
    await expect(put('nowhere', elo(), { ifMatch: tag })).rejects.toMatchObject(failed);
    const { pool: after } = await put('held', elo({ title: 'Held' }), { ifMatch: tag });
    await expect(put('held', elo(), { ifMatch: tag })).rejects.toMatchObject(failed);
    await expect(node.pools.delete('held', tag, 'test')).rejects.toMatchObject(failed);
    await node.pools.delete('held', entityTagOfPool(after), 'test');
    await expect(node.pools.delete('held', null, 'test')).rejects.toMatchObject({ code: 'POOL_NOT_FOUND' });
  });

  it('stay as they are, and nothing is written of it, when they are put as they are', async () => {
    const { pool } = await put('same', elo({ title: 'Same' }));
    await node.games.record(gameOf('same', 'g', { ada: 1, bob: 2 }));
    expect(await put('same', elo({ title: 'Same' }), { ifMatch: entityTagOfPool(pool) })).toEqual({
      created: false,
      pool,
    });
    const acts = await node.database.query(`SELECT action FROM audit_log WHERE subject = 'same'`);
    expect(acts).toEqual([{ action: 'pool.create' }]);
  });

  it('are made once by two who come at once', async () => {
    const both = await Promise.all([put('raced', elo()), put('raced', elo())]);
    expect(both.map(({ created }) => created).sort()).toEqual([false, true]);
    expect(both[0]!.pool.uid).toBe(both[1]!.pool.uid);
  });

  it('keep what ratings come from once a game was recorded', async () => {
    await put('fixed', elo({ parameters: { k: 20 } }));
    await put('fixed', elo({ parameters: { k: 24 } }));
    await node.games.record(gameOf('fixed', 'g', { ada: 1, bob: 2 }));
    await expect(put('fixed', elo({ parameters: { k: 32 } }))).rejects.toMatchObject({
      code: 'POOL_HAS_GAMES',
      message: expect.stringContaining('parameters') as string,
    });
    const free = { title: 'Other', visibility: 'private', sides: { max: 2 }, provisional: { games: 3 } };
    const { pool } = await put('fixed', elo({ parameters: { k: 24 }, ...free }));
    expect(pool.definition).toMatchObject({ title: 'Other', visibility: 'private', provisional: { games: 3 } });
    await expect(node.games.record(gameOf('fixed', 'h', { ada: 1, bob: 2, cy: 3 }))).rejects.toMatchObject({
      code: 'GAME_TOO_LARGE',
    });
  });

  it('that are made again under the same id are empty, and what was of the old one goes', async () => {
    const { pool: old } = await put('again', elo());
    await node.games.record(gameOf('again', 'g', { ada: 1, bob: 2 }));
    await node.rater.rate(old.uid);
    await node.pools.delete('again', null, 'test');
    const { pool, created } = await put('again', elo({ parameters: { k: 99 } }));
    expect([created, pool.uid === old.uid]).toEqual([true, false]);
    expect(await node.pools.get('again')).toMatchObject({ games: 0, players: 0, ratedPosition: 0 });
    expect(await node.ratingOf(pool, 'ada')).toBeNull();
    await node.games.record(gameOf('again', 'g', { ada: 1, bob: 2 }));
    await node.rater.rate(pool.uid);

    await node.pools.purge(new AbortController().signal);
    const left = await node.database.query<{ uid: number }>(
      ['games', 'game_players', 'ratings', 'rating_changes', 'pools']
        .map((table) => `SELECT DISTINCT pool_uid AS uid FROM ${table} WHERE pool_uid IN ($1, $2)`)
        .join(' UNION ALL '),
      [old.uid, pool.uid],
    );
    expect(left).toEqual(Array.from({ length: 5 }, () => ({ uid: pool.uid })));
  });

  it('that go take no row of others with them, whichever partitions their rows are in', async () => {
    const [gone, stays] = [await node.makePool('gone'), await node.makePool('stays')];
    // Alone in their partitions, the rows of both have the same places in them.
    for (const { id, uid } of [gone, stays]) {
      await node.games.record(gameOf(id, 'g', { ada: 1, bob: 2 }));
      await node.rater.rate(uid);
      await node.database.query(`SELECT setval('ladder_position', (SELECT last_value FROM ladder_position) * 3)`);
    }
    const places = await node.database.query<{ partitions: number }>(
      'SELECT count(DISTINCT tableoid)::int AS partitions FROM rating_changes WHERE pool_uid IN ($1, $2)',
      [gone.uid, stays.uid],
    );
    expect(places).toEqual([{ partitions: 2 }]);
    await node.pools.delete('gone', null, 'test');
    await node.pools.purge(new AbortController().signal);
    const left = await node.database.query('SELECT pool_uid AS uid FROM rating_changes WHERE pool_uid IN ($1, $2)', [
      ...[gone.uid, stays.uid],
    ]);
    expect(left).toEqual([{ uid: stays.uid }, { uid: stays.uid }]);
  });

  it('are listed by id, a page at a time', async () => {
    for (const id of ['z-b', 'z-a', 'z-c']) await put(id, elo());
    const ids = async (after: string, limit: number): Promise<string[]> =>
      (await node.pools.list(after, limit, { withPrivate: true })).map(({ id }) => id);
    expect(await ids('z', 2)).toEqual(['z-a', 'z-b']);
    expect(await ids('z-b', 2)).toEqual(['z-c']);
    await put('z-a', elo({ visibility: 'private' }));
    const seen = await node.pools.list('z', 5, { withPrivate: false });
    expect(seen.map(({ id }) => id)).toEqual(['z-b', 'z-c']);
  });
});
