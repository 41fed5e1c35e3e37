// Real: Redis or Valkey with the projection's scripts, a publisher, a gateway, HTTP server and WebSocket clients. The board
// is kept by ranges of scores, and players cross from one range to the other all the time.
import { encodeSortKey, shardOf } from '@laddercast/domain';
import {
  RedisAnnouncements,
  RedisConnection,
  RedisRankProjection,
  RedisSketchStore,
  RedisSnapshotStore,
  type RankProjection,
} from '@laddercast/projections';
import type { ResolvedList } from '@laddercast/queries';
import { AllTickSlots, RankDeltaPublisher, SnapshotTick } from '@laddercast/realtime';
import { emptyTestRedis } from '@laddercast/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { eventually, plainDetails, TestBoards, TestFriends } from '../../../libs/realtime/test/boards.js';
import { estimatesOver } from '../../../libs/realtime/test/estimates.js';
import { LiveClient, type ServerFrame } from '../../../libs/realtime/test/follower.js';
import { assertMatchesAsyncApi } from '../../../libs/realtime/test/frame-schemas.js';
import { READ_KEY, startLiveApp, type LiveApp } from '../../../libs/realtime/test/live-app.js';
import { SteppedConnection } from '../../property/redis-stepped-store.js';
import { Died } from '../../property/turns.js';

/** Those who stay: the first five, and twenty that stand behind all who move. */
const FIRST = Array.from({ length: 5 }, (_, at) => `first${at}`);
const LAST = Array.from({ length: 20 }, (_, at) => `last${at}`);
const MOVERS = Array.from({ length: 30 }, (_, at) => `mover${at}`);
const TOTAL = FIRST.length + LAST.length + MOVERS.length;
/** However the others move, these ranks stay. */
const RANKS = new Map([
  ...FIRST.map((id, at) => [id, at + 1] as const),
  ...LAST.map((id, at) => [id, FIRST.length + MOVERS.length + at + 1] as const),
]);
const FRIENDS = ['first2', 'last3', 'last9'];

const CHANNELS = {
  top: { channel: 'top', limit: 100 },
  competition: { channel: 'top', limit: 10, rankStyle: 'competition' },
  range: { channel: 'range', offset: TOTAL - LAST.length, limit: LAST.length },
  player: { channel: 'player', playerId: 'last3', around: 2 },
  friends: { channel: 'friends', playerId: 'last3' },
};

let url: string;
let connections: RedisConnection[];
let projection: RedisRankProjection;
let resolved: ResolvedList;
let version: number;
let publisher: RankDeltaPublisher;
let app: LiveApp;
let client: LiveClient;

beforeEach(async () => {
  url = await emptyTestRedis();
  connections = [];
  version = 0;
  projection = new RedisRankProjection(await connected(new RedisConnection({ url })));
  const boards = new TestBoards(projection);
  boards.create('tides', {
    order: 'desc',
    operator: 'latest',
    sharding: { by: 'range', boundaries: [100, 200] },
    push: { intervalMs: 20, top: 100 },
  });
  resolved = await boards.resolver.resolve({ boardId: 'tides' });
  for (const [at, id] of FIRST.entries()) await put(projection, id, 1000 - at);
  for (const [at, id] of LAST.entries()) await put(projection, id, 50 - at);
  for (const id of MOVERS) await put(projection, id, 150);
  const friends = new TestFriends();
  friends.set('last3', FRIENDS);
  const redis = await connected(new RedisConnection({ url }));
  const ranks = new RedisRankProjection(redis);
  const [store, announcements] = [new RedisSnapshotStore(redis), new RedisAnnouncements(redis)];
  const tick = new SnapshotTick(store, plainDetails());
  const { resolver } = boards;
  publisher = new RankDeltaPublisher(store, resolver, tick, new AllTickSlots(), announcements);
  publisher.start();
  const { estimates } = estimatesOver(ranks, new RedisSketchStore(redis));
  const people = { details: plainDetails(), members: friends.members() };
  const ofGateway = { boards, resolver: boards.resolverOver(ranks), store, announcements, estimates, ...people };
  app = await startLiveApp(ofGateway);
  client = await LiveClient.connect(app.url, ['ladder.v1'], { headers: { authorization: `Bearer ${READ_KEY}` } });
});

afterEach(async () => {
  for (const frame of client.frames) assertMatchesAsyncApi(frame);
  client.socket.terminate();
  await app.close();
  await publisher.stop();
  await Promise.all(connections.map((redis) => redis.close()));
});

async function connected<Connection extends RedisConnection>(redis: Connection): Promise<Connection> {
  await redis.connect();
  connections.push(redis);
  return redis;
}

async function put(ranks: RankProjection, playerId: string, score: number): Promise<void> {
  version += 1;
  const { list } = resolved;
  const key = encodeSortKey(list.ordering, { score, columns: [], achievedAtMs: 1_700_000_000_000 }, playerId);
  await ranks.apply(list, shardOf(playerId, list.shards), [{ playerId, version, key }], null);
}

