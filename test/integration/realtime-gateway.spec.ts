// Real: HTTP server, WebSocket clients, gateway, publisher. In memory: ranks and snapshots (the same over Redis in realtime-redis.spec.ts).
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LadderError } from '@laddercast/domain';
import { AllTickSlots, RankDeltaPublisher, SnapshotTick, type LiveOptions } from '@laddercast/realtime';
import { eventually, ListWriter, plainDetails, TestBoards } from '../../libs/realtime/test/boards.js';
import { assertMatchesAsyncApi } from '../../libs/realtime/test/frame-schemas.js';
import { LiveClient, listText } from '../../libs/realtime/test/follower.js';
import { playerToken, READ_KEY, startLiveApp, type LiveApp } from '../../libs/realtime/test/live-app.js';
import { MemoryRankProjection, MemorySnapshotStore } from '../../libs/realtime/test/memory-ports.js';

let boards: TestBoards;
let projection: MemoryRankProjection;
let store: MemorySnapshotStore;
let publisher: RankDeltaPublisher;
let apps: LiveApp[];
let clients: LiveClient[];

beforeEach(() => {
  boards = new TestBoards();
  boards.create('blitz', { order: 'desc', operator: 'best', push: { intervalMs: 20, top: 100 } });
  boards.create('club', { order: 'desc', operator: 'best', visibility: 'private', push: { intervalMs: 20, top: 100 } });
  projection = new MemoryRankProjection();
  store = new MemorySnapshotStore();
  publisher = new RankDeltaPublisher(
    store,
    boards.resolver,
    new SnapshotTick(projection, store, plainDetails()),
    new AllTickSlots(),
  );
  publisher.start();
  apps = [];
  clients = [];
});

afterEach(async () => {
  for (const frame of clients.flatMap((client) => client.frames)) assertMatchesAsyncApi(frame);
  for (const client of clients) client.socket.terminate();
  await Promise.all(apps.map((app) => app.close()));
  await publisher.stop();
});

async function gateway(options: Partial<LiveOptions> = {}): Promise<LiveApp> {
  const app = await startLiveApp(boards, projection, store, options);
  apps.push(app);
  return app;
}

async function connect(...args: Parameters<typeof LiveClient.connect>): Promise<LiveClient> {
  const client = await LiveClient.connect(...args);
  clients.push(client);
  return client;
}

const writerOf = async (board: string, window?: string): Promise<ListWriter> =>
  ListWriter.of(projection, await boards.resolver.resolve(board, window));

const top = (id: string, limit?: number) => ({ type: 'subscribe', id, board: 'blitz', channel: 'top', limit });

