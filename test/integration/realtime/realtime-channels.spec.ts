// Real: HTTP server, WebSocket clients, gateway, publisher. In memory: ranks, snapshots, names, friends.
import { LadderError } from '@laddercast/domain';
import { describe, expect, it } from 'vitest';
import { eventually } from '../../../libs/realtime/test/boards.js';
import { placesOf, type LiveClient, type ServerFrame } from '../../../libs/realtime/test/follower.js';
import { playerToken, READ_KEY } from '../../../libs/realtime/test/live-app.js';
import { MemoryLive, topRequest as top } from '../../../libs/realtime/test/memory-live.js';

const live = new MemoryLive();
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const scopes = ['global' as const, 'region' as const, 'guild' as const, { attribute: 'country' }];
const circles = { order: 'desc' as const, operator: 'best' as const, scopes, push: { intervalMs: 20, top: 100 } };
const numbered = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`p${index}`, index]));
const held = (client: LiveClient, id: string): string[] => client.list(id).places();
function shown(frame: ServerFrame): string[] {
  if (!frame.entries) throw new Error(`no snapshot: ${JSON.stringify(frame)}`);
  return placesOf(frame.entries);
}

async function connect(token?: string): Promise<LiveClient> {
  const { url } = live.apps[0] ?? (await live.gateway());
  return live.connect(url, ['ladder.v1'], token ? { headers: { authorization: `Bearer ${token}` } } : {});
}

describe('a range', () => {
  const range = (id: string, offset: number, limit?: number) => ({ ...top(id, limit), channel: 'range', offset });

  it('shows the places asked for, no more and no fewer, and what moves through them', async () => {
    const writer = await live.writerOf('blitz');
    await writer.write(numbered(50));
    const client = await connect();
    expect(shown(await client.ask(range('1', 30, 3)))).toEqual(['31 p19', '32 p18', '33 p17']);
    expect(shown(await client.ask(range('2', 48, 7)))).toEqual(['49 p1', '50 p0']);
    expect((await client.ask(range('3', 0))).entries).toHaveLength(10);
    expect(await client.ask(range('4', 1000, 5))).toMatchObject({ entries: [], total: 50 });
    await writer.write({ p0: 100 });
    await eventually('the rows move', () => held(client, '1').join() === '31 p20,32 p19,33 p18');
    expect(client.list('1').snapshots).toBe(1);
    const delta = client.frames.find((frame) => frame.id === '1' && frame.type === 'delta')!;
    expect(delta.changes).toMatchObject([
      { playerId: 'p20', rank: 31, previousRank: null },
      { playerId: 'p19', rank: 32, previousRank: 31 },
      { playerId: 'p18', rank: 33, previousRank: 32 },
      { playerId: 'p17', rank: null, previousRank: 33 },
    ]);
  });

  it('is resumed by a snapshot', async () => {
    await (await live.writerOf('blitz')).write(numbered(20));
    const client = await connect();
    const { seq } = await client.ask(range('1', 5, 5));
    expect(await client.ask({ ...range('1', 5, 5), type: 'resume', seq })).toMatchObject({ type: 'snapshot', id: '1' });
  });

  describe('of a list that changed since the last tick', () => {
    const slow = { ...circles, push: { intervalMs: 60_000, top: 100 } };
    const ask = { ...range('1', 1, 2), board: 'slow' };

    it('has another number wherever it is read anew: a number is one state of the rows', async () => {
      live.boards.create('slow', slow);
      const writer = await live.writerOf('slow');
      await writer.write({ a: 9, b: 8, c: 7 });
      const [here, there] = [await connect(), await live.connect((await live.gateway()).url)];
      const first = await here.ask(ask);
      expect(shown(first)).toEqual(['2 b', '3 c']);
      await writer.write({ c: 10 });
      const elsewhere = await there.ask(ask);
      expect(shown(elsewhere)).toEqual(['2 a', '3 b']);
      here.send({ type: 'unsubscribe', id: '1' });
      await writer.write({ b: 11 });
      // A change that was on its way to the one before would be taken for the answer.
      const again = await here.ask({ ...ask, id: '2' });
      expect(shown(again)).toEqual(['2 c', '3 a']);
      expect(new Set([first.seq, elsewhere.seq, again.seq]).size).toBe(3);
    });

    it('is served to who comes back under no lower number than it has heard, and goes on from there', async () => {
      live.boards.create('slow', slow);
      const writer = await live.writerOf('slow');
      await writer.write({ a: 9, b: 8, c: 7 });
      const clients = [await connect(), await connect()];
      const [stays, returns] = clients as [LiveClient, LiveClient];
      const { seq } = await stays.ask(ask);
      expect(await returns.ask({ ...ask, type: 'resume', seq })).toMatchObject({ type: 'snapshot', seq });
      returns.send({ type: 'unsubscribe', id: '1' });
      const heard = (await (await live.connect((await live.gateway()).url)).ask(ask)).seq!;
      expect(heard).toBeGreaterThan(seq!);
      const back = await returns.ask({ ...ask, id: '2', type: 'resume', seq: heard });
      expect(back.seq).toBeGreaterThan(heard);
      expect(shown(back)).toEqual(['2 b', '3 c']);
      // One that changed its name has watched rows read anew.
      await live.profiles.set('c', { displayName: 'Cy' });
      const followed = [stays.list('1'), returns.list('2')];
      await eventually('both hear it', () => followed.every(({ deltas }) => deltas > 0));
      expect(followed[0]!.text()).toBe(followed[1]!.text());
      expect(followed.map(({ gaps }) => gaps)).toEqual([0, 0]);
    });
  });

  it('costs one reading a tick, however many watch it', async () => {
    const writer = await live.writerOf('blitz');
    await writer.write(numbered(20));
    const clients = [await connect(), await connect(), await connect()];
    for (const client of clients) await client.ask(range('1', 5, 5));
    const { pages } = live.projection;
    await writer.write({ p0: 100 });
    await eventually('all hear', () => clients.every((client) => client.list('1').deltas === 1));
    // The top, and the range, which is not read for each of them.
    expect(live.projection.pages - pages).toBeLessThan(1 + clients.length);
  });
});

