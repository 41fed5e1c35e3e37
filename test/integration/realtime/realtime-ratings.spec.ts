// Real: PostgreSQL, the ledger that rates, the saga that tells of it, Redis or Valkey, gateways and WebSocket clients.
import { RATING_ALGORITHMS, type RatingChanged } from '@laddercast/domain';
import { RedisAnnouncements, RedisConnection, type AnnounceCommand } from '@laddercast/projections';
import { RatingSaga } from '@laddercast/sagas';
import type { Pool, VoidMode } from '@laddercast/ledger';
import { createTestDatabase, Dice, emptyTestRedis, seedOfRun, type TestDatabase } from '@laddercast/testing';
import type { CommandBus } from '@nestjs/cqrs';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { eventually, plainDetails, TestBoards, TestFriends } from '../../../libs/realtime/test/boards.js';
import { estimatesOver } from '../../../libs/realtime/test/estimates.js';
import { LiveClient, type ServerFrame } from '../../../libs/realtime/test/follower.js';
import { assertMatchesAsyncApi } from '../../../libs/realtime/test/frame-schemas.js';
import { playerToken, READ_KEY, startLiveApp, type LiveApp } from '../../../libs/realtime/test/live-app.js';
import { MemoryRankProjection, MemorySnapshotStore } from '../../../libs/realtime/test/memory-ports.js';
import { MemorySketchStore } from '../../../libs/realtime/test/memory-sketch-store.js';
import { gameOf, PoolNode } from '../nodes/pool-node.js';

const SEED = seedOfRun();
/** Nothing is found by looking: what comes was announced. */
const NEVER_MS = 3_600_000;

type RatingFrame = ServerFrame & {
  gameId: string;
  before: number;
  after: number;
  rating: { rating: number; games: number } | null;
};

