// Real: Redis or Valkey with the projection's scripts, publishers, gateways, HTTP server and WebSocket clients.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  RedisAnnouncements,
  RedisConnection,
  RedisLostShards,
  RedisRankProjection,
  RedisSketchStore,
  RedisSnapshotStore,
} from '@laddercast/projections';
import type { ListRef, RankDelta, RankSnapshot } from '@laddercast/projections';
import type { ResolvedList } from '@laddercast/queries';
import { AllTickSlots, RankDeltaPublisher, SnapshotTick, type LiveOptions } from '@laddercast/realtime';
import { Dice, emptyTestRedis } from '@laddercast/testing';
import {
  eventually,
  ListWriter,
  plainDetails,
  randomScores,
  TestBoards,
  TestFriends,
} from '../../../libs/realtime/test/boards.js';
import { assertMatchesAsyncApi } from '../../../libs/realtime/test/frame-schemas.js';
import { estimatesOver } from '../../../libs/realtime/test/estimates.js';
import { LiveClient, listText, type Followed } from '../../../libs/realtime/test/follower.js';
import { startLiveApp, type LiveApp } from '../../../libs/realtime/test/live-app.js';

const TICK_MS = 20;
const ENOUGH_WITHIN_MS = 60_000;
const SEED = Number(process.env.TEST_SEED ?? 20_261_120);

/** The Redis store, noting what was really published, in order. */
class NotedStore extends RedisSnapshotStore {
  constructor(
    redis: RedisConnection,
    readonly notes: { snapshot: RankSnapshot; expectedSeq: number | null }[],
  ) {
    super(redis);
  }

  override async publish(
    list: ListRef,
    expectedSeq: number | null,
    snapshot: RankSnapshot,
    delta: RankDelta | null,
  ): Promise<boolean> {
    const written = await super.publish(list, expectedSeq, snapshot, delta);
    if (written) this.notes.push({ snapshot, expectedSeq });
    return written;
  }
}

let url: string;
let projection: RedisRankProjection;
let boards: TestBoards;
let resolved: ResolvedList;
let writer: ListWriter;
let friends: TestFriends;
let notes: { snapshot: RankSnapshot; expectedSeq: number | null }[];
let connections: RedisConnection[];
let publishers: RankDeltaPublisher[];
let apps: LiveApp[];
let clients: LiveClient[];

beforeEach(async () => {
  url = await emptyTestRedis();
  [notes, connections, publishers, apps, clients] = [[], [], [], [], []];
  projection = new RedisRankProjection(await connection());
  boards = new TestBoards(projection);
  friends = new TestFriends();
  boards.create('blitz', {
    order: 'desc',
    operator: 'best',
    sharding: { by: 'hash', count: 3 },
    push: { intervalMs: TICK_MS, top: 100 },
  });
  resolved = await boards.resolver.resolve({ boardId: 'blitz' });
  writer = ListWriter.of(projection, resolved);
});

afterEach(async () => {
  for (const frame of clients.flatMap((client) => client.frames)) assertMatchesAsyncApi(frame);
  for (const client of clients) client.socket.terminate();
  await Promise.all(apps.map((app) => app.close()));
  await Promise.all(publishers.map((publisher) => publisher.stop()));
  await Promise.all(connections.map((redis) => redis.close()));
});

async function connection(): Promise<RedisConnection> {
  const redis = new RedisConnection({ url });
  await redis.connect();
  connections.push(redis);
  return redis;
}

/** A projector's publisher, over connections of its own as in a process of its own. */
async function startPublisher(): Promise<RankDeltaPublisher> {
  const redis = await connection();
  const store = new NotedStore(redis, notes);
  const tick = new SnapshotTick(store, plainDetails());
  const resolver = boards.resolverOver(new RedisRankProjection(redis));
  const publisher = new RankDeltaPublisher(store, resolver, tick, new AllTickSlots(), new RedisAnnouncements(redis));
  publisher.start();
  publishers.push(publisher);
  return publisher;
}

async function startGateway(options: Partial<LiveOptions> = {}): Promise<LiveApp> {
  const redis = await connection();
  const ranks = new RedisRankProjection(redis);
  const resolver = boards.resolverOver(ranks);
  const { estimates } = estimatesOver(ranks, new RedisSketchStore(redis));
  const [store, announcements] = [new NotedStore(redis, notes), new RedisAnnouncements(redis)];
  const people = { details: plainDetails(), members: friends.members() };
  const ports = { boards, resolver, store, announcements, estimates, ...people };
  const app = await startLiveApp(ports, options);
  apps.push(app);
  return app;
}

async function connect(app: LiveApp): Promise<LiveClient> {
  const client = await LiveClient.connect(app.url);
  clients.push(client);
  return client;
}

