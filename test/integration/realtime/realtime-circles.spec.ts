// Real: Redis or Valkey with the projection's scripts, announcements and hints; publisher, gateways, HTTP servers and
// WebSocket clients. In memory: boards, names, friends. The truth is kept apart, in plain arrays.
import { afterEach, beforeEach, expect, it } from 'vitest';
import { firstPlaces, type BoardDefinition, type RankStyle } from '@laddercast/domain';
import {
  entriesInStyle,
  nameOfRef,
  RedisAnnouncements,
  RedisConnection,
  RedisRankProjection,
  RedisSketchStore,
  RedisSnapshotStore,
} from '@laddercast/projections';
import type { ListRef, RankDelta, RankSnapshot } from '@laddercast/projections';
import type { ResolvedList } from '@laddercast/queries';
import { AllTickSlots, RankDeltaPublisher, SnapshotTick } from '@laddercast/realtime';
import { Dice, emptyTestRedis } from '@laddercast/testing';
import { eventually, TestBoards, TestFriends, TestProfiles } from '../../../libs/realtime/test/boards.js';
import { estimatesOver } from '../../../libs/realtime/test/estimates.js';
import { listText, LiveClient } from '../../../libs/realtime/test/follower.js';
import { assertMatchesAsyncApi } from '../../../libs/realtime/test/frame-schemas.js';
import { READ_KEY, startLiveApp, type LiveApp } from '../../../libs/realtime/test/live-app.js';
import { PLAYERS, REGIONS, World, type Asked } from '../../../libs/realtime/test/world.js';

const SEED = Number(process.env.TEST_SEED ?? 20_261_121);
const TICK_MS = 20;

let connections: RedisConnection[];
let closing: (() => Promise<unknown>)[];
let clients: LiveClient[];

beforeEach(() => {
  [connections, closing, clients] = [[], [], []];
});

afterEach(async () => {
  for (const client of clients) client.socket.terminate();
  for (const close of closing.reverse()) await close();
  await Promise.all(connections.map((redis) => redis.close()));
  for (const frame of clients.flatMap((client) => client.frames)) assertMatchesAsyncApi(frame);
});

async function connection(url: string): Promise<RedisConnection> {
  const redis = new RedisConnection({ url });
  await redis.connect();
  connections.push(redis);
  return redis;
}

/** The Redis store, noting what was really published, by list and number. */
class NotedStore extends RedisSnapshotStore {
  static readonly notes = new Map<string, Map<number, RankSnapshot>>();

  override async publish(
    list: ListRef,
    expectedSeq: number | null,
    snapshot: RankSnapshot,
    delta: RankDelta | null,
  ): Promise<boolean> {
    const written = await super.publish(list, expectedSeq, snapshot, delta);
    const notes = NotedStore.notes.get(nameOfRef(list)) ?? new Map<number, RankSnapshot>();
    NotedStore.notes.set(nameOfRef(list), notes);
    if (written) notes.set(snapshot.seq, snapshot);
    return written;
  }
}

function randomAsked(random: () => number, styles: readonly RankStyle[]): Asked {
  const int = (max: number): number => Math.floor(random() * max);
  const scope = random() < 0.5 ? {} : { scope: `region:${REGIONS[int(REGIONS.length)]}` };
  const playerId = `p${int(PLAYERS)}`;
  const limit = [10, 25, 50, 100][int(4)]!;
  const rankStyle = styles[int(styles.length)]!;
  const some = { rankStyle, ...scope, ...(random() < 0.5 && { fields: ['player'] as ['player'] }) };
  return [
    { channel: 'top' as const, limit, ...some },
    { channel: 'guilds' as const, limit, rankStyle },
    { channel: 'player' as const, playerId, around: int(8), ...some },
    { channel: 'range' as const, offset: int(60), limit: 1 + int(40), ...some },
    { channel: 'friends' as const, playerId, ...some },
  ][int(5)]!;
}

interface StartedWorld {
  world: World;
  apps: LiveApp[];
  lists: ReadonlyMap<string, ResolvedList>;
}

async function startWorld(definition: Partial<BoardDefinition>): Promise<StartedWorld> {
  const url = await emptyTestRedis();
  NotedStore.notes.clear();
  const projection = new RedisRankProjection(await connection(url));
  const boards = new TestBoards(projection);
  boards.create('world', {
    order: 'desc',
    operator: 'best',
    scopes: ['global', 'region', 'guild'],
    push: { intervalMs: TICK_MS, top: 100 },
    ...definition,
  });
  const lists = new Map<string, ResolvedList>();
  for (const scope of ['global', ...REGIONS.map((region) => `region:${region}`)]) {
    boards.useScope(scope);
    lists.set(scope, await boards.resolver.resolve({ boardId: 'world', scope }));
  }
  lists.set('guilds', await boards.resolver.resolve({ boardId: 'world', ofGuilds: true }));
  const profiles = new TestProfiles(new RedisAnnouncements(await connection(url)));
  const friends = new TestFriends();
  const processPorts = async () => {
    const redis = await connection(url);
    const [store, announcements] = [new NotedStore(redis), new RedisAnnouncements(redis)];
    const ranks = new RedisRankProjection(redis);
    const resolver = boards.resolverOver(ranks);
    const { estimates } = estimatesOver(ranks, new RedisSketchStore(redis));
    const people = { details: profiles.details(), members: friends.members() };
    return { boards, store, announcements, resolver, estimates, ...people };
  };
  const { store, announcements, resolver, details } = await processPorts();
  const tick = new SnapshotTick(store, details);
  const publisher = new RankDeltaPublisher(store, resolver, tick, new AllTickSlots(), announcements);
  publisher.start();
  closing.push(() => publisher.stop());
  const apps = [await startLiveApp(await processPorts()), await startLiveApp(await processPorts())];
  closing.push(...apps.map((app) => () => app.close()));
  return { world: new World(projection, lists, profiles, friends), apps, lists };
}

