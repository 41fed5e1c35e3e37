// Real: HTTP server, WebSocket clients, gateway, publisher. In memory: ranks and snapshots.
import type { LiveFeeds } from '@laddercast/realtime';
import { describe, expect, it } from 'vitest';
import { eventually } from '../../libs/realtime/test/boards.js';
import { playerToken, READ_KEY, revokedKeys } from '../../libs/realtime/test/live-app.js';
import { MemoryLive, topRequest as top } from '../../libs/realtime/test/memory-live.js';

const live = new MemoryLive();

/** Makes every list hang while its first snapshot is read. */
function holdOpening(): { isOpening: () => boolean; open: () => void } {
  let open = (): void => undefined;
  let isOpening = false;
  const held = new Promise<void>((resolve) => (open = resolve));
  live.projection.beforePage = () => {
    isOpening = true;
    return held;
  };
  return { isOpening: () => isOpening, open: () => open() };
}

describe('a board that changes while its list is opened', () => {
  async function clientThatWaits() {
    const { url, gateway: rank } = await live.gateway();
    const { feeds } = rank as unknown as { feeds: LiveFeeds };
    await live.publisher.stop();
    const { isOpening, open } = holdOpening();
    const client = await live.connect(url);
    client.send(top('1'));
    await eventually('the list is being opened', isOpening);
    expect(feeds.all()).toHaveLength(1);
    return { client, feeds, rank, open };
  }

  it('leaves nothing behind when it is deleted', async () => {
    const { client, feeds, rank, open } = await clientThatWaits();
    live.boards.delete('blitz');
    open();
    expect(await client.problem()).toMatchObject({ code: 'BOARD_NOT_FOUND' });
    expect(feeds.all()).toHaveLength(0);
    expect(rank.stats().subscriptions).toBe(0);
  });

  it('is shown to nobody who may not read it when it is made private', async () => {
    const { client, feeds, open } = await clientThatWaits();
    live.boards.redefine('blitz', { visibility: 'private' });
    open();
    expect(await client.problem()).toMatchObject({ code: 'UNAUTHENTICATED' });
    expect(client.list('1').snapshots).toBe(0);
    expect(feeds.all()).toHaveLength(0);
  });

  it('gives the new list when it is reset', async () => {
    const { client, feeds, open } = await clientThatWaits();
    const { uid } = live.boards.reset('blitz');
    open();
    expect(await client.frame('a snapshot', (frame) => frame.type === 'snapshot')).toMatchObject({ total: 0 });
    expect(feeds.all().map((feed) => feed.resolved.board.uid)).toEqual([uid]);
  });
});

describe('a window that ends', () => {
  it('is by a name that moves on resumed by a snapshot: its rows may be of the window before', async () => {
    live.boards.create('days', {
      order: 'desc',
      operator: 'best',
      windows: ['daily'],
      push: { intervalMs: 20, top: 100 },
    });
    const { window } = await live.boards.resolver.resolve('days', 'daily');
    const keeper = await live.connect((await live.gateway()).url);
    const ask = { type: 'subscribe', board: 'days', channel: 'top' };
    const { seq } = await keeper.ask({ ...ask, id: 'k' });
    await (await live.writerOf('days', 'daily')).write({ ada: 30 });
    await eventually('a tick', () => keeper.list('k').deltas === 1);

    const client = await live.connect(live.apps[0]!.url);
    const resume = { ...ask, type: 'resume', seq };
    expect(await client.ask({ ...resume, id: '1', window: 'daily' })).toMatchObject({ type: 'snapshot', total: 1 });
    expect(await client.ask({ ...resume, id: '2' })).toMatchObject({ type: 'snapshot', total: 1 });
    expect(await client.ask({ ...resume, id: '3', window: window.id })).toMatchObject({
      type: 'delta',
      previousSeq: seq,
    });
  });

  it('is told once that its window closed, also when it begins or is resumed after that', async () => {
    const day = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
    const board = live.boards.create('daily', { order: 'desc', operator: 'best', windows: ['daily'], graceSeconds: 0 });
    const startsAtMs = Date.parse(`${day}T00:00:00Z`);
    const bounds = { kind: 'daily' as const, id: `daily:${day}`, startsAtMs, endsAtMs: startsAtMs + 86_400_000 };
    await (
      live.boards.resolver as unknown as { windows: { ensure: (uid: number, w: typeof bounds) => Promise<void> } }
    ).windows.ensure(board.uid, bounds);
    const client = await live.connect((await live.gateway({ sweepEveryMs: 50 })).url);
    await client.ask({ type: 'subscribe', id: 'd', board: 'daily', window: `daily:${day}`, channel: 'top' });
    await client.frame('window-closed', (frame) => frame.type === 'window-closed' && frame.window === `daily:${day}`);
    const player = { type: 'subscribe', board: 'daily', window: `daily:${day}`, channel: 'player', playerId: 'ada' };
    await client.ask({ ...player, id: 'p' });
    await client.ask({ type: 'subscribe', id: 't', board: 'daily', window: `daily:${day}`, channel: 'top' });
    const { seq } = client.list('d');
    await client.ask({ type: 'resume', id: 'd', seq, board: 'daily', window: `daily:${day}`, channel: 'top' });
    await new Promise((resolve) => setTimeout(resolve, 200));
    const told = client.frames.filter((frame) => frame.type === 'window-closed').map(({ id }) => id);
    expect(told).toEqual(['d', 'p', 't', 'd']);
  });
});

it('a socket that was given a player is not ended with the API key that it had before', async () => {
  const { url } = await live.gateway({ keyCheckEveryMs: 200, sweepEveryMs: 20 });
  const client = await live.connect(url, ['ladder.v1'], { headers: { authorization: `Bearer ${READ_KEY}` } });
  const { isOpening, open } = holdOpening();
  client.send({ type: 'subscribe', id: '1', board: 'club', channel: 'top' });
  client.send({ type: 'authenticate', token: await playerToken('ada') });
  await eventually('the socket is busy', isOpening);
  // Long enough for a check of the key to wait behind the renewal, and for the key not to be remembered any more.
  await new Promise((resolve) => setTimeout(resolve, 1500));
  revokedKeys.add(READ_KEY);
  open();
  await client.frame('the snapshot', (frame) => frame.type === 'snapshot');
  await new Promise((resolve) => setTimeout(resolve, 500)).finally(() => revokedKeys.clear());
  expect(client.closed).toBeNull();
});

it('the worst readers are ended when all sockets together have too much unsent', async () => {
  const names = Array.from({ length: 100 }, (_, index) => `player-${'x'.repeat(100)}-${index}`);
  const writer = await live.writerOf('blitz');
  const { url, gateway: rank } = await live.gateway({ unsentBytesMax: 100_000, sweepEveryMs: 20 });
  const [quick, slow, slowest] = [await live.connect(url), await live.connect(url), await live.connect(url)];
  await quick.ask(top('1', 100));
  await slow.ask(top('1', 10));
  for (let id = 0; id < 50; id += 1) await slowest.ask(top(String(id), 100));
  slow.socket.pause();
  slowest.socket.pause();
  for (let round = 1; rank.stats().sockets === 3 && round < 500; round += 1) {
    await writer.write(Object.fromEntries(names.map((name, index) => [name, index + round * 1000])));
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  expect(rank.stats()).toMatchObject({ sockets: 2, subscriptions: 2, terminated: 1 });
  await eventually('the slow one is still served', () => {
    slow.socket.resume();
    return slow.list('1').text() === quick.list('1').text().split('\n').slice(0, 11).join('\n');
  });
});