describe('a subscription', () => {
  it('begins with the snapshot, at once, also on a list that nobody looked at before', async () => {
    await (await writerOf('blitz')).write({ ada: 10, bob: 20 });
    await publisher.stop();
    const client = await connect((await gateway()).url);
    const frame = await client.ask(top('1', 3));
    expect(frame).toMatchObject({ type: 'snapshot', id: '1', total: 2 });
    expect(frame.entries!.map(({ rank, playerId, score }) => [rank, playerId, score])).toEqual([
      [1, 'bob', 20],
      [2, 'ada', 10],
    ]);
    expect(frame.seq).toBeGreaterThan(1_700_000_000_000);
  });

  it('shows the present list when the stored snapshot is old', async () => {
    const writer = await writerOf('blitz');
    const first = await connect((await gateway()).url);
    await first.ask(top('1'));
    await first.close();
    await publisher.stop();
    await writer.write({ ada: 10 });
    const second = await connect(apps[0]!.url);
    expect((await second.ask(top('1'))).total).toBe(1);
  });

  it('hears of each change by a delta that names who was passed', async () => {
    const writer = await writerOf('blitz');
    await writer.write({ ada: 10, bob: 20 });
    const client = await connect((await gateway()).url);
    await client.ask(top('1'));
    await writer.write({ ada: 30 });
    const delta = await client.frame('a delta', (frame) => frame.type === 'delta');
    expect(delta.changes).toEqual([
      expect.objectContaining({ playerId: 'ada', rank: 1, previousRank: 2, score: 30, previousScore: 10, passed: ['bob'] }),
      { playerId: 'bob', rank: 2, previousRank: 1 },
    ]);
    expect(delta.previousSeq).toBe(client.frames[0]!.seq);
  });

  it('ends with unsubscribe, and its list falls out of use with the last of them', async () => {
    const writer = await writerOf('blitz');
    const { url, gateway: live } = await gateway();
    const client = await connect(url);
    await client.ask(top('1'));
    client.send({ type: 'unsubscribe', id: '1' });
    await eventually('no subscription is left', () => live.stats().subscriptions === 0);
    const frames = client.frames.length;
    await writer.write({ ada: 30 });
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(client.frames).toHaveLength(frames);
  });

  it('of a player shows the neighbours, and a player without an entry once it gets one', async () => {
    const writer = await writerOf('blitz');
    await writer.write(Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`p${index}`, index])));
    const client = await connect((await gateway()).url);
    const ask = { type: 'subscribe', board: 'blitz', channel: 'player' };
    const known = await client.ask({ ...ask, id: 'a', playerId: 'p10', around: 2 });
    expect(known.entries!.map(({ rank, playerId }) => `${rank} ${playerId}`)).toEqual([
      '8 p12',
      '9 p11',
      '10 p10',
      '11 p9',
      '12 p8',
    ]);
    expect(await client.ask({ ...ask, id: 'b', playerId: 'new', around: 1 })).toMatchObject({ entries: [], total: 20 });
    await writer.write({ new: 4.5 });
    await eventually('the new player shows', () => client.list('b').rows.size === 3);
    expect(client.list('b').rows.get('new')).toMatchObject({ rank: 16, score: 4.5 });
    expect(client.list('b').snapshots).toBe(1);
  });

  it('is resumed by what changed since, and by a snapshot when that is not known any more', async () => {
    const writer = await writerOf('blitz');
    await writer.write({ ada: 10, bob: 20, cy: 5 });
    const first = await connect((await gateway()).url);
    await first.ask(top('1'));
    const { seq } = first.list('1');
    const rows = new Map(first.list('1').rows);
    await first.close();
    // Keeps the list in use, so that there are ticks to catch up with.
    const other = await connect((await gateway()).url);
    await other.ask(top('x'));
    await writer.write({ ada: 30 });
    await eventually('a tick', () => other.list('x').deltas === 1);
    await writer.write({ cy: null });
    await eventually('another tick', () => other.list('x').deltas === 2);

    const second = await connect(apps[1]!.url);
    second.list('1').seq = seq;
    second.list('1').rows = rows;
    const answer = await second.ask({ ...top('1'), type: 'resume', seq });
    expect(answer).toMatchObject({ type: 'delta', previousSeq: seq, seq: other.list('x').seq });
    expect(second.list('1').text()).toBe(other.list('x').text());

    expect(await second.ask({ ...top('1'), type: 'resume', seq: seq - 1 })).toMatchObject({ type: 'snapshot', total: 2 });
    expect(await second.ask({ ...top('1'), type: 'resume', seq: seq + 10 ** 12 })).toMatchObject({ type: 'snapshot' });
    expect(await second.ask({ ...top('1'), type: 'resume', seq: other.list('x').seq })).toMatchObject({ type: 'snapshot' });
    expect(apps[1]!.gateway.stats().subscriptions).toBe(2);
  });

  it('survives lost hints: the list is looked at all the same', async () => {
    const writer = await writerOf('blitz');
    const client = await connect((await gateway({ pollEveryMs: 100 })).url);
    await client.ask(top('1'));
    store.isDeaf = true;
    await writer.write({ ada: 30 });
    await eventually('the change arrives', () => client.list('1').rows.size === 1, 1000);
  });

  it('goes on with larger numbers after Redis lost everything', async () => {
    const writer = await writerOf('blitz');
    await writer.write({ ada: 1 });
    const client = await connect((await gateway({ pollEveryMs: 100 })).url);
    const { seq } = await client.ask(top('1'));
    const inUse = new Map(store.inUse);
    store.lose();
    for (const [key, use] of inUse) store.inUse.set(key, use);
    await writer.write({ bob: 2 });
    await eventually('the new history arrives', () => client.list('1').rows.size === 2);
    expect(client.list('1').seq).toBeGreaterThan(seq!);
    expect(client.list('1').snapshots).toBe(2);
  });

  it('is told once that its window closed', async () => {
    const day = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
    const board = boards.create('daily', { order: 'desc', operator: 'best', windows: ['daily'], graceSeconds: 0 });
    const startsAtMs = Date.parse(`${day}T00:00:00Z`);
    const bounds = { kind: 'daily' as const, id: `daily:${day}`, startsAtMs, endsAtMs: startsAtMs + 86_400_000 };
    await (boards.resolver as unknown as { windows: { ensure: (uid: number, w: typeof bounds) => Promise<void> } }).windows.ensure(
      board.uid,
      bounds,
    );
    const client = await connect((await gateway({ sweepEveryMs: 50 })).url);
    await client.ask({ type: 'subscribe', id: 'd', board: 'daily', window: `daily:${day}`, channel: 'top' });
    await client.frame('window-closed', (frame) => frame.type === 'window-closed' && frame.window === `daily:${day}`);
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(client.frames.filter((frame) => frame.type === 'window-closed')).toHaveLength(1);
  });
});