async function subscribeToAll(): Promise<void> {
  for (const [id, channel] of Object.entries(CHANNELS)) {
    const answer = await client.ask({ type: 'subscribe', id, board: 'tides', ...channel });
    expect(answer.type, JSON.stringify(answer)).toBe('snapshot');
  }
}

/** What is further off than it may be in what a subscription holds; empty where it is true. */
function faultsOf(id: string, errorBound = 0): string[] {
  const { rows, total } = client.list(id);
  const isOff = (found: number, expected: number): boolean => Math.abs(found - expected) > errorBound;
  const expectedTotal = id === 'friends' ? FRIENDS.length : TOTAL;
  const faults = isOff(total, expectedTotal) ? [`${id}: total ${total} ± ${errorBound}`] : [];
  for (const { playerId, rank, globalRank = rank } of rows.values()) {
    const expected = RANKS.get(String(playerId));
    if (expected !== undefined && isOff(Number(globalRank), expected))
      faults.push(`${id}: ${String(playerId)} is ${String(globalRank)} ± ${errorBound}`);
  }
  const expectedRows = { top: TOTAL, competition: 10, range: LAST.length, player: 5, friends: FRIENDS.length }[id]!;
  if (errorBound === 0 && rows.size !== expectedRows) faults.push(`${id}: ${rows.size} rows`);
  return faults;
}

/** Notes, from now on, what is wrong after each frame, beyond what it says itself, and counts frames by whether they are marked. */
function watch(): { faults: string[]; marked: number; exact: number } {
  const seen = { faults: [] as string[], marked: 0, exact: 0 };
  // After the client's own listener: the rows are those of after the frame.
  client.socket.on('message', (data) => {
    const frame = JSON.parse(String(data)) as ServerFrame;
    if (frame.type !== 'snapshot' && frame.type !== 'delta') return;
    if (frame.accuracy === 'estimated') seen.marked += 1;
    else seen.exact += 1;
    seen.faults.push(...faultsOf(frame.id!, frame.errorBound));
  });
  return seen;
}

/** The newest frame of each subscription. */
const lastFrames = (): (ServerFrame | undefined)[] =>
  Object.keys(CHANNELS).map((id) => client.frames.findLast((frame) => frame.id === id && frame.seq !== undefined));

const areAll = (accuracy: 'estimated' | undefined): boolean =>
  lastFrames().every((frame) => frame !== undefined && frame.accuracy === accuracy);

describe('live channels of a board by ranges of scores', () => {
  it('are right in every frame that is not marked, while players cross, and exact when they rest', async () => {
    const seen = watch();
    await subscribeToAll();
    const writers = await Promise.all(
      [0, 1, 2].map(async () => new RedisRankProjection(await connected(new RedisConnection({ url })))),
    );
    let isOver = false;
    const cross = async (ranks: RankProjection, at: number): Promise<void> => {
      const mine = MOVERS.filter((_, index) => index % writers.length === at);
      for (let turn = 0; !isOver; turn += 1) {
        await put(ranks, mine[turn % mine.length]!, Math.floor(turn / mine.length) % 2 === 0 ? 250 : 150);
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
    };
    const crossing = writers.map(cross);
    // So many frames of a board that moves, or twelve seconds of them.
    await eventually('', () => seen.marked > 50 && seen.exact > 50, 12_000).catch(() => undefined);
    isOver = true;
    await Promise.all(crossing);
    await eventually('exact frames', () => areAll(undefined));
    expect(seen.faults).toEqual([]);
    expect(seen.marked).toBeGreaterThan(0);
    expect(Object.keys(CHANNELS).flatMap((id) => faultsOf(id))).toEqual([]);
    for (const list of client.lists.values()) expect(list.gaps).toBe(0);
  });

  it('say how far they are off while a player stands in two ranges, and then that they are exact', async () => {
    await subscribeToAll();
    expect(areAll(undefined)).toBe(true);
    const stopping = await connected(new SteppedConnection({ url }));
    const writer = new RedisRankProjection(stopping);
    // From here on the writer knows the epochs of all shards.
    await put(writer, 'mover0', 151);
    await eventually('the change', () => client.list('top').rows.get('mover0')?.score === 151);
    let step = 0;
    stopping.beforeStep = async () => {
      // After the claim and the put, before the entry is taken out of where it was.
      if (step++ === 2) throw new Died();
    };
    await expect(put(writer, 'mover0', 251)).rejects.toThrow(Died);
    await eventually('marked frames', () => areAll('estimated'));
    for (const frame of lastFrames()) expect(frame!.errorBound).toBeGreaterThan(0);
    const late = await client.ask({ type: 'subscribe', id: 'late', board: 'tides', ...CHANNELS.player });
    expect(late).toMatchObject({ type: 'snapshot', accuracy: 'estimated', errorBound: expect.any(Number) });
    stopping.beforeStep = async () => undefined;
    expect(await projection.finishMoves(resolved.list, null, 0)).toBe(1);
    await eventually('exact frames', () => areAll(undefined));
    expect(Object.keys(CHANNELS).flatMap((id) => faultsOf(id))).toEqual([]);
  });
});