const top = (id: string, limit: number) => ({ type: 'subscribe', id, board: 'blitz', channel: 'top', limit });
const player = (id: string, playerId: string, around: number) => ({
  type: 'subscribe',
  id,
  board: 'blitz',
  channel: 'player',
  playerId,
  around,
});

/** Writes for so long, and on until it is enough: how many ticks there are in a time is up to the machine. */
async function writeAtRandom(random: () => number, forMs: number, isEnough = () => true): Promise<void> {
  const beganAtMs = Date.now();
  const elapsedMs = () => Date.now() - beganAtMs;
  while (elapsedMs() < forMs || (!isEnough() && elapsedMs() < ENOUGH_WITHIN_MS)) {
    await writer.write(randomScores(random, 150, 1 + Math.floor(random() * 8)));
    await new Promise((resolve) => setTimeout(resolve, random() * 12));
  }
}

/** Compares every state that a follower went through with the snapshot published under that number. */
function expectTrueAtEverySeq(list: Followed, limit: number): number {
  const published = new Map(notes.map(({ snapshot }) => [snapshot.seq, snapshot]));
  for (const [seq, held] of list.states) {
    const snapshot = published.get(seq);
    expect(snapshot, `a snapshot with the number ${seq}`).toBeDefined();
    const shown = listText(snapshot!.entries.slice(0, limit), snapshot!.total);
    expect(held, `at ${seq} with limit ${limit}`).toBe(shown);
  }
  return list.states.size;
}

/** Waits until every tick is published, and gives the last snapshot. */
async function quiet(): Promise<RankSnapshot> {
  const store = new RedisSnapshotStore(connections[0]!);
  const ref = { boardUid: resolved.board.uid, windowUid: resolved.window.uid, scope: 0 };
  let last: RankSnapshot | null = null;
  await eventually('the last write is published', async () => {
    last = await store.read(ref);
    return last?.listVersion === (await projection.total(resolved.list)).listVersion;
  });
  await eventually('it is noted', () => notes.some(({ snapshot }) => snapshot.seq === last!.seq));
  await new Promise((resolve) => setTimeout(resolve, 5 * TICK_MS));
  return last!;
}

describe('a client that follows the rule', () => {
  it('holds at every seq what a snapshot at that seq shows, at each limit and over two gateways', async () => {
    const random = new Dice(SEED).next;
    await writer.write(randomScores(random, 150, 120));
    await startPublisher();
    const gateways = [await startGateway(), await startGateway()];
    const readers = [await connect(gateways[0]!), await connect(gateways[1]!)];
    const limits = [10, 25, 50, 100];
    for (const reader of readers) for (const limit of limits) await reader.ask(top(`t${limit}`, limit));
    await writeAtRandom(random, 2500, () =>
      readers.every((reader) => limits.every((limit) => reader.list(`t${limit}`).deltas > 20)),
    );
    const last = await quiet();
    expect(last.total).toBeGreaterThan(50);
    for (const reader of readers) {
      for (const limit of limits) {
        const list = reader.list(`t${limit}`);
        const shown = listText(last.entries.slice(0, limit), last.total);
        await expect.poll(() => list.text(), { message: `seed ${SEED}` }).toBe(shown);
        expect(expectTrueAtEverySeq(list, limit)).toBeGreaterThan(20);
        expect([list.snapshots, list.gaps]).toEqual([1, 0]);
        expect(list.deltas).toBeGreaterThan(20);
      }
    }
  });

  it('holds a player with the neighbours exactly, whenever it began to look', async () => {
    const random = new Dice(SEED + 1).next;
    await writer.write(randomScores(random, 150, 120));
    await startPublisher();
    const gateway = await startGateway();
    const [early, late] = [await connect(gateway), await connect(gateway)];
    const watched = ['p3', 'p77', 'p149', 'nobody'];
    for (const playerId of watched) await early.ask(player(playerId, playerId, 5));
    const writing = writeAtRandom(
      random,
      1500,
      () => late.list('nobody').snapshots > 0 && early.list('p3').deltas > 10,
    );
    for (const [index, playerId] of watched.entries()) {
      await new Promise((resolve) => setTimeout(resolve, 200 + index * 30));
      await late.ask(player(playerId, playerId, 5));
    }
    await writing;
    await quiet();
    for (const playerId of watched) {
      const truth = await projection.player(resolved.list, playerId, 5, 5, 'ordinal');
      const rows = await plainDetails().complete(resolved, truth.neighbours);
      for (const client of [early, late]) {
        const message = `${playerId}, seed ${SEED + 1}`;
        await expect.poll(() => client.list(playerId).text(), { message }).toBe(listText(rows, truth.total));
        expect(client.list(playerId).gaps).toBe(0);
      }
      // Both hear the same under the same number; the late one's first snapshot may be of a number in between.
      const [, ...heard] = late.list(playerId).states;
      for (const [seq, state] of heard) expect(early.list(playerId).states.get(seq)).toBe(state);
    }
    expect(early.list('p3').deltas).toBeGreaterThan(10);
  });

  it('comes back to the truth by resume after any reconnect, on another gateway too', async () => {
    const random = new Dice(SEED + 2).next;
    await writer.write(randomScores(random, 150, 120));
    await startPublisher();
    const gateways = [await startGateway(), await startGateway()];
    const keeper = await connect(gateways[0]!);
    await keeper.ask(top('keep', 10));
    let isOver = false;
    const writing = writeAtRandom(random, 2500, () => isOver);
    let list: Followed | null = null;
    let byDelta = 0;
    for (let round = 0; round < 12; round += 1) {
      const client = await connect(gateways[round % 2]!);
      if (list) client.lists.set('r', list);
      const answer = await client.ask(list ? { ...top('r', 25), type: 'resume', seq: list.seq } : top('r', 25));
      byDelta += answer.type === 'delta' ? 1 : 0;
      list = client.list('r');
      await new Promise((resolve) => setTimeout(resolve, random() * 150));
      if (round < 11) {
        client.socket.terminate();
        await new Promise((resolve) => setTimeout(resolve, random() * 100));
      }
    }
    isOver = true;
    await writing;
    const last = await quiet();
    const shown = listText(last.entries.slice(0, 25), last.total);
    await expect.poll(() => list!.text(), { message: `seed ${SEED + 2}` }).toBe(shown);
    expectTrueAtEverySeq(list!, 25);
    expect(byDelta).toBeGreaterThan(5);
    expect(list!.gaps).toBe(0);
  });
});

