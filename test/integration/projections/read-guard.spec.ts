// Real: PostgreSQL, Redis, the projection's marks; Redis is emptied under a watch.
import {
  LedgerCommittedPositions,
  ProjectionWatch,
  RedisConnection,
  RedisLaneMarks,
  RedisRankProjection,
  FIRST_GENERATION,
} from '@laddercast/projections';
import { PostgresDatabase } from '@laddercast/ledger';
import { createTestDatabase, emptyTestRedis, type TestDatabase } from '@laddercast/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

describe('reads of a projection that lost entries', () => {
  let testDatabase: TestDatabase;
  let database: PostgresDatabase;
  let redis: RedisConnection;

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    database = new PostgresDatabase({ url: testDatabase.url });
    await database.open({ migrate: true });
    redis = new RedisConnection({ url: await emptyTestRedis(), namespace: 'watched:' });
    await redis.connect();
  });
  afterAll(async () => {
    await redis?.close();
    await database?.close();
    await testDatabase?.drop();
  });

  it('are refused from when the loss is noticed until all is there again', async () => {
    const committed = new LedgerCommittedPositions(database);
    const marks = new RedisLaneMarks(redis);
    const watch = new ProjectionWatch(marks, committed, { all: [0, 1] });
    const projection = new RedisRankProjection(redis, watch);
    const ordering = { order: 'desc', operator: 'best', tiebreak: 'earliest', columns: [] } as const;
    const list = {
      boardUid: 1,
      windowUid: 1,
      scope: 0,
      ordering: { ...ordering, columns: [] },
      shards: 2,
      ...FIRST_GENERATION,
    };
    const look = async (): Promise<number> => {
      await watch.look();
      return (await projection.total(list)).total;
    };
    // A new installation has neither marks nor entries: nothing is missing.
    expect(await look()).toBe(0);

    await projection.openMark(0);
    await projection.advanceMark(0, 0, 50, projection.session());
    await committed.record(0, 50);
    expect(await look()).toBe(0);

    await emptyTestRedis();
    await expect(look()).rejects.toMatchObject({ code: 'PROJECTION_UNAVAILABLE' });
    // Recovery opens the mark before it brings the entries back, and moves it when it is done.
    await projection.openMark(0);
    await expect(look()).rejects.toMatchObject({ code: 'PROJECTION_UNAVAILABLE' });
    await projection.advanceMark(0, 0, 50, projection.session());
    expect(await look()).toBe(0);
  });

  it('look at new lanes once the database has told of them', async () => {
    const lanes = { all: [0, 1] };
    let isAway = true;
    const ofAll = async (all: readonly number[]): Promise<number[]> => {
      if (isAway) throw new Error('away');
      return [...all];
    };
    const watch = new ProjectionWatch({ readLanes: async (all) => [...all] }, { ofAll }, lanes);
    await watch.look();
    expect(watch.positions).toEqual([Infinity, Infinity]);
    lanes.all = [0, 1, 2, 3];
    await watch.look();
    expect(watch.positions).toEqual([Infinity, Infinity]);
    isAway = false;
    await watch.look();
    expect(watch.positions).toEqual([0, 1, 2, 3]);
  });

  const later = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
  const lost = 'PROJECTION_UNAVAILABLE';

  it('are refused while PostgreSQL is too slow to say what there should be, and not for longer', async () => {
    const slow = { ofAll: () => later(800).then(() => [1000]) };
    let mark: number | null = null;
    const watch = new ProjectionWatch({ readLanes: async () => [mark] }, slow, { all: [0] });
    await watch.look();
    expect(() => watch.assertWhole()).toThrow(lost);
    mark = 1000;
    await later(400);
    await watch.look();
    watch.assertWhole();

    const isAhead = (): Promise<boolean> => later(800).then(() => true);
    const ahead = new ProjectionWatch(
      { readLanes: async () => [0] },
      { ofAll: async () => [0] },
      { all: [0] },
      isAhead,
    );
    await ahead.look();
    expect(() => ahead.assertWhole()).toThrow(lost);
  });

  it('are refused after a reconnection in the middle of a look, until another look', async () => {
    let mark: number | null = 1000;
    let opened: Promise<void> | null = null;
    let open = (): void => undefined;
    const readMark = async (): Promise<number | null> => {
      const answered = mark;
      await opened;
      return answered;
    };
    const listeners = new Set<() => void>();
    const watch = new ProjectionWatch(
      { readLanes: async () => [await readMark()] },
      { ofAll: async () => [1000] },
      { all: [0] },
    );
    await watch.start((listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    });
    try {
      watch.assertWhole();
      // The next look has its answer, and does not get it before another, empty server is there.
      opened = new Promise((resolve) => (open = resolve));
      await later(1200);
      mark = null;
      for (const listener of listeners) listener();
      open();
      opened = null;
      await later(50);
      expect(() => watch.assertWhole()).toThrow(lost);
      mark = 1000;
      await expect.poll(() => watch.lanesBehind).toEqual([]);
      watch.assertWhole();
    } finally {
      watch.stop();
    }
    expect(listeners.size).toBe(0);
  });
});
