// Real: Redis or Valkey, two stores with connections of their own.
import {
  DELTAS_KEPT_MAX,
  RedisConnection,
  RedisSnapshotStore,
  type ListRef,
  type RankDelta,
  type RankSnapshot,
} from '@laddercast/projections';
import { advanceSnapshot } from '@laddercast/queries';
import { emptyTestRedis } from '@laddercast/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

let url: string;
let connections: RedisConnection[];
let owner: RedisSnapshotStore;
let other: RedisSnapshotStore;
let list: ListRef;
let boardUid = 1;

beforeAll(async () => {
  url = await emptyTestRedis();
  connections = [new RedisConnection({ url }), new RedisConnection({ url })];
  await Promise.all(connections.map((redis) => redis.connect()));
  [owner, other] = connections.map((redis) => new RedisSnapshotStore(redis)) as [
    RedisSnapshotStore,
    RedisSnapshotStore,
  ];
});

afterAll(() => Promise.all(connections.map((redis) => redis.close())));

beforeEach(() => {
  list = { boardUid: boardUid++, windowUid: 3, scope: 0 };
});

const snapshotAt = (seq: number): RankSnapshot => ({
  seq,
  asOfMs: seq,
  total: seq,
  depth: 0,
  listVersion: seq,
  entries: [],
});
const deltaTo = (seq: number, previousSeq: number): RankDelta => ({
  seq,
  previousSeq,
  asOfMs: seq,
  total: seq,
  depth: 0,
  listVersion: seq,
  changes: [{ playerId: 'Åda 😀', rank: null, previousRank: 1 }],
});

/** Publishes a first snapshot and one after another. */
async function publishAll(first: number, ...following: number[]): Promise<void> {
  const stored = (await owner.read(list))?.seq ?? null;
  expect(await owner.publish(list, stored, snapshotAt(first), null)).toBe(true);
  let previous = first;
  for (const seq of following) {
    expect(await owner.publish(list, previous, snapshotAt(seq), deltaTo(seq, previous))).toBe(true);
    previous = seq;
  }
}

describe('snapshots in Redis', () => {
  it('are read by every process as they were published', async () => {
    expect(await other.read(list)).toBeNull();
    await publishAll(10, 12);
    expect(await other.read(list)).toEqual(snapshotAt(12));
    expect(await other.deltasSince(list, 10)).toEqual([deltaTo(12, 10)]);
  });

  it('have one history: of two owners that publish at once only one can', async () => {
    await publishAll(10);
    const attempts = await Promise.all(
      Array.from({ length: 20 }, (_, at) =>
        (at % 2 ? owner : other).publish(list, 10, snapshotAt(11 + at), deltaTo(11 + at, 10)),
      ),
    );
    expect(attempts.filter((written) => written)).toHaveLength(1);
    expect(await other.deltasSince(list, 10)).toHaveLength(1);
  });

  it('never go back: neither over what is stored nor from what is not', async () => {
    await publishAll(10, 20);
    expect(await other.publish(list, 10, snapshotAt(30), deltaTo(30, 10))).toBe(false);
    expect(await other.publish(list, null, snapshotAt(30), null)).toBe(false);
    expect(await other.publish(list, 20, snapshotAt(20), deltaTo(20, 20))).toBe(false);
    expect(await other.publish({ ...list, windowUid: 4 }, 20, snapshotAt(30), deltaTo(30, 20))).toBe(false);
    expect(await other.read(list)).toEqual(snapshotAt(20));
  });
});