describe('a board that changes', () => {
  it('when deleted ends its subscriptions with BOARD_NOT_FOUND', async () => {
    const { url, gateway: live } = await gateway();
    const client = await connect(url);
    await client.ask(top('1'));
    boards.delete('blitz');
    expect(await client.problem()).toMatchObject({ code: 'BOARD_NOT_FOUND', status: 404 });
    expect(live.stats().subscriptions).toBe(0);
  });

  it('when reset gives its subscribers the new list, with a larger number', async () => {
    await (await writerOf('blitz')).write({ ada: 10 });
    const client = await connect((await gateway()).url);
    const { seq } = await client.ask(top('1'));
    await client.ask({ type: 'subscribe', id: '2', board: 'blitz', channel: 'player', playerId: 'ada' });
    boards.reset('blitz');
    await eventually('both lists are empty', () => ['1', '2'].every((id) => client.list(id).rows.size === 0));
    expect(client.list('1').seq).toBeGreaterThan(seq!);
    await (await writerOf('blitz')).write({ bob: 1 });
    await eventually('the new list lives', () => client.list('1').rows.has('bob'));
    expect(client.frames.some((frame) => frame.type === 'error')).toBe(false);
  });

  it('when made private ends the subscriptions of those who may not read it', async () => {
    const { url } = await gateway();
    const [anonymous, player] = [await connect(url), await connect(`${url}?token=${await playerToken('ada')}`)];
    await anonymous.ask(top('1'));
    await player.ask(top('1'));
    boards.redefine('blitz', { visibility: 'private' });
    expect(await anonymous.problem()).toMatchObject({ code: 'UNAUTHENTICATED' });
    await (await writerOf('blitz')).write({ ada: 1 });
    await eventually('the player still hears', () => player.list('1').rows.size === 1);
    expect(anonymous.list('1').rows.size).toBe(0);
  });
});

