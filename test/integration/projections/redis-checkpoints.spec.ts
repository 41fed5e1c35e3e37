// Real: the Redis or Valkey of `npm test`, the Lua scripts, ioredis.
import { GLOBAL_SCOPE, shardOf, type BoardOrdering } from '@laddercast/domain';
import { sleep } from '@laddercast/platform';
import {
  CHECKPOINT_LIMITS,
  FIRST_GENERATION,
  RedisCheckpoints,
  RedisConnection,
  RedisRankProjection,
  type Checkpoint,
  type CheckpointPlace,
  type Checkpoints,
  type RankList,
} from '@laddercast/projections';
import { applyAll, emptyTestRedis, type RankChange } from '@laddercast/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

const ORDERING: BoardOrdering = { order: 'desc', operator: 'best', tiebreak: 'earliest', columns: [] };
const FROM_START: CheckpointPlace = { beside: null, direction: 'after', denseRank: null };
const EXPIRED = { code: 'CURSOR_EXPIRED' };
const url = await emptyTestRedis();

/** Fails from its second call of scripts on, as if the process had died after the first. */
class DyingConnection extends RedisConnection {
  private calls = 0;

  override run(...given: Parameters<RedisConnection['run']>): Promise<unknown[]> {
    this.calls += 1;
    return this.calls === 1 ? super.run(...given) : Promise.reject(new Error('died'));
  }
}