async function connect({ url }: LiveApp): Promise<LiveClient> {
  const client = await LiveClient.connect(url, ['ladder.v1'], { headers: { authorization: `Bearer ${READ_KEY}` } });
  clients.push(client);
  return client;
}

const OVER_SHARDS: Partial<BoardDefinition> = { sharding: { by: 'hash', count: 3 } };

it.each<[string, Partial<BoardDefinition>, RankStyle[]]>([
  ['over shards', OVER_SHARDS, ['ordinal', 'competition']],
  ['of every style of ranks', { dense: true }, ['ordinal', 'competition', 'dense']],
])(
  'clients of every channel, scope and length, %s, hold what snapshots show at every seq',
  async (_, board, styles) => {
    const random = new Dice(SEED).next;
    const { world, apps, lists } = await startWorld(board);
    for (let times = 0; times < 200; times += 1) await world.act(random);
    let isOver = false;
    const acting = (async () => {
      const chance = new Dice(SEED + 1).next;
      while (!isOver) {
        await world.act(chance);
        await new Promise((resolve) => setTimeout(resolve, chance() * 8));
      }
    })();

    const asked = new Map<string, Asked>(
      (['top', 'guilds', 'player', 'range', 'friends'] as const).flatMap((channel) => {
        const some: [string, Asked][] = [];
        while (some.length < 4 + styles.length) {
          const one = randomAsked(random, styles);
          // One with faces, one without, as it comes from then on.
          if (some.length < 2 && channel !== 'guilds' && (one.fields !== undefined) !== (some.length === 0)) continue;
          if (one.channel === channel) some.push([`${channel} ${some.length}`, one]);
        }
        return some;
      }),
    );
    const subscribe = async (client: LiveClient): Promise<void> => {
      for (const [id, one] of asked) await client.ask({ type: 'subscribe', id, board: 'world', ...one });
    };
    // Two of each gateway, the second coming when the lists have long been moving.
    const early = [await connect(apps[0]!), await connect(apps[1]!)];
    await Promise.all(early.map(subscribe));
    await new Promise((resolve) => setTimeout(resolve, 1500));
    const late = [await connect(apps[0]!), await connect(apps[1]!)];
    await Promise.all(late.map(subscribe));
    const heardLate = (): number =>
      late.flatMap(({ lists: all }) => [...all.values()]).reduce((sum, { states }) => sum + states.size, 0);
    await eventually('the late ones hear enough', () => heardLate() > 1000, 60_000).finally(() => (isOver = true));
    await acting;

    for (const [id, one] of asked) {
      for (const client of [...early, ...late]) {
        const truth = world.shown(one);
        const list = client.list(id);
        await eventually(
          `${JSON.stringify(one)} at rest, seed ${SEED}:\n${truth}\nbut\n${list.text()}`,
          () => list.text() === truth,
        );
        expect([list.snapshots, list.gaps], `${id}, seed ${SEED}`).toEqual([1, 0]);
      }
    }
    let compared = 0;
    const onBoth = new Map<string, number>();
    for (const [id, one] of asked) {
      for (const [index, first] of early.entries()) {
        // Who looks at the same channel of a gateway hears the same under the same number, whenever it began.
        // The first snapshot of what is published may have a number that brought the others nothing.
        const isPublished = (one.channel === 'top' || one.channel === 'guilds') && !one.fields;
        const heard = [...late[index]!.list(id).states].slice(isPublished ? 1 : 0);
        for (const [seq, state] of heard) expect(first.list(id).states.get(seq), `${id} at ${seq}`).toBe(state);
        compared += heard.length;
      }
      // And a number is one state on both.
      const [here, there] = early.map((client) => client.list(id).states);
      for (const [seq, state] of here!) {
        if (!there!.has(seq)) continue;
        expect(there!.get(seq), `${id} at ${seq} on both`).toBe(state);
        onBoth.set(one.channel, (onBoth.get(one.channel) ?? 0) + 1);
      }
      // Faces are each gateway's own: what is published has none.
      if ((one.channel !== 'top' && one.channel !== 'guilds') || one.fields) continue;
      const { list } = lists.get(one.channel === 'guilds' ? 'guilds' : (one.scope ?? 'global'))!;
      const notes = NotedStore.notes.get(nameOfRef(list))!;
      for (const client of [...early, ...late]) {
        for (const [seq, held] of client.list(id).states) {
          const snapshot = notes.get(seq);
          expect(snapshot, `a snapshot with the number ${seq}`).toBeDefined();
          expect(held, `${id} at ${seq}, seed ${SEED}`).toBe(
            listText(
              entriesInStyle(snapshot!, one.rankStyle)!.slice(0, firstPlaces(snapshot!.entries, one.limit).length),
              snapshot!.total,
            ),
          );
          compared += 1;
        }
      }
    }
    expect(compared).toBeGreaterThan(500);
    // What is published has its numbers from the publisher; other lists are numbered by each gateway.
    for (const channel of ['top', 'guilds']) expect(onBoth.get(channel), channel).toBeGreaterThan(20);
    expect(world.unlisted.size).toBeGreaterThan(0);
    expect(world.names.size).toBeGreaterThan(0);
    expect(world.faces.size).toBeGreaterThan(0);
  },
  60_000,
);