describe('two publishers', () => {
  it('write one history, and the list is ticked while either lives', async () => {
    const random = new Dice(SEED + 3).next;
    const both = [await startPublisher(), await startPublisher()];
    const reader = await connect(await startGateway());
    await reader.ask(top('1', 100));
    await writeAtRandom(random, 1200, () => notes.length > 20);
    await both[0]!.stop();
    await writeAtRandom(random, 500);
    const last = await quiet();
    const published = [...notes].sort((a, b) => a.snapshot.seq - b.snapshot.seq);
    expect(published.length).toBeGreaterThan(20);
    for (const [index, { expectedSeq, snapshot }] of published.entries()) {
      expect(expectedSeq).toBe(index === 0 ? null : published[index - 1]!.snapshot.seq);
      if (index > 0) expect(snapshot.listVersion).toBeGreaterThan(published[index - 1]!.snapshot.listVersion);
    }
    await expect.poll(() => reader.list('1').text()).toBe(listText(last.entries, last.total));
    expectTrueAtEverySeq(reader.list('1'), 100);
    expect([reader.list('1').snapshots, reader.list('1').gaps]).toEqual([1, 0]);
  });

  /** Shards that were read while they were empty are closed: fills them, as a projector does. */
  async function fillLost(lost: RedisLostShards, scores: Record<string, number>): Promise<void> {
    const { list } = resolved;
    for (const { name, shard } of await lost.noted()) {
      await lost.close(list, shard);
      await lost.empty(list, shard);
      await lost.fill(list, shard, 'test', null);
      await new ListWriter(projection, list).write(scores);
      await lost.finish(list, shard, 'test');
      await lost.forget(name);
    }
  }

  it('begin a new history above the old one after Redis lost everything', async () => {
    await writer.write({ ada: 1, bob: 2 });
    await Promise.all([startPublisher(), startPublisher()]);
    const reader = await connect(await startGateway({ pollEveryMs: 100 }));
    await reader.ask(top('1', 10));
    await writer.write({ ada: 3 });
    await eventually('a delta', () => reader.list('1').deltas > 0);
    const before = reader.list('1').seq;
    await emptyTestRedis();
    // Some players in each shard, as recovery brings all shards back: one that stays behind what was read is not shown.
    const brought = Object.fromEntries(Array.from({ length: 9 }, (_, at) => [`p${at}`, 9 - at]));
    await new ListWriter(projection, resolved.list).write(brought);
    const another = await connect(apps[0]!);
    await another.ask(top('1', 10));
    const lost = new RedisLostShards(await connection());
    const isNew = async (): Promise<boolean> => {
      await fillLost(lost, brought);
      return [...reader.list('1').rows.keys()].sort().join() === Object.keys(brought).join();
    };
    await eventually('the new list', isNew);
    expect(reader.list('1').seq).toBeGreaterThan(before);
  });
});
