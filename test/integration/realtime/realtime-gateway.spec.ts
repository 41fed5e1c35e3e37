// Real: HTTP server, WebSocket clients, gateway, publisher. In memory: ranks and snapshots (the same over Redis in realtime-redis.spec.ts).
import { describe, expect, it } from 'vitest';
import { eventually } from '../../../libs/realtime/test/boards.js';
import { listText } from '../../../libs/realtime/test/follower.js';
import { playerToken } from '../../../libs/realtime/test/live-app.js';
import { MemoryLive, topRequest as top } from '../../../libs/realtime/test/memory-live.js';

const live = new MemoryLive();

describe('a subscription', () => {
  it('begins with the snapshot, at once, also on a list that nobody looked at before', async () => {
    await (await live.writerOf('blitz')).write({ ada: 10, bob: 20 });
    await live.publisher.stop();
    const client = await live.connect((await live.gateway()).url);
    const frame = await client.ask(top('1', 3));
    expect(frame).toMatchObject({ type: 'snapshot', id: '1', total: 2 });
    expect(frame.entries!.map(({ rank, playerId, score }) => [rank, playerId, score])).toEqual([
      [1, 'bob', 20],
      [2, 'ada', 10],
    ]);
    expect(frame.seq).toBeGreaterThan(1_700_000_000_000);
  });

  it('is served on a board that another process made a moment ago', async () => {
    const { url } = await live.gateway();
    live.boards.unheard.add('blitz');
    const client = await live.connect(url);
    expect(await client.ask(top('1'))).toMatchObject({ type: 'snapshot' });
    live.boards.unheard.add('blitz');
    expect(await client.ask({ ...top('2'), type: 'resume', seq: 1 })).toMatchObject({ type: 'snapshot' });
  });

  it('shows the present list when the stored snapshot is old', async () => {
    const writer = await live.writerOf('blitz');
    const first = await live.connect((await live.gateway()).url);
    await first.ask(top('1'));
    await first.close();
    await live.publisher.stop();
    await writer.write({ ada: 10 });
    const second = await live.connect(live.apps[0]!.url);
    expect((await second.ask(top('1'))).total).toBe(1);
  });

  it('hears of each change by a delta that names who was passed', async () => {
    const writer = await live.writerOf('blitz');
    await writer.write({ ada: 10, bob: 20 });
    const client = await live.connect((await live.gateway()).url);
    await client.ask(top('1'));
    await writer.write({ ada: 30 });
    const delta = await client.frame('a delta', (frame) => frame.type === 'delta');
    expect(delta.changes).toEqual([
      expect.objectContaining({
        playerId: 'ada',
        rank: 1,
        previousRank: 2,
        score: 30,
        previousScore: 10,
        passed: ['bob'],
      }),
      { playerId: 'bob', rank: 2, previousRank: 1 },
    ]);
    expect(delta.previousSeq).toBe(client.frames[0]!.seq);
  });

  it('ends with unsubscribe, and its list falls out of use with the last of them', async () => {
    const writer = await live.writerOf('blitz');
    const { url, gateway: rank } = await live.gateway();
    const client = await live.connect(url);
    await client.ask(top('1'));
    client.send({ type: 'unsubscribe', id: '1' });
    await eventually('no subscription is left', () => rank.stats().subscriptions === 0);
    const frames = client.frames.length;
    await writer.write({ ada: 30 });
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(client.frames).toHaveLength(frames);
  });

  it('of a player shows the neighbours, and a player without an entry once it gets one', async () => {
    const writer = await live.writerOf('blitz');
    await writer.write(Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`p${index}`, index])));
    const client = await live.connect((await live.gateway()).url);
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
    const writer = await live.writerOf('blitz');
    await writer.write({ ada: 10, bob: 20, cy: 5 });
    const first = await live.connect((await live.gateway()).url);
    await first.ask(top('1'));
    const { seq } = first.list('1');
    const rows = new Map(first.list('1').rows);
    await first.close();
    // Keeps the list in use, so that there are ticks to catch up with.
    const other = await live.connect((await live.gateway()).url);
    await other.ask(top('x'));
    await writer.write({ ada: 30 });
    await eventually('a tick', () => other.list('x').deltas === 1);
    await writer.write({ cy: null });
    await eventually('another tick', () => other.list('x').deltas === 2);

    const second = await live.connect(live.apps[1]!.url);
    second.list('1').seq = seq;
    second.list('1').rows = rows;
    const answer = await second.ask({ ...top('1'), type: 'resume', seq });
    expect(answer).toMatchObject({ type: 'delta', previousSeq: seq, seq: other.list('x').seq });
    expect(second.list('1').text()).toBe(other.list('x').text());

    expect(await second.ask({ ...top('1'), type: 'resume', seq: seq - 1 })).toMatchObject({
      type: 'snapshot',
      total: 2,
    });
    expect(await second.ask({ ...top('1'), type: 'resume', seq: seq + 10 ** 12 })).toMatchObject({ type: 'snapshot' });
    expect(await second.ask({ ...top('1'), type: 'resume', seq: other.list('x').seq })).toMatchObject({
      type: 'snapshot',
    });
    expect(live.apps[1]!.gateway.stats().subscriptions).toBe(2);
  });

  it('survives lost hints: the list is looked at all the same', async () => {
    const writer = await live.writerOf('blitz');
    const client = await live.connect((await live.gateway({ pollEveryMs: 100 })).url);
    await client.ask(top('1'));
    live.store.isDeaf = true;
    await writer.write({ ada: 30 });
    await eventually('the change arrives', () => client.list('1').rows.size === 1);
  });

  it('goes on with larger numbers after Redis lost everything', async () => {
    const writer = await live.writerOf('blitz');
    await writer.write({ ada: 1 });
    const client = await live.connect((await live.gateway({ pollEveryMs: 100 })).url);
    const { seq } = await client.ask(top('1'));
    const inUse = new Map(live.store.inUse);
    live.store.lose();
    for (const [key, use] of inUse) live.store.inUse.set(key, use);
    await writer.write({ bob: 2 });
    await eventually('the new history arrives', () => client.list('1').rows.size === 2);
    expect(client.list('1').seq).toBeGreaterThan(seq!);
    expect(client.list('1').snapshots).toBe(2);
  });
});