describe('checkpoints in Redis', () => {
  let redis: RedisConnection;
  let projection: RedisRankProjection;
  let checkpoints: Checkpoints;
  let list: RankList;
  let windowUid = 5_000_000;
  let version = 1;

  beforeAll(async () => {
    redis = new RedisConnection({ url, commandTimeoutMs: 10_000 });
    await redis.connect();
    projection = new RedisRankProjection(redis, undefined, undefined, 400);
    checkpoints = new RedisCheckpoints(redis);
  });
  afterAll(() => redis.close());
  beforeEach(async () => {
    list = {
      boardUid: 1,
      windowUid: windowUid++,
      scope: GLOBAL_SCOPE,
      ordering: ORDERING,
      shards: 4,
      ...FIRST_GENERATION,
    };
    await score(playersOf(40));
  });

  const playersOf = (count: number, from = 0): string[] => Array.from({ length: count }, (_, at) => `p${from + at}`);
  const score = (players: readonly string[], of = (at: number): number | null => 100 - at): Promise<number> => {
    const changes = players.map((playerId, at): RankChange => {
      const given = of(at);
      const values = given === null ? null : { score: given, columns: [], achievedAtMs: 1000 };
      return { playerId, version: version++, values };
    });
    return applyAll(projection, list, changes);
  };
  const idsOf = async (opened: Checkpoint, of = list): Promise<string[]> =>
    (await checkpoints.page(of, opened, FROM_START, 500, 'ordinal')).entries.map(({ playerId }) => playerId);

  it('are shared by all who ask within the time, and by nobody after it', async () => {
    const brief = new RedisCheckpoints(redis, undefined, { ...CHECKPOINT_LIMITS, sharedForMs: 3000 });
    const first = await brief.open(list);
    await score(['new']);
    expect(await brief.open(list)).toEqual(first);
    expect(await idsOf(first)).toEqual(playersOf(40));
    await sleep(3050);
    const second = await brief.open(list);
    expect(second.id).not.toBe(first.id);
    expect(second.listVersion).toBe(first.listVersion + 1);
    expect(await idsOf(second)).toHaveLength(41);
    expect(await idsOf(first)).toHaveLength(40);
    expect((await checkpoints.open(list, false)).id).not.toBe(second.id);
  });

  it('are open for five minutes, four of a list at once: then the newest is shared', async () => {
    const opened: Checkpoint[] = [];
    for (let at = 0; at < 3; at += 1) {
      opened.push(await checkpoints.open(list, false));
      await score([`new${at}`]);
      await sleep(2);
    }
    // Who wants one for itself leaves the last slot to those who share.
    expect(await checkpoints.open(list, false)).toEqual(opened[2]);
    const unshared = new RedisCheckpoints(redis, undefined, { ...CHECKPOINT_LIMITS, sharedForMs: 0 });
    opened.push(await unshared.open(list));
    await score(['new3']);
    await sleep(2);
    expect(opened.map(({ slot }) => slot)).toEqual([0, 1, 2, 3]);
    // By a clock that runs ahead of ours Redis would drop what they saved while they are read.
    const kept = (await redis.command('KEYS', `{1.${list.windowUid}.*:c*`)) as Buffer[];
    for (const key of kept) {
      expect(await redis.command('PEXPIRETIME', key)).toBeGreaterThanOrEqual(opened[0]!.closesAtMs + 60_000);
    }
    expect(kept.length).toBeGreaterThan(4);
    expect(await unshared.open(list)).toEqual(opened[3]);
    for (const [at, one] of opened.entries()) {
      expect(one.closesAtMs - one.openedAtMs).toBe(300_000);
      expect(await idsOf(one)).toHaveLength(40 + at);
    }
  });

  it('make room for who wants one of now: the oldest that nobody has read for a while, and none that is being read', async () => {
    const kept = new RedisCheckpoints(redis, undefined, { ...CHECKPOINT_LIMITS, sharedForMs: 0, keptUnreadMs: 5000 });
    for (const shape of [list, { ...list, boundaries: [-97, -95, -90], windowUid: windowUid++ }]) {
      list = shape;
      await score(playersOf(40));
      const read = (one: Checkpoint) => kept.page(list, one, FROM_START, 500, 'ordinal');
      const opened: Checkpoint[] = [];
      for (let at = 0; at < 4; at += 1) {
        opened.push(await kept.open(list));
        await score([`new${at}`]);
        await sleep(2);
      }
      expect(opened.map(({ slot }) => slot)).toEqual([0, 1, 2, 3]);
      // All were opened a moment ago.
      expect(await kept.open(list, false)).toEqual(opened[3]);
      await sleep(5100);
      // What nobody proves to have read is not kept: a cursor can say anything.
      await expect(read({ ...opened[1]!, id: 'AAAAAAAAAAAA' })).rejects.toMatchObject(EXPIRED);
      expect((await read(opened[0]!)).entries).toHaveLength(40);
      // Who shares takes the newest, and nobody's place.
      expect(await kept.open(list)).toEqual(opened[3]);
      const fresh = await kept.open(list, false);
      expect(fresh).toMatchObject({ slot: 1, total: 44 });
      expect(fresh.listVersion).toBeGreaterThan(opened[3]!.listVersion);
      await expect(read(opened[1]!)).rejects.toMatchObject(EXPIRED);
      expect((await read(fresh)).entries).toHaveLength(44);
      expect((await read(opened[0]!)).entries).toHaveLength(40);
      for (const one of [opened[2]!, opened[3]!]) expect((await read(one)).entries).toHaveLength(40 + one.slot);
      await score(['newest']);
      expect(await kept.open(list, false)).toEqual(fresh);
    }
  });

  it('are gone when their time is over, and their keys with them', async () => {
    const brief = new RedisCheckpoints(redis, undefined, { ...CHECKPOINT_LIMITS, livesForMs: 2000 });
    const opened = await brief.open(list);
    await score(['new']);
    expect(await idsOf(opened)).toHaveLength(40);
    await sleep(2020);
    await expect(idsOf(opened)).rejects.toMatchObject(EXPIRED);
    await expect(checkpoints.keyOf(list, opened, 'p0')).rejects.toMatchObject(EXPIRED);
    const keys = (): Promise<unknown> => redis.command('KEYS', `{1.${list.windowUid}.*:c*`);
    expect(await keys()).not.toEqual([]);
    await score(playersOf(40));
    expect(await keys()).toEqual([]);
  });

  it('close early when too much changes, and one that is opened then is another', async () => {
    const opened = await checkpoints.open(list);
    await score(playersOf(300, 100));
    expect(await idsOf(opened)).toHaveLength(40);
    // A hundred changes of a shard are allowed at most, and what came at once.
    await score(playersOf(300, 400));
    await score(playersOf(300, 700));
    await expect(idsOf(opened)).rejects.toMatchObject(EXPIRED);
    const next = await checkpoints.open(list);
    expect(next.id).not.toBe(opened.id);
    expect(next.total).toBe(940);
    expect((await checkpoints.page(list, next, FROM_START, 1000, 'ordinal')).entries).toHaveLength(940);
  });

  it('expire for who began to read them when a shard that had closed them opens them again', async () => {
    const opened = await checkpoints.open(list);
    const ofShard = playersOf(4000, 100).filter((playerId) => shardOf(playerId, 4) === 2);
    await score(ofShard.slice(0, 200));
    await score(ofShard.slice(200, 400));
    const shared = await checkpoints.open(list);
    expect(shared).toMatchObject({ id: opened.id, slot: opened.slot, total: 440 });
    await expect(idsOf(opened)).rejects.toMatchObject(EXPIRED);
    await score(['new']);
    expect(await idsOf(shared)).toHaveLength(440);
  });

  it('are opened on the shards that do not have them by whoever comes next, when their opener died', async () => {
    const dying = new DyingConnection({ url });
    await dying.connect();
    await expect(new RedisCheckpoints(dying).open(list)).rejects.toThrow('died');
    await dying.close();
    const first = playersOf(40).find((playerId) => shardOf(playerId, 4) === 0)!;
    await score([first], () => null);
    const opened = await checkpoints.open(list);
    // The first shard is as it was when it was opened there.
    expect(opened.total).toBe(40);
    await score(playersOf(40), () => null);
    expect(await idsOf(opened)).toEqual(playersOf(40));
  });

  it('do not outlive the data that they are of', async () => {
    const opened = await checkpoints.open(list);
    await score(['p1'], () => 500);
    await projection.drop(list);
    await expect(idsOf(opened)).rejects.toMatchObject(EXPIRED);
    const other = { ...list, windowUid: windowUid++ };
    await applyAll(projection, other, [
      { playerId: 'a', version: 1, values: { score: 1, columns: [], achievedAtMs: 1 } },
    ]);
    const last = await checkpoints.open(other);
    await redis.command('FLUSHALL');
    await expect(idsOf(last, other)).rejects.toMatchObject(EXPIRED);
  });

  it('are of one generation, and stay so while another is filled', async () => {
    const opened = await checkpoints.open(list);
    const next = { ...list, generation: 2, shards: 2 };
    await applyAll(projection, next, [
      { playerId: 'a', version: 1, values: { score: 1, columns: [], achievedAtMs: 1 } },
    ]);
    expect(await idsOf(opened)).toEqual(playersOf(40));
    await expect(idsOf(opened, next)).rejects.toMatchObject(EXPIRED);
  });

  it('are read from shards that were retired, and opened on none of those', async () => {
    const opened = await checkpoints.open(list);
    await score(playersOf(20), () => null);
    await projection.retire(list);
    await score(playersOf(40), () => 1);
    expect(await idsOf(opened)).toEqual(playersOf(40));
    for (const isShared of [true, false]) {
      await expect(checkpoints.open(list, isShared)).rejects.toMatchObject({ code: 'PROJECTION_UNAVAILABLE' });
    }
    expect(await projection.hasOpenCheckpoints(list, opened.closesAtMs - 1)).toBe(true);
    expect(await projection.hasOpenCheckpoints(list, opened.closesAtMs)).toBe(false);
    await projection.drop(list);
    await expect(idsOf(opened)).rejects.toMatchObject(EXPIRED);
  });

  it('are not taken for one of another id, or another version', async () => {
    const opened = await checkpoints.open(list);
    for (const wrong of [{ id: 'AAAAAAAAAAAA' }, { slot: 1 }, { listVersion: opened.listVersion + 1 }]) {
      await expect(idsOf({ ...opened, ...wrong })).rejects.toMatchObject(EXPIRED);
    }
  });

  it('find the saved entry of a player, and not that of one whose id ends the same', async () => {
    list = { ...list, shards: 1, windowUid: windowUid++ };
    const ids = ['xa*', 'a*', 'xxa*', 'ab', '[a', 'x[a'];
    await score(ids);
    const opened = await checkpoints.open(list);
    await score(ids, () => null);
    for (const playerId of ids) {
      const key = await checkpoints.keyOf(list, opened, playerId);
      expect(key!.member.toString('utf8', 6)).toBe(playerId);
    }
    expect(await checkpoints.keyOf(list, opened, '*')).toBeNull();
    expect(await checkpoints.keyOf(list, opened, 'a')).toBeNull();
  });

  it('read past a long run of changed entries, and between many', async () => {
    projection = new RedisRankProjection(redis);
    list = { ...list, shards: 2, windowUid: windowUid++ };
    const players = playersOf(9000);
    await score(players, (at) => 10_000 - at);
    const opened = await checkpoints.open(list);
    // 5,000 at the top leave, and of the others every one but each fortieth.
    const leaving = players.filter((_, at) => at < 5000 || at % 40 !== 0);
    await score(leaving, () => null);
    const page = await checkpoints.page(
      list,
      opened,
      { beside: 4989, direction: 'after', denseRank: null },
      500,
      'ordinal',
    );
    expect(page.entries.map(({ playerId }) => playerId)).toEqual(players.slice(4990, 5490));
    expect(page.entries[0]!.rank).toBe(4991);
    const before = { beside: page.keys[0]!, direction: 'before', denseRank: null } as const;
    const back = await checkpoints.page(list, opened, before, 500, 'ordinal');
    expect(back.entries.map(({ playerId }) => playerId)).toEqual(players.slice(4490, 4990));
  });
});