describe('deltas in Redis', () => {
  it('are those after a seq that was published', async () => {
    await publishAll(10, 12, 20, 21);
    expect((await other.deltasSince(list, 10))!.map(({ seq }) => seq)).toEqual([12, 20, 21]);
    expect((await other.deltasSince(list, 12))!.map(({ seq }) => seq)).toEqual([20, 21]);
    expect(await other.deltasSince(list, 21)).toEqual([]);
  });

  it('are refused for a seq in a gap of the numbers: whoever stands there has rows of another history', async () => {
    await publishAll(10, 12, 20, 21);
    expect(await other.deltasSince(list, 11)).toBeNull();
    expect(await other.deltasSince(list, 15)).toBeNull();
  });

  it('do not lead on from what Redis lost when it came back older: a follower starts afresh', async () => {
    await publishAll(1000);
    const lost = snapshotAt(1005);
    expect(await advanceSnapshot(other, list, lost)).toEqual({ snapshot: lost, deltas: [] });
    expect(await owner.publish(list, 1000, snapshotAt(2000), deltaTo(2000, 1000))).toBe(true);
    expect(await advanceSnapshot(other, list, lost)).toEqual({ snapshot: snapshotAt(2000), deltas: null });
  });

  it('are refused for a seq from before the history, from another one, and for a list without snapshot', async () => {
    await publishAll(10, 12);
    expect(await other.deltasSince(list, 9)).toBeNull();
    expect(await other.deltasSince(list, 13)).toBeNull();
    expect(await other.deltasSince({ ...list, windowUid: 9 }, 1)).toBeNull();
    await publishAll(100, 101);
    expect(await other.deltasSince(list, 12)).toBeNull();
    expect(await other.deltasSince(list, 100)).toHaveLength(1);
  });

  it('are kept up to a number, and refused for what lies before', async () => {
    await publishAll(1, ...Array.from({ length: DELTAS_KEPT_MAX + 5 }, (_, at) => at + 2));
    expect(await other.deltasSince(list, 5)).toBeNull();
    expect(await other.deltasSince(list, 6)).toHaveLength(DELTAS_KEPT_MAX);
  });
});

describe('hints', () => {
  it('reach every listener once per publication, until it stops', async () => {
    const heard: [ListRef, number][] = [];
    const stop = other.onPublished((...hint) => heard.push(hint));
    let seq = 0;
    await expect
      .poll(async () => {
        await publishAll((seq += 1));
        return heard.length;
      })
      .toBeGreaterThan(0);
    expect(heard.at(-1)![0]).toEqual(list);
    stop();
    const count = heard.length;
    await owner.publish(list, seq, snapshotAt(seq + 1), deltaTo(seq + 1, seq));
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(heard).toHaveLength(count);
  });
});

describe('a hint that Redis refuses to carry', () => {
  it('is told as an error, and what it would tell of is there', async () => {
    const rights = ['on', '>secret', '~*', 'resetchannels', '+@all'];
    await connections[0]!.command('ACL', 'SETUSER', 'untold', ...rights);
    const ofUser = new URL(url);
    ofUser.username = 'untold';
    ofUser.password = 'secret';
    const redis = new RedisConnection({ url: ofUser.href });
    try {
      await redis.connect();
      const errors: string[] = [];
      const store = new RedisSnapshotStore(redis, ({ message }) => errors.push(message));
      expect(await store.publish(list, null, snapshotAt(1), null)).toBe(true);
      expect(errors).toEqual([expect.stringContaining('channel')]);
      expect(await other.read(list)).toEqual(snapshotAt(1));
    } finally {
      await redis.close();
      await connections[0]!.command('ACL', 'DELUSER', 'untold');
    }
  });
});

describe('lists in use', () => {
  it('are listed until their time is over, and never for a shorter time than somebody asked for', async () => {
    const [first, second] = [list, { ...list, scope: 17 }];
    await owner.markInUse([first, second], 1000);
    await other.markInUse([first], 5000);
    await owner.markInUse([first], 2000);
    await owner.markInUse([], 2000);
    expect(await other.listsInUse(1000, 10)).toEqual([second, first]);
    expect(await other.listsInUse(1000, 1)).toEqual([second]);
    expect(await other.listsInUse(5000, 10)).toEqual([first]);
    expect(await other.listsInUse(0, 10)).toEqual([first]);
    expect(await other.listsInUse(5001, 10)).toEqual([]);
  });
});