describe('friends', () => {
  const friends = (id: string, playerId: string) => ({ ...top(id), channel: 'friends', playerId });

  it('are ranked among themselves with the player, each with the rank among everybody', async () => {
    const writer = await live.writerOf('blitz');
    await writer.write(numbered(50));
    live.friends.set('p10', ['p40', 'p5', 'without-entry']);
    const client = await connect(await playerToken('p10'));
    const frame = await client.ask(friends('1', 'p10'));
    expect(frame).toMatchObject({ type: 'snapshot', total: 3 });
    expect(shown(frame)).toEqual(['1 10 p40', '2 40 p10', '3 45 p5']);
    // Nobody of them moved among themselves: the rows come whole, with their new global ranks.
    await writer.write({ p0: 100 });
    await eventually('the global ranks', () => held(client, '1').join() === '1 11 p40,2 41 p10,3 46 p5');
    const delta = client.frames.find((one) => one.id === '1' && one.type === 'delta')!;
    expect(delta.changes![0]).toMatchObject({ playerId: 'p40', rank: 1, previousRank: 1, globalRank: 11, score: 40 });
    await writer.write({ 'without-entry': 1000 });
    await eventually('the new one', () => held(client, '1')[0] === '1 1 without-entry');
    expect(client.list('1')).toMatchObject({ total: 4, snapshots: 1, gaps: 0 });
  });

  it('that come and go show within some seconds, though nobody scores', async () => {
    await (await live.writerOf('blitz')).write(numbered(20));
    live.friends.set('p1', ['p2']);
    const client = await connect(READ_KEY);
    await client.ask(friends('1', 'p1'));
    live.friends.set('p1', ['p2', 'p3']);
    await eventually('the new friend', () => held(client, '1').join() === '1 17 p3,2 18 p2,3 19 p1');
    live.friends.set('p1', []);
    await eventually('no friends', () => held(client, '1').join() === '1 19 p1');
    expect(client.list('1')).toMatchObject({ snapshots: 1, gaps: 0 });
  });

  it('of many players are looked up at once, each of them once', async () => {
    const writer = await live.writerOf('blitz');
    await writer.write(numbered(40));
    const everybody = Object.keys(numbered(40));
    const client = await connect(READ_KEY);
    for (const id of ['p1', 'p2', 'p3', 'p4']) {
      live.friends.set(id, everybody);
      await client.ask(friends(id, id));
    }
    live.projection.lookups.length = 0;
    await writer.write({ p0: 100 });
    await eventually('all hear', () => ['p1', 'p2', 'p3', 'p4'].every((id) => client.list(id).deltas === 1));
    expect(live.projection.lookups.length).toBeLessThan(4);
    expect([...new Set(live.projection.lookups.map((ids) => ids.length))]).toEqual([40]);
  });

  it('are shown to the player itself and to keys alone, also after another identity', async () => {
    const anonymous = await connect();
    expect((await anonymous.ask(friends('1', 'ada'))).problem).toMatchObject({ code: 'UNAUTHENTICATED' });
    const bob = await connect(await playerToken('bob'));
    expect((await bob.ask(friends('1', 'ada'))).problem).toMatchObject({ code: 'FORBIDDEN' });
    const ada = await connect(await playerToken('ada'));
    expect(await ada.ask(friends('1', 'ada'))).toMatchObject({ type: 'snapshot' });
    const from = ada.frames.length;
    ada.send({ type: 'authenticate', token: await playerToken('bob') });
    expect(await ada.problem(from)).toMatchObject({ code: 'FORBIDDEN' });
  });

  it('are watched up to a number of members', async () => {
    await live.gateway({ watchedMembersMax: 5 });
    const client = await connect(READ_KEY);
    live.friends.set('ada', ['a', 'b']);
    live.friends.set('bob', ['a', 'b']);
    expect(await client.ask(friends('1', 'ada'))).toMatchObject({ type: 'snapshot' });
    expect((await client.ask(friends('2', 'bob'))).problem).toMatchObject({ code: 'SUBSCRIPTION_LIMIT' });
    // A circle that outgrows it is told, and what it took is free again.
    const from = client.frames.length;
    live.friends.set('ada', ['a', 'b', 'c', 'd', 'e']);
    expect(await client.problem(from)).toMatchObject({ code: 'SUBSCRIPTION_LIMIT' });
    expect(await client.ask(friends('3', 'bob'))).toMatchObject({ type: 'snapshot' });
  });
});