describe('watched ratings', () => {
  let testDatabase: TestDatabase;
  let node: PoolNode;
  let redisUrl: string;
  let pool: Pool;
  let connections: RedisConnection[];
  let apps: LiveApp[];
  let clients: LiveClient[];
  let tell: () => Promise<void>;
  let toldUpTo: number;
  let made = 0;

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    node = new PoolNode(testDatabase.url);
    await node.start();
  });
  beforeEach(async () => {
    redisUrl = await emptyTestRedis();
    [connections, apps, clients] = [[], [], []];
    pool = await node.makePool(`p${(made += 1)}`);
    toldUpTo = 0;
    const announcements = new RedisAnnouncements(await connection());
    const execute = ({ announcement }: AnnounceCommand): Promise<void> => announcements.announce(announcement);
    const bus = { execute } as unknown as CommandBus;
    const saga = new RatingSaga(bus);
    tell = async () => {
      const rows = await node.database.query<{ position: number; payload: string }>(
        `SELECT position, payload::text AS payload FROM outbox WHERE topic = 'rating-changed' AND position > $1
         ORDER BY position`,
        [toldUpTo],
      );
      toldUpTo = rows.at(-1)?.position ?? toldUpTo;
      const records = rows.map(({ payload }) => ({ event: JSON.parse(payload) as RatingChanged }));
      await saga.tell({ records } as unknown as Parameters<RatingSaga['tell']>[0]);
    };
  });
  afterEach(async () => {
    for (const frame of clients.flatMap(({ frames }) => frames)) assertMatchesAsyncApi(frame);
    for (const { socket } of clients) socket.terminate();
    await Promise.all(apps.map((app) => app.close()));
    await Promise.all(connections.map((redis) => redis.close()));
  });
  afterAll(async () => {
    await node.stop();
    await testDatabase.drop();
  });

  async function connection(): Promise<RedisConnection> {
    const redis = new RedisConnection({ url: redisUrl });
    await redis.connect();
    connections.push(redis);
    return redis;
  }
  async function gateway(options: { pollEveryMs?: number; watchedRatingsMax?: number } = {}): Promise<LiveApp> {
    const projection = new MemoryRankProjection();
    const boards = new TestBoards(projection);
    const ports = {
      ...{ boards, resolver: boards.resolver, store: new MemorySnapshotStore(), database: node.database },
      ...{ announcements: new RedisAnnouncements(await connection()), details: plainDetails() },
      ...{ members: new TestFriends().members(), ...estimatesOver(projection, new MemorySketchStore()) },
    };
    const app = await startLiveApp(ports, { pollEveryMs: NEVER_MS, ...options });
    apps.push(app);
    return app;
  }
  async function connect({ url }: LiveApp, token?: string): Promise<LiveClient> {
    const client = await LiveClient.connect(token === undefined ? url : `${url}?token=${token}`);
    clients.push(client);
    return client;
  }
  const watch = (playerId: string, more: object = {}) => ({
    ...{ type: 'subscribe', id: playerId, channel: 'rating', pool: pool.id, playerId },
    ...more,
  });
  const record = (gameId: string, places: Record<string, number>): Promise<unknown> =>
    node.games.record(gameOf(pool.id, gameId, places));
  const play = async (gameId: string, places: Record<string, number>): Promise<void> => {
    await record(gameId, places);
    await node.rater.rate(pool.uid);
    await tell();
  };
  const framesOf = ({ frames }: LiveClient, id: string): RatingFrame[] =>
    frames.filter((frame) => frame.id === id) as RatingFrame[];
  const gamesOf = (client: LiveClient, id: string): RatingFrame[] =>
    framesOf(client, id).filter(({ type }) => type === 'rating');
  const ask = async (client: LiveClient, message: { id: string }): Promise<RatingFrame> =>
    (await client.ask(message as never)) as RatingFrame;
  /** All changes of a player as they are stored. */
  const stored = (playerId: string): Promise<{ seq: number; gameId: string; before: number; after: number }[]> =>
    node.database.query(
      `SELECT c.position AS seq, g.game_id AS "gameId", c.before_rating AS before, c.after_rating AS after
       FROM rating_changes AS c JOIN games AS g USING (pool_uid, position)
       WHERE c.pool_uid = $1 AND c.player_id = $2 ORDER BY c.position`,
      [pool.uid, playerId],
    );
  const voidGame = async (gameId: string, mode: VoidMode): Promise<void> => {
    const selection = { gameIds: [gameId], playerId: null, fromMs: null, toMs: null };
    await node.corrections.record(pool.id, { selection, mode, reason: 'cheated' }, 'test');
    await node.rater.rate(pool.uid);
  };
  const hide = (playerId: string, listed = false): Promise<unknown> =>
    node.database.query(
      `INSERT INTO players (player_id, attributes, listed, changed_at) VALUES ($1, '{}', $2, ladder_now())
       ON CONFLICT (player_id) DO UPDATE SET listed = excluded.listed`,
      [playerId, listed],
    );

  it('begin with a snapshot, and tell each game that changes them', async () => {
    const client = await connect(await gateway());
    expect(await ask(client, watch('ada'))).toMatchObject({ type: 'snapshot', seq: 0, rating: null });
    await play('g1', { ada: 1, bob: 2 });
    await play('g2', { bob: 1, cy: 2 });
    await play('g3', { ada: 1, bob: 1 });
    await eventually('two games', () => gamesOf(client, 'ada').length === 2);
    const [first, third] = await stored('ada');
    expect(gamesOf(client, 'ada')).toMatchObject([
      { id: 'ada', ...first, delta: 16 },
      { id: 'ada', ...third, delta: third!.after - third!.before },
    ]);
    const late = await ask(await connect(apps[0]!), watch('bob'));
    expect(late).toMatchObject({
      type: 'snapshot',
      seq: third!.seq,
      rating: { games: 3, wins: 1, draws: 1, losses: 1 },
    });
  });

  it(`tell two gateways every game once and in order, also those who come back (SEED=${SEED})`, async () => {
    const dice = new Dice(SEED);
    const names = Array.from({ length: 8 }, (_, index) => `player ${index}`);
    const gateways = [await gateway(), await gateway()];
    const held = new Map<string, { seq: number; seen: RatingFrame[]; rating: number | null }[]>();
    for (const name of names) held.set(name, []);
    let current = await Promise.all(gateways.map((app) => connect(app)));
    for (const [at, client] of current.entries()) {
      for (const name of names) {
        const { seq } = await ask(client, watch(name));
        held.get(name)![at] = { seq: seq!, seen: [], rating: null };
      }
    }
    const take = (): void => {
      for (const [at, client] of current.entries()) {
        for (const name of names) {
          const one = held.get(name)![at]!;
          for (const frame of framesOf(client, name)) {
            // A resume that missed nothing is answered by a snapshot of where its reader stands.
            if (frame.type === 'rating') one.seen.push(frame);
            else expect(frame.seq, `SEED=${SEED}`).toBe(one.seq);
            one.seq = frame.seq!;
          }
        }
      }
    };
    for (let round = 0; round < 6; round += 1) {
      // Recorded, rated and told as they come, each in its own time.
      for (let game = 0; game < 25; game += 1) {
        const [a, b] = [dice.oneOf(names), dice.oneOf(names)];
        if (a !== b) await record(`g${round}-${game}`, { [a]: 1, [b]: dice.from(1, 2) });
        if (dice.isUnder(0.5)) await node.rater.rate(pool.uid);
        if (dice.isUnder(0.3)) await tell();
      }
      // Some are in the middle of it when they leave.
      take();
      for (const { socket } of current) socket.terminate();
      current = await Promise.all(gateways.map((app) => connect(app)));
      for (const [at, client] of current.entries()) {
        for (const name of names) client.send(watch(name, { type: 'resume', seq: held.get(name)![at]!.seq }));
      }
      await eventually('answers to all', () =>
        current.every((client) => names.every((name) => framesOf(client, name).length > 0)),
      );
    }
    await node.rater.rate(pool.uid);
    await tell();
    for (const name of names) {
      const last = (await stored(name)).at(-1)?.seq ?? 0;
      await eventually(`${name} at ${last}`, () =>
        current.every((client) => framesOf(client, name).at(-1)?.seq === last),
      );
    }
    take();
    for (const name of names) {
      const truth = await stored(name);
      for (const { seen } of held.get(name)!) {
        const told = seen.map(({ seq, gameId, before, after }) => ({ seq, gameId, before, after }));
        expect(told, `SEED=${SEED} ${name}`).toEqual(truth);
      }
    }
  });

  it('are read of many players by one statement', async () => {
    const client = await connect(await gateway());
    const names = Array.from({ length: 40 }, (_, index) => `p${index}`);
    for (const name of names) await ask(client, watch(name));
    await Promise.all(names.map((name, at) => record(`g${at}`, { [name]: 1, [names[(at + 1) % 40]!]: 2 })));
    await node.rater.rate(pool.uid);
    const asked: string[] = [];
    const query = node.database.query.bind(node.database);
    node.database.query = ((...given: Parameters<typeof query>) => {
      asked.push(String(given[0]));
      return query(...given);
    }) as typeof node.database.query;
    try {
      await tell();
      await eventually('two games of each', () => names.every((name) => gamesOf(client, name).length === 2));
    } finally {
      node.database.query = query as typeof node.database.query;
    }
    // An announcement of 40 players; what comes while it is read is read together.
    expect(asked.filter((sql) => sql.includes('after_position')).length).toBeLessThanOrEqual(3);
  });

  it('are told by a snapshot where too many games were missed', async () => {
    const app = await gateway();
    const client = await connect(app);
    await ask(client, watch('ada'));
    await Promise.all(Array.from({ length: 101 }, (_, at) => record(`g${at}`, { ada: 1, [`p${at}`]: 2 })));
    await node.rater.rate(pool.uid);
    await tell();
    await eventually('the games', () => framesOf(client, 'ada').length === 2);
    const [empty, whole] = framesOf(client, 'ada');
    expect(whole).toMatchObject({ type: 'snapshot', rating: { games: 101, wins: 101 } });
    const other = await connect(app);
    expect(await ask(other, watch('ada', { type: 'resume', seq: empty!.seq }))).toEqual({
      ...whole,
      asOf: expect.any(String) as string,
    });
    const [first] = await stored('ada');
    const third = await connect(app);
    await ask(third, watch('ada', { type: 'resume', seq: first!.seq }));
    await eventually('what was missed', () => framesOf(third, 'ada').length === 100);
    expect(gamesOf(third, 'ada')).toHaveLength(100);
    // Of another pool, or of a ledger that was set back.
    const fourth = await connect(app);
    expect(await ask(fourth, watch('ada', { type: 'resume', seq: whole!.seq! + 5 }))).toMatchObject({
      ...{ type: 'snapshot', seq: whole!.seq },
    });
  });

  it('are told by a snapshot where they were computed again', async () => {
    const client = await connect(await gateway());
    await play('g1', { ada: 1, bob: 2 });
    await play('g2', { ada: 1, cy: 2 });
    const { seq } = await ask(client, watch('ada'));
    await voidGame('g1', 'recompute');
    await tell();
    await eventually('another snapshot', () => framesOf(client, 'ada').length === 2);
    expect(framesOf(client, 'ada')[1]).toMatchObject({ type: 'snapshot', rating: { rating: 1516, games: 1 } });
    expect(gamesOf(client, 'ada')).toEqual([]);
    await play('g3', { ada: 1, di: 2 });
    const back = await ask(await connect(apps[0]!), watch('ada', { type: 'resume', seq }));
    expect(back).toMatchObject({ type: 'snapshot', rating: { games: 2, wins: 2 } });
  });

  it('are told by a snapshot of points that were given back, also where a game came after them', async () => {
    const client = await connect(await gateway());
    await play('g1', { ada: 1, bob: 2 });
    const { seq } = await ask(client, watch('bob'));
    await voidGame('g1', 'refund');
    await tell();
    await eventually('a snapshot', () => framesOf(client, 'bob').length === 2);
    expect(framesOf(client, 'bob')[1]).toMatchObject({ type: 'snapshot', rating: { rating: 1500, games: 1 } });
    await play('g2', { cy: 1, bob: 2 });
    await eventually('the game', () => gamesOf(client, 'bob').length === 1);
    await voidGame('g2', 'refund');
    await record('g3', { bob: 1, di: 2 });
    await node.rater.rate(pool.uid);
    await tell();
    await eventually('a snapshot', () => framesOf(client, 'bob').length === 4);
    expect(framesOf(client, 'bob')[3]).toMatchObject({ type: 'snapshot', rating: { rating: 1516, games: 3 } });
    await play('g4', { bob: 1, ed: 2 });
    await eventually('the next game', () => gamesOf(client, 'bob').length === 2);
    expect(gamesOf(client, 'bob')[1]).toMatchObject({ gameId: 'g4', before: 1516 });
    const back = await ask(await connect(apps[0]!), watch('bob', { type: 'resume', seq }));
    expect(back).toMatchObject({ type: 'snapshot', rating: { games: 4 } });
  });

  it('come without an announcement by the next look', async () => {
    const client = await connect(await gateway({ pollEveryMs: 50 }));
    await ask(client, watch('ada'));
    await record('g1', { ada: 1, bob: 2 });
    await node.rater.rate(pool.uid);
    await eventually('the game', () => gamesOf(client, 'ada').length === 1);
  });

  it('of players who are not listed are for themselves and keys that read', async () => {
    const app = await gateway({ pollEveryMs: 50 });
    await play('g1', { ada: 1, bob: 2 });
    const anonymous = await connect(app);
    const ada = await connect(app, await playerToken('ada'));
    const key = await connect(app, READ_KEY);
    for (const client of [anonymous, ada, key]) expect((await ask(client, watch('ada'))).rating).not.toBeNull();
    await hide('ada');
    try {
      await eventually('it is hidden', () => framesOf(anonymous, 'ada').length === 2);
      expect(framesOf(anonymous, 'ada')[1]).toMatchObject({ type: 'snapshot', seq: 0, rating: null });
      await play('g2', { ada: 1, bob: 2 });
      for (const client of [ada, key]) {
        await eventually('the game', () => gamesOf(client, 'ada').length === 1);
        expect(framesOf(client, 'ada')).toHaveLength(2);
      }
      expect(await ask(await connect(app), watch('ada', { type: 'resume', seq: 1 }))).toMatchObject({ rating: null });
      // With the token of another it sees what others see.
      ada.send({ type: 'authenticate', token: await playerToken('bob') });
      await eventually('others see nothing', () => framesOf(ada, 'ada').at(-1)!.rating === null);
      await hide('ada', true);
      await eventually('it is seen again', () => framesOf(anonymous, 'ada').length === 3);
      expect(framesOf(anonymous, 'ada')[2]).toMatchObject({ type: 'snapshot', rating: { games: 2 } });
      expect(gamesOf(anonymous, 'ada')).toEqual([]);
    } finally {
      await hide('ada', true);
    }
  });

  it('of private pools are for those who may read them, and end when they may not any more', async () => {
    const app = await gateway({ pollEveryMs: 50 });
    const anonymous = await connect(app);
    const key = await connect(app, READ_KEY);
    for (const client of [anonymous, key]) await ask(client, watch('ada'));
    await node.makePool(pool.id, { visibility: 'private' });
    await eventually('the end', () => framesOf(anonymous, 'ada').length === 2);
    expect(framesOf(anonymous, 'ada')[1]!.problem).toMatchObject({ code: 'UNAUTHENTICATED' });
    expect((await ask(anonymous, watch('ada'))).problem).toMatchObject({ code: 'UNAUTHENTICATED' });
    await play('g1', { ada: 1, bob: 2 });
    await eventually('the game', () => gamesOf(key, 'ada').length === 1);
    expect(gamesOf(anonymous, 'ada')).toEqual([]);
    await node.pools.delete(pool.id, null, 'test');
    await eventually('the end of the pool', () => framesOf(key, 'ada').at(-1)!.problem?.code === 'POOL_NOT_FOUND');
    expect((await ask(key, watch('ada'))).problem).toMatchObject({ code: 'POOL_NOT_FOUND' });
  });

  it('say ALGORITHM_MISSING where the gateway does not have the algorithm of their pool, and other watches go on', async () => {
    const client = await connect(await gateway({ pollEveryMs: 50 }));
    const beside = await node.makePool(`${pool.id}-beside`);
    await ask(client, watch('ada'));
    await ask(client, watch('bob', { pool: beside.id }));
    const elo = RATING_ALGORITHMS.find(({ name }) => name === 'elo')!;
    node.ofTeams.push({ ...elo, name: 'of-a-team', engine: 'of-a-team@1' });
    try {
      await node.makePool(pool.id, { algorithm: 'of-a-team' });
      await eventually('the end', () => framesOf(client, 'ada').length === 2);
      await play('g1', { ada: 1, bob: 2 });
      for (const one of [framesOf(client, 'ada')[1]!, await ask(client, watch('ada'))]) {
        expect(one).toMatchObject({ type: 'error', problem: { code: 'ALGORITHM_MISSING', status: 503 } });
      }
      await node.games.record(gameOf(beside.id, 'g1', { ada: 1, bob: 2 }));
      await node.rater.rate(beside.uid);
      await eventually('the game', () => gamesOf(client, 'bob').length === 1);
    } finally {
      node.ofTeams.pop();
    }
  });

  it('end with their subscriptions, and are not more than a gateway takes', async () => {
    const app = await gateway({ watchedRatingsMax: 2 });
    const client = await connect(app, READ_KEY);
    await ask(client, watch('ada'));
    expect((await ask(client, watch('ada'))).problem).toMatchObject({ code: 'SUBSCRIPTION_EXISTS' });
    await ask(client, watch('bob'));
    expect((await ask(client, watch('cy'))).problem).toMatchObject({ code: 'SUBSCRIPTION_LIMIT' });
    client.send({ type: 'unsubscribe', id: 'ada' });
    expect(await ask(client, watch('cy'))).toMatchObject({ type: 'snapshot', rating: null });
    await play('g1', { ada: 1, cy: 2 });
    await eventually('the game', () => gamesOf(client, 'cy').length === 1);
    expect(gamesOf(client, 'ada')).toEqual([]);
  });
});