describe('a board that changes', () => {
  it('when deleted ends its subscriptions with BOARD_NOT_FOUND', async () => {
    const { url, gateway: rank } = await live.gateway();
    const client = await live.connect(url);
    await client.ask(top('1'));
    live.boards.delete('blitz');
    expect(await client.problem()).toMatchObject({ code: 'BOARD_NOT_FOUND', status: 404 });
    expect(rank.stats().subscriptions).toBe(0);
  });

  it('when reset gives its subscribers the new list, with a larger number', async () => {
    await (await live.writerOf('blitz')).write({ ada: 10 });
    const client = await live.connect((await live.gateway()).url);
    const { seq } = await client.ask(top('1'));
    await client.ask({ type: 'subscribe', id: '2', board: 'blitz', channel: 'player', playerId: 'ada' });
    live.boards.reset('blitz');
    await eventually('both lists are empty', () => ['1', '2'].every((id) => client.list(id).rows.size === 0));
    expect(client.list('1').seq).toBeGreaterThan(seq!);
    await (await live.writerOf('blitz')).write({ bob: 1 });
    await eventually('the new list lives', () => client.list('1').rows.has('bob'));
    expect(client.frames.some((frame) => frame.type === 'error')).toBe(false);
  });

  it('when made private ends the subscriptions of those who may not read it', async () => {
    const { url } = await live.gateway();
    const [anonymous, player] = [
      await live.connect(url),
      await live.connect(`${url}?token=${await playerToken('ada')}`),
    ];
    await anonymous.ask(top('1'));
    await player.ask(top('1'));
    live.boards.redefine('blitz', { visibility: 'private' });
    expect(await anonymous.problem()).toMatchObject({ code: 'UNAUTHENTICATED' });
    await (await live.writerOf('blitz')).write({ ada: 1 });
    await eventually('the player still hears', () => player.list('1').rows.size === 1);
    expect(anonymous.list('1').rows.size).toBe(0);
  });
});

describe('a connection', () => {
  it('that does not answer pings is ended', async () => {
    const { url, gateway: rank } = await live.gateway({ pingEveryMs: 500, sweepEveryMs: 20 });
    const alive = await live.connect(url);
    const dead = await live.connect(url, ['ladder.v1'], { autoPong: false });
    await eventually('the dead one is ended', () => dead.closed !== null);
    expect(dead.closed!.code).toBe(1006);
    await eventually('it is forgotten', () => rank.stats().sockets === 1);
    await new Promise((resolve) => setTimeout(resolve, 1200));
    expect(alive.closed).toBeNull();
  });

  it('is told to connect elsewhere when the gateway ends', async () => {
    const app = await live.gateway();
    const client = await live.connect(app.url);
    await client.ask(top('1'));
    await app.close();
    expect(client.closed).toMatchObject({ code: 1012 });
    live.apps = [];
  });

  it('beyond the most is told so', async () => {
    const { url } = await live.gateway({ socketsMax: 1 });
    await live.connect(url);
    const second = await live.connect(url);
    expect(await second.problem()).toMatchObject({ code: 'OVERLOADED' });
    await eventually('it is closed', () => second.closed !== null);
    expect(second.closed!.code).toBe(1013);
  });
});