describe('scopes', () => {
  it('are lists of their own, also those in which nobody was ranked yet', async () => {
    live.boards.create('world', circles);
    const client = await connect();
    const ask = (id: string, scope: string, channel: object = { channel: 'top' }) =>
      client.ask({ type: 'subscribe', id, board: 'world', scope, ...channel });
    expect(await ask('eu', 'region:EU')).toMatchObject({ total: 0 });
    expect(await ask('us', 'country:US')).toMatchObject({ total: 0 });
    await ask('red', 'guild:red/raiders', { channel: 'player', playerId: 'ada', around: 1 });
    await ask('all', 'global');
    // Names are kept for ever: none is for being looked at.
    expect(live.boards.usedScopes).toEqual([]);
    await (await live.writerOf('world', { scope: 'region:EU' })).write({ ada: 1 });
    await (await live.writerOf('world', { scope: 'country:US' })).write({ bob: 2, cy: 3 });
    await (await live.writerOf('world', { scope: 'guild:red/raiders' })).write({ ada: 1, di: 2 });
    await eventually('the region', () => held(client, 'eu').join() === '1 ada');
    await eventually('the attribute', () => held(client, 'us').join() === '1 cy,2 bob');
    await eventually('the guild', () => held(client, 'red').join() === '1 di,2 ada');
    expect(held(client, 'all')).toEqual([]);
  });

  it('that a board gives up end their subscriptions, and no others', async () => {
    live.boards.create('world', circles);
    const client = await connect();
    await client.ask({ ...top('eu'), board: 'world', scope: 'region:EU' });
    await client.ask({ ...top('all'), board: 'world' });
    const from = client.frames.length;
    live.boards.redefine('world', { scopes: ['global'] });
    expect(await client.problem(from)).toMatchObject({ code: 'SCOPE_NOT_FOUND' });
    await (await live.writerOf('world')).write({ ada: 1 });
    await eventually('the others go on', () => client.list('all').deltas === 1);
  });

  it('guilds are a list whose first places are followed and resumed like any top', async () => {
    live.boards.create('world', circles);
    const writer = await live.writerOf('world', { ofGuilds: true });
    await writer.write({ red: 10, blue: 20 });
    const client = await connect();
    const guilds = { type: 'subscribe', id: '1', board: 'world', channel: 'guilds', limit: 5 };
    expect(shown(await client.ask(guilds))).toEqual(['1 blue', '2 red']);
    const { seq } = client.list('1');
    await writer.write({ red: 30 });
    await eventually('the guilds move', () => held(client, '1').join() === '1 red,2 blue');
    expect(await client.ask({ ...guilds, type: 'resume', seq })).toMatchObject({ type: 'delta', previousSeq: seq });
  });
});