describe('an identity', () => {
  const club = { type: 'subscribe', id: '1', board: 'club', channel: 'top' };

  it('comes by header, subprotocol pair or query, and opens private boards', async () => {
    const { url } = await gateway();
    const token = await playerToken('ada');
    const ways = [
      await connect(url, ['ladder.v1'], { headers: { authorization: `Bearer ${READ_KEY}` } }),
      await connect(url, ['ladder.v1', `bearer.${token}`]),
      await connect(`${url}?token=${token}`, []),
    ];
    for (const client of ways) expect(await client.ask(club)).toMatchObject({ type: 'snapshot' });
    expect(ways.map((client) => client.socket.protocol)).toEqual(['ladder.v1', 'ladder.v1', '']);
  });

  it('is not needed for public boards, and its lack is told on private ones', async () => {
    const client = await connect((await gateway()).url, []);
    expect(await client.ask(top('1'))).toMatchObject({ type: 'snapshot' });
    expect((await client.ask({ ...club, id: '2' })).problem).toMatchObject({ code: 'UNAUTHENTICATED', status: 401 });
    expect(client.closed).toBeNull();
  });

  it('that is not valid is told, and the socket closed with 4401', async () => {
    const { url } = await gateway();
    for (const client of [
      await connect(url, ['ladder.v1', 'bearer.not-a-token']),
      await connect(url, ['ladder.v1'], { headers: { authorization: 'Basic abc' } }),
      await connect(`${url}?token=${await playerToken('ada', -10)}`),
    ]) {
      expect(await client.problem()).toMatchObject({ code: 'UNAUTHENTICATED' });
      await eventually('the socket closes', () => client.closed !== null);
      expect(client.closed!.code).toBe(4401);
    }
  });

  it('can be renewed, and closes the socket with 4401 when it ends', async () => {
    const { url } = await gateway({ sweepEveryMs: 50 });
    const [kept, left] = [
      await connect(url, ['ladder.v1', `bearer.${await playerToken('ada', 2)}`]),
      await connect(url, ['ladder.v1', `bearer.${await playerToken('bob', 2)}`]),
    ];
    await kept.ask(club);
    kept.send({ type: 'authenticate', token: await playerToken('ada', 60) });
    await eventually('the other one is closed', () => left.closed !== null);
    expect(left.closed!.code).toBe(4401);
    expect(await left.problem()).toMatchObject({ code: 'UNAUTHENTICATED' });
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(kept.closed).toBeNull();
    kept.send({ type: 'authenticate', token: 'wrong' });
    expect(await kept.problem()).toMatchObject({ code: 'UNAUTHENTICATED' });
  });
});