describe('a reader that is too slow', () => {
  it('is not buffered without end, and gets a fresh snapshot when it can take one', async () => {
    const names = Array.from(
      { length: 100 },
      (_, index) => `player-with-a-rather-long-name-${'x'.repeat(80)}-${index}`,
    );
    const writer = await live.writerOf('blitz');
    await writer.write(Object.fromEntries(names.map((name, index) => [name, index])));
    const { url, gateway: rank } = await live.gateway({ behindBytes: 64 * 1024 });
    const [quick, slow] = [await live.connect(url), await live.connect(url)];
    await quick.ask(top('1', 100));
    for (let id = 0; id < 30; id += 1) await slow.ask(top(String(id), 100));
    const serverSide = [
      ...(rank as unknown as { sockets: Map<{ bufferedAmount: number }, unknown> }).sockets.keys(),
    ][1]!;
    slow.socket.pause();
    let bufferedMax = 0;
    for (let round = 1; rank.stats().dropped < 200 && round < 2000; round += 1) {
      await writer.write(Object.fromEntries(names.map((name, index) => [name, index + round * 1000])));
      await eventually('the quick one hears', () => quick.list('1').rows.get(names[0]!)?.score === round * 1000);
      bufferedMax = Math.max(bufferedMax, serverSide.bufferedAmount);
    }
    expect(rank.stats().dropped).toBeGreaterThanOrEqual(200);
    expect(rank.stats().resynchronised).toBe(0);
    expect(bufferedMax).toBeGreaterThan(64 * 1024);
    // The limit, and the frames of the tick in which it was passed.
    expect(bufferedMax).toBeLessThan(64 * 1024 + 30 * 35_000);
    const snapshotsBefore = slow.list('0').snapshots;
    slow.socket.resume();
    await eventually('the slow one is given the present', () => rank.stats().resynchronised >= 30);
    await eventually('it has it', () =>
      [...slow.lists.values()].every((list) => list.text() === quick.list('1').text()),
    );
    expect(slow.list('0').snapshots).toBe(snapshotsBefore + 1);
    expect([...slow.lists.values()].every((list) => list.gaps === 0)).toBe(true);
  });

  it('is ended when it stays behind', async () => {
    const writer = await live.writerOf('blitz');
    const { url, gateway: rank } = await live.gateway({ behindBytes: 1000, behindForMs: 100, sweepEveryMs: 20 });
    const slow = await live.connect(url);
    for (let id = 0; id < 50; id += 1) await slow.ask(top(String(id), 100));
    slow.socket.pause();
    const names = Array.from({ length: 100 }, (_, index) => `player-${'x'.repeat(100)}-${index}`);
    for (let round = 0; rank.stats().sockets === 1 && round < 1000; round += 1) {
      await writer.write(Object.fromEntries(names.map((name, index) => [name, index + round])));
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    expect(rank.stats()).toMatchObject({ sockets: 0, subscriptions: 0, terminated: 1 });
  });
});

describe('many subscribers', () => {
  it('cost one reading a tick, and all show the same', async () => {
    const writer = await live.writerOf('blitz');
    const { url } = await live.gateway();
    const readers = await Promise.all(Array.from({ length: 40 }, () => live.connect(url)));
    await Promise.all(readers.map((reader, index) => reader.ask(top(String(index % 3), 10))));
    const [reads, pages] = [live.store.deltaReads, live.projection.pages];
    await writer.write({ ada: 1 });
    await eventually('all hear', () =>
      readers.every((reader) => reader.frames.some((frame) => frame.type === 'delta')),
    );
    // One of each a tick, and not one for each of the readers.
    expect(live.store.deltaReads - reads).toBeLessThan(readers.length / 2);
    expect(live.projection.pages - pages).toBeLessThan(readers.length / 2);
    const texts = new Set(readers.map((reader, index) => reader.list(String(index % 3)).text()));
    expect([...texts]).toEqual([listText([...readers[0]!.list('0').rows.values()] as never, 1)]);
  });
});