describe('a name', () => {
  const channels = {
    top: { channel: 'top' },
    player: { channel: 'player', playerId: 'p11', around: 2 },
    range: { channel: 'range', offset: 5, limit: 5 },
    friends: { channel: 'friends', playerId: 'p3' },
  };

  it('shows in every channel within a second, though nobody scores', async () => {
    live.boards.create('short', { ...circles, push: { intervalMs: 20, top: 10 } });
    await (await live.writerOf('short')).write(numbered(20));
    live.friends.set('p3', ['p12']);
    const client = await connect(READ_KEY);
    const ids = Object.keys(channels);
    for (const [id, channel] of Object.entries(channels)) await client.ask({ ...top(id), board: 'short', ...channel });
    const named = (id: string) => client.list(id).rows.get('p12')?.displayName;
    for (const name of ['Twelve', 'Dozen']) {
      await live.profiles.set('p12', { displayName: name });
      await eventually(`${name} everywhere`, () => ids.every((id) => named(id) === name));
    }
    // One that no top shows.
    await live.profiles.set('p3', { displayName: 'Three' });
    await eventually('Three', () => client.list('friends').rows.get('p3')?.displayName === 'Three');
    expect(ids.map((id) => [client.list(id).snapshots, client.list(id).gaps])).toEqual(ids.map(() => [1, 0]));
    const seen = client.frames.filter((frame) => frame.type === 'delta' && frame.id === 'top').length;
    await pause(1500);
    expect(client.frames.filter((frame) => frame.type === 'delta' && frame.id === 'top')).toHaveLength(seen);
  });

  it('that changed while nobody looked is the one that the first snapshot shows', async () => {
    await (await live.writerOf('blitz')).write(numbered(5));
    await live.publisher.stop();
    const first = await connect();
    await first.ask(top('1'));
    await first.close();
    await live.profiles.set('p1', { displayName: 'One' });
    const { entries } = await (await connect()).ask(top('1'));
    expect(entries!.find(({ playerId }) => playerId === 'p1')!.displayName).toBe('One');
  });

  it('shows also when its announcement was lost with the connection', async () => {
    await (await live.writerOf('blitz')).write(numbered(20));
    const client = await connect();
    for (const [id, channel] of Object.entries(channels).slice(0, 3)) await client.ask({ ...top(id), ...channel });
    // By now the publisher knows the list, and has read it.
    await pause(500);
    live.profiles = Object.assign(live.profiles, { announcements: { announce: async () => undefined } });
    await live.profiles.set('p12', { displayName: 'Twelve' });
    await pause(200);
    expect(client.list('top').rows.get('p12')?.displayName).toBeNull();
    live.announcements.tell(null);
    await eventually('the name', () =>
      ['top', 'player', 'range'].every((id) => client.list(id).rows.get('p12')?.displayName === 'Twelve'),
    );
  });
});