describe('what a client gets wrong is answered', () => {
  it.each([
    ['not JSON', '{"type":', 'MALFORMED_JSON'],
    ['no object', '[1]', 'VALIDATION_FAILED'],
    ['no type', '{}', 'VALIDATION_FAILED'],
    ['an unknown type', '{"type":"shout","id":"1"}', 'VALIDATION_FAILED'],
    ['no id', { ...top('1'), id: undefined }, 'VALIDATION_FAILED'],
    ['an unknown field', { ...top('1'), offset: 3 }, 'VALIDATION_FAILED'],
    ['a field of another channel', { ...top('1'), playerId: 'ada' }, 'VALIDATION_FAILED'],
    ['seq without resume', { ...top('1'), seq: 3 }, 'VALIDATION_FAILED'],
    ['a limit beyond the most', top('1', 101), 'VALIDATION_FAILED'],
    ['a limit that is no whole number', top('1', 2.5), 'VALIDATION_FAILED'],
    ['too much around', { ...top('1'), channel: 'player', limit: undefined, playerId: 'ada', around: 26 }, 'VALIDATION_FAILED'],
    ['no player id', { type: 'subscribe', id: '1', board: 'blitz', channel: 'player' }, 'VALIDATION_FAILED'],
    ['a lone surrogate', '{"type":"subscribe","id":"1","board":"blitz","channel":"player","playerId":"\\ud800"}', 'VALIDATION_FAILED'],
    ['an unknown channel', { ...top('1'), channel: 'bottom' }, 'VALIDATION_FAILED'],
    ['a channel to come', { ...top('1'), channel: 'friends', playerId: 'ada' }, 'NOT_SUPPORTED'],
    ['a scope to come', { ...top('1'), scope: 'region:EU' }, 'NOT_SUPPORTED'],
    ['an unknown board', { ...top('1'), board: 'nowhere' }, 'BOARD_NOT_FOUND'],
    ['an unknown window', { ...top('1'), window: 'daily' }, 'WINDOW_NOT_FOUND'],
    ['too large a message', `{"type":"subscribe","id":"${'x'.repeat(20_000)}"}`, 'PAYLOAD_TOO_LARGE'],
  ])('%s', async (_what, message, code) => {
    const client = await connect((await gateway()).url);
    client.send(message);
    const problem = await client.problem();
    expect(problem).toMatchObject({ code, type: `urn:laddercast:problem:${code}`, detail: expect.any(String) });
    // The socket lives on.
    expect(await client.ask(top('after'))).toMatchObject({ type: 'snapshot' });
  });

  it('names the field and what to do', async () => {
    const client = await connect((await gateway()).url);
    const answer = await client.ask({ ...top('1', 0), colour: 'red' });
    expect(answer.problem!.errors).toEqual(
      expect.arrayContaining([
        { pointer: '/limit', message: 'must not be less than 1' },
        { pointer: '/colour', message: 'is not a field of this message' },
      ]),
    );
  });

  it('a limit above what the board pushes is refused, one below is rounded up', async () => {
    boards.create('short', { order: 'desc', operator: 'best', push: { intervalMs: 20, top: 30 } });
    const writer = await writerOf('short');
    await writer.write(Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`p${index}`, index])));
    const client = await connect((await gateway()).url);
    const ask = { type: 'subscribe', board: 'short', channel: 'top' };
    expect((await client.ask({ ...ask, id: '1', limit: 31 })).problem!.errors![0]!.pointer).toBe('/limit');
    expect((await client.ask({ ...ask, id: '2', limit: 11 })).entries).toHaveLength(25);
    expect((await client.ask({ ...ask, id: '3', limit: 26 })).entries).toHaveLength(30);
    expect((await client.ask({ ...ask, id: '4' })).entries).toHaveLength(10);
  });

  it('an id in use, and one subscription too many', async () => {
    const client = await connect((await gateway({ subscriptionsMax: 2 })).url);
    await client.ask(top('1'));
    expect((await client.ask(top('1'))).problem).toMatchObject({ code: 'SUBSCRIPTION_EXISTS', status: 409 });
    await client.ask(top('2'));
    expect((await client.ask(top('3'))).problem).toMatchObject({ code: 'SUBSCRIPTION_LIMIT' });
    client.send({ type: 'unsubscribe', id: '1' });
    expect(await client.ask(top('3'))).toMatchObject({ type: 'snapshot' });
  });

  it('more watched players than can be kept exact', async () => {
    const { url } = await gateway({ watchedPlayersMax: 2 });
    const [client, other] = [await connect(url), await connect(url)];
    const watch = (id: string, playerId: string) => ({ type: 'subscribe', id, board: 'blitz', channel: 'player', playerId });
    await client.ask(watch('1', 'ada'));
    await client.ask(watch('2', 'bob'));
    expect((await other.ask(watch('1', 'cy'))).problem).toMatchObject({ code: 'SUBSCRIPTION_LIMIT' });
    expect(await other.ask(watch('1', 'ada'))).toMatchObject({ type: 'snapshot' });
    client.send({ type: 'unsubscribe', id: '2' });
    expect(await client.ask(watch('3', 'cy'))).toMatchObject({ type: 'snapshot' });
  });

  it('too many messages at once', async () => {
    const client = await connect((await gateway({ messagesBurst: 5, messagesPerSecond: 10 })).url);
    for (let sent = 0; sent < 20; sent += 1) client.send({ type: 'unsubscribe', id: 'none' });
    expect(await client.problem()).toMatchObject({ code: 'TOO_MANY_MESSAGES', status: 429 });
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(client.closed).toBeNull();
    expect(await client.ask(top('after'))).toMatchObject({ type: 'snapshot' });
  });

  it('ranks that cannot be read', async () => {
    const client = await connect((await gateway()).url);
    projection.failure = new LadderError('PROJECTION_UNAVAILABLE', 'Redis is away.');
    expect((await client.ask(top('1'))).problem).toMatchObject({ code: 'PROJECTION_UNAVAILABLE', status: 503 });
    projection.failure = null;
    expect(await client.ask(top('1'))).toMatchObject({ type: 'snapshot' });
  });
});

describe('a connection', () => {
  it('that does not answer pings is ended', async () => {
    const { url, gateway: live } = await gateway({ pingEveryMs: 60, sweepEveryMs: 20 });
    const alive = await connect(url);
    const dead = await connect(url, ['ladder.v1'], { autoPong: false });
    await eventually('the dead one is ended', () => dead.closed !== null);
    expect(dead.closed!.code).toBe(1006);
    await eventually('it is forgotten', () => live.stats().sockets === 1);
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(alive.closed).toBeNull();
  });

  it('is told to connect elsewhere when the gateway ends', async () => {
    const app = await gateway();
    const client = await connect(app.url);
    await client.ask(top('1'));
    await app.close();
    expect(client.closed).toMatchObject({ code: 1012 });
    apps = [];
  });

  it('beyond the most is told so', async () => {
    const { url } = await gateway({ socketsMax: 1 });
    await connect(url);
    const second = await connect(url);
    expect(await second.problem()).toMatchObject({ code: 'OVERLOADED' });
    await eventually('it is closed', () => second.closed !== null);
    expect(second.closed!.code).toBe(1013);
  });
});