describe('a player who is not listed', () => {
  it('leaves a gap in every channel of others, and is back when listed again', async () => {
    await (await live.writerOf('blitz')).write(numbered(12));
    live.friends.set('p6', ['p8', 'p10']);
    const client = await connect(READ_KEY);
    await client.ask(top('top', 5));
    await client.ask({ ...top('range'), channel: 'range', offset: 2, limit: 3 });
    await client.ask({ ...top('player'), channel: 'player', playerId: 'p9', around: 1 });
    await client.ask({ ...top('friends'), channel: 'friends', playerId: 'p6' });
    const ids = ['top', 'range', 'player', 'friends'];
    const before = ids.map((id) => held(client, id));
    // The limit of five was rounded up to ten.
    expect(before[0]).toHaveLength(10);
    await live.profiles.set('p8', { listed: false });
    await eventually('the gaps', () => ids.every((id) => !client.list(id).rows.has('p8')));
    expect(held(client, 'top')).toEqual(before[0]!.filter((row) => row !== '4 p8'));
    expect(held(client, 'range')).toEqual(['3 p9', '5 p7']);
    expect(held(client, 'player')).toEqual(['2 p10', '3 p9']);
    expect(held(client, 'friends')).toEqual(['1 2 p10', '3 6 p6']);
    expect(client.list('top').total).toBe(12);
    await pause(300);
    const ticks = live.projection.pages;
    await pause(300);
    // A top with a gap is whole: it is not read over and over. (Once more after the change of the name.)
    expect(live.projection.pages - ticks).toBeLessThanOrEqual(2);
    await live.profiles.set('p8', { listed: true });
    await eventually('it is back', () => ids.every((id, index) => held(client, id).join() === before[index]!.join()));
    expect(ids.map((id) => [client.list(id).snapshots, client.list(id).gaps])).toEqual(ids.map(() => [1, 0]));
  });

  it('is watched by itself and by keys, and by nobody else', async () => {
    await (await live.writerOf('blitz')).write(numbered(5));
    const watch = { ...top('1'), channel: 'player', playerId: 'p2', around: 1 };
    const [itself, key] = [await connect(await playerToken('p2')), await connect(READ_KEY)];
    const [other, anonymous] = [await connect(await playerToken('p3')), await connect()];
    for (const client of [itself, key, other, anonymous]) await client.ask(watch);
    await live.profiles.set('p2', { listed: false });
    for (const client of [other, anonymous]) {
      await eventually('the rows are others', () => held(client, '1').length === 0);
      // As of one who has no entry.
      await client.ask({ ...watch, id: '2' });
      expect(held(client, '2')).toEqual([]);
    }
    await live.profiles.set('p2', { listed: true });
    for (const client of [other, anonymous])
      await eventually('the rows are others', () => held(client, '1').length === 3);
    await live.profiles.set('p2', { listed: false });
    await pause(300);
    for (const client of [itself, key]) expect(held(client, '1')).toEqual(['2 p3', '3 p2', '4 p1']);
    // Its own socket, once it is another's, is no way in.
    itself.send({ type: 'authenticate', token: await playerToken('p4') });
    await eventually('the rows are others', () => held(itself, '1').length === 0);
  });
});

describe('what changes while ranks are away', () => {
  const changes: [string, object, () => unknown, string[]][] = [
    ['a new friend', { channel: 'friends' }, () => live.friends.set('ada', ['bob']), ['1 1 bob', '2 2 ada']],
    ['a player hidden', { channel: 'player', around: 1 }, () => live.profiles.set('bob', { listed: false }), ['2 ada']],
  ];

  it.each(changes)('shows once they are back, although nothing else does: %s', async (_, channel, change, places) => {
    await (await live.writerOf('blitz')).write({ bob: 2, ada: 1 });
    const client = await connect(READ_KEY);
    await client.ask({ ...top('1'), limit: undefined, playerId: 'ada', ...channel });
    // A gateway that has just begun to listen looks at all players once: that must not come in between.
    await pause(400);
    await live.publisher.stop();
    live.projection.failure = new LadderError('PROJECTION_UNAVAILABLE', 'It is away.');
    const { pages } = live.projection;
    await change();
    await eventually('it was tried', () => live.projection.pages > pages);
    live.projection.failure = null;
    await eventually('it shows', () => held(client, '1').join() === places.join());
  });
});