describe('a reader that is too slow', () => {
  it('is not buffered without end, and gets a fresh snapshot when it can take one', async () => {
    const names = Array.from({ length: 100 }, (_, index) => `player-with-a-rather-long-name-${'x'.repeat(80)}-${index}`);
    const writer = await writerOf('blitz');
    await writer.write(Object.fromEntries(names.map((name, index) => [name, index])));
    const { url, gateway: live } = await gateway({ behindBytes: 64 * 1024 });
    const [quick, slow] = [await connect(url), await connect(url)];
    await quick.ask(top('1', 100));
    for (let id = 0; id < 30; id += 1) await slow.ask(top(String(id), 100));
    const serverSide = [...(live as unknown as { sockets: Map<{ bufferedAmount: number }, unknown> }).sockets.keys()][1]!;
    slow.socket.pause();
    let bufferedMax = 0;
    for (let round = 1; live.stats().dropped < 200 && round < 2000; round += 1) {
      await writer.write(Object.fromEntries(names.map((name, index) => [name, index + round * 1000])));
      await eventually('the quick one hears', () => quick.list('1').rows.get(names[0]!)?.score === round * 1000);
      bufferedMax = Math.max(bufferedMax, serverSide.bufferedAmount);
    }
    expect(live.stats().dropped).toBeGreaterThanOrEqual(200);
    expect(live.stats().resynchronised).toBe(0);
    expect(bufferedMax).toBeGreaterThan(64 * 1024);
    // The limit, and the frames of the tick in which it was passed.
    expect(bufferedMax).toBeLessThan(64 * 1024 + 30 * 35_000);
    const snapshotsBefore = slow.list('0').snapshots;
    slow.socket.resume();
    await eventually('the slow one is given the present', () => live.stats().resynchronised >= 30);
    await eventually('it has it', () => [...slow.lists.values()].every((list) => list.text() === quick.list('1').text()));
    expect(slow.list('0').snapshots).toBe(snapshotsBefore + 1);
    expect([...slow.lists.values()].every((list) => list.gaps === 0)).toBe(true);
  });

  it('is ended when it stays behind', async () => {
    const writer = await writerOf('blitz');
    const { url, gateway: live } = await gateway({ behindBytes: 1000, behindForMs: 100, sweepEveryMs: 20 });
    const slow = await connect(url);
    for (let id = 0; id < 50; id += 1) await slow.ask(top(String(id), 100));
    slow.socket.pause();
    const names = Array.from({ length: 100 }, (_, index) => `player-${'x'.repeat(100)}-${index}`);
    for (let round = 0; live.stats().sockets === 1 && round < 1000; round += 1) {
      await writer.write(Object.fromEntries(names.map((name, index) => [name, index + round])));
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    expect(live.stats()).toMatchObject({ sockets: 0, subscriptions: 0, terminated: 1 });
  });
});

describe('many subscribers', () => {
  it('cost one reading a tick, and all show the same', async () => {
    const writer = await writerOf('blitz');
    const { url } = await gateway();
    const readers = await Promise.all(Array.from({ length: 40 }, () => connect(url)));
    await Promise.all(readers.map((reader, index) => reader.ask(top(String(index % 3), 10))));
    const [reads, pages] = [store.deltaReads, projection.pages];
    await writer.write({ ada: 1 });
    await eventually('all hear', () => readers.every((reader) => reader.frames.some((frame) => frame.type === 'delta')));
    expect(store.deltaReads - reads).toBeLessThanOrEqual(2);
    expect(projection.pages - pages).toBeLessThanOrEqual(2);
    const texts = new Set(readers.map((reader, index) => reader.list(String(index % 3)).text()));
    expect([...texts]).toEqual([listText([...readers[0]!.list('0').rows.values()] as never, 1)]);
  });
});
