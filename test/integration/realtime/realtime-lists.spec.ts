// Real: HTTP server, WebSocket clients, gateway, publisher. In memory: ranks and snapshots.
import type { LiveFeeds } from '@laddercast/realtime';
import { describe, expect, it } from 'vitest';
import type { StoredWindow } from '@laddercast/domain';
import { eventually } from '../../../libs/realtime/test/boards.js';
import type { LiveClient } from '../../../libs/realtime/test/follower.js';
import { playerToken, READ_KEY, revokedKeys } from '../../../libs/realtime/test/live-app.js';
import { MemoryLive, topRequest as top } from '../../../libs/realtime/test/memory-live.js';

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

  it.each([[{}], [{ fields: ['player'] }]])('is shown in its new style of ranks (asked for with %j)', async (more) => {
    const { url } = await live.gateway();
    await live.publisher.stop();
    await (await live.writerOf('blitz')).write({ ada: 5, bob: 5 });
    const { isOpening, open } = holdOpening();
    const client = await live.connect(url);
    client.send({ ...top('1'), ...more });
    await eventually('the list is being opened', isOpening);
    live.boards.redefine('blitz', { rankStyle: 'competition' });
    open();
    await eventually('the style', () => client.list('1').places().join() === '1 ada,1 bob');
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
    const { window } = await live.boards.resolver.resolve({ boardId: 'days', window: 'daily' });
    const keeper = await live.connect((await live.gateway()).url);
    const ask = { type: 'subscribe', board: 'days', channel: 'top' };
    const { seq } = await keeper.ask({ ...ask, id: 'k' });
    await (await live.writerOf('days', { window: 'daily' })).write({ ada: 30 });
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

  /** A board with a day that ended yesterday. */
  function yesterday(state: StoredWindow['state'], graceSeconds = 0): StoredWindow {
    const day = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
    const board = live.boards.create('daily', { order: 'desc', operator: 'best', windows: ['daily'], graceSeconds });
    const startsAtMs = Date.parse(`${day}T00:00:00Z`);
    const endsAtMs = startsAtMs + 86_400_000;
    return live.boards.addWindow(board.uid, {
      kind: 'daily',
      id: `daily:${day}`,
      startsAtMs,
      endsAtMs,
      freezeAtMs: null,
      state,
    });
  }
  const closings = (client: LiveClient) =>
    client.frames.filter((frame) => frame.type === 'window-closed').map(({ id }) => id);

  it('is told once that its window closed, when that is announced, and to those who come after that', async () => {
    const { uid, id } = yesterday('closed');
    const client = await live.connect((await live.gateway()).url);
    const day = { type: 'subscribe', board: 'daily', window: id };
    await client.ask({ ...day, id: 'd', channel: 'top' });
    await client.ask({ ...day, id: 'r', channel: 'range', offset: 0 });
    await new Promise((resolve) => setTimeout(resolve, 200));
    // Its end is not its closing: the final standings are not written yet.
    expect(closings(client)).toEqual([]);
    live.boards.changeWindow(uid, { state: 'settled' });
    for (let times = 0; times < 2; times += 1) {
      await live.announcements.announce({ kind: 'window-closed', boardUid: 0, windowUid: uid });
    }
    await client.frame('window-closed', (frame) => frame.type === 'window-closed' && frame.window === id);
    await client.ask({ ...day, id: 'p', channel: 'player', playerId: 'ada' });
    await client.ask({ ...day, id: 't', channel: 'top' });
    const { seq } = client.list('d');
    await client.ask({ ...day, type: 'resume', id: 'd', seq, channel: 'top' });
    await eventually('each is told', () => closings(client).length >= 5);
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(closings(client)).toEqual(['d', 'r', 'p', 't', 'd']);
  });

  it('is told of a window that had closed before, and of one whose announcement was lost', async () => {
    const client = await live.connect((await live.gateway()).url);
    const { uid, id } = yesterday('closed');
    await client.ask({ type: 'subscribe', id: '1', board: 'daily', window: id, channel: 'top' });
    live.boards.changeWindow(uid, { state: 'settled' });
    live.announcements.tell(null);
    await eventually('it is told after a reconnect', () => closings(client).length === 1);
    const another = await live.connect((await live.gateway()).url);
    await another.ask({ type: 'subscribe', id: '2', board: 'daily', window: id, channel: 'top' });
    await eventually('it is told at once', () => closings(another).length === 1, 4000);
  });

  it('is told of a closing without any announcement, some seconds later', async () => {
    const client = await live.connect((await live.gateway()).url);
    const { uid, id } = yesterday('closed');
    await client.ask({ type: 'subscribe', id: '1', board: 'daily', window: id, channel: 'top' });
    live.boards.changeWindow(uid, { state: 'settled' });
    await eventually('it is told', () => closings(client).length === 1);
  });

  it('is told of one that an operator ended before its grace was over, and whose announcement came before it asked', async () => {
    const client = await live.connect((await live.gateway()).url);
    const { uid, id } = yesterday('closed', 2 * 86_400);
    await client.ask({ type: 'subscribe', id: '1', board: 'daily', window: id, channel: 'top' });
    live.boards.changeWindow(uid, { state: 'settled' });
    await eventually('it is told', () => closings(client).length === 1);
  });

  it('is told once also in a scope without a score, and a name that moves on stays on it until then', async () => {
    const { url } = await live.gateway({ sweepEveryMs: 50 });
    const board = live.boards.create('eu', {
      ...{ order: 'desc', operator: 'best', graceSeconds: 0 },
      ...{ windows: ['daily'], scopes: ['global', 'region'] },
    });
    const { window: day } = await live.boards.resolver.resolve({ boardId: 'eu', window: 'daily' });
    const client = await live.connect(url);
    const ask = { type: 'subscribe', board: 'eu', channel: 'top', scope: 'region:EU' };
    await client.ask({ ...ask, id: 'd', window: 'daily' });
    await client.ask({ ...ask, id: 'f', window: day.id });
    await client.ask({ ...ask, id: 'other', window: day.id, scope: 'region:US' });
    // An operator closes it, and the next one begins.
    const endsAtMs = Date.now();
    const next = { kind: 'daily', id: 'daily:2100-01-01', freezeAtMs: null, state: 'open' } as const;
    live.boards.changeWindow(day.uid, { endsAtMs, state: 'closed' });
    live.boards.addWindow(board.uid, { ...next, startsAtMs: endsAtMs, endsAtMs: endsAtMs + 86_400_000 });
    live.boards.changeWindow(day.uid, { state: 'settled' });
    await live.announcements.announce({ kind: 'window-closed', boardUid: board.uid, windowUid: day.uid });
    await new Promise((resolve) => setTimeout(resolve, 4000));
    expect(closings(client).sort()).toEqual(['d', 'f', 'other']);
    expect(client.frames.filter(({ type }) => type === 'snapshot')).toHaveLength(3);
  });

  it('is told once where it was over before anybody played in it, and is remembered of nobody', async () => {
    const { url, gateway } = await live.gateway({ sweepEveryMs: 50 });
    const [startsAt, endsAt] = [20, 10].map((days) => new Date(Date.now() - days * 86_400_000).toISOString());
    const seasons = ['s1', 's2'].map((season) => ({ season, startsAt: startsAt!, endsAt: endsAt! }));
    live.boards.create('seasons', { order: 'desc', operator: 'best', windows: ['alltime', ...seasons] });
    const [one, two] = [await live.connect(url), await live.connect(url)];
    const ask = { type: 'subscribe', id: '1', board: 'seasons', channel: 'top' };
    await Promise.all([one.ask({ ...ask, window: 'season:s1' }), two.ask({ ...ask, window: 'season:s2' })]);
    await new Promise((resolve) => setTimeout(resolve, 4000));
    const told = [one, two].map(({ frames }) => frames.filter(({ type }) => type === 'window-closed'));
    expect(told).toEqual([
      [{ type: 'window-closed', id: '1', window: 'season:s1' }],
      [{ type: 'window-closed', id: '1', window: 'season:s2' }],
    ]);
    const { unusedScopes } = gateway['subscriptions'] as unknown as { unusedScopes: { names: string[] } };
    expect(unusedScopes.names).toEqual([]);
  });

  it('is followed by the next one when the client subscribes by the running name again', async () => {
    const board = live.boards.create('rounds', { order: 'desc', operator: 'best', windows: [{ cron: '* * * * *' }] });
    const now = Date.now();
    const bounds = { kind: 'cron' as const, freezeAtMs: null };
    const [old, next] = [
      { ...bounds, id: 'cron:20200101T0000Z', startsAtMs: now - 1000, endsAtMs: now + 3000 },
      { ...bounds, id: 'cron:20200101T0001Z', startsAtMs: now + 3000, endsAtMs: now + 60_000 },
    ].map((window) => live.boards.addWindow(board.uid, { ...window, state: 'open' }));
    const running = (): string => (Date.now() < old!.endsAtMs! ? old!.id : next!.id);
    const client = await live.connect((await live.gateway()).url);
    const ask = { type: 'subscribe', id: '1', board: 'rounds', channel: 'top' };
    await client.ask({ ...ask, window: running() });
    await (await live.writerOf('rounds', { window: old!.id })).write({ ada: 1 });
    await eventually('a delta', () => client.list('1').rows.has('ada'));
    await eventually('the next one runs', () => running() === next!.id);
    live.boards.changeWindow(old!.uid, { state: 'settled' });
    await live.announcements.announce({ kind: 'window-closed', boardUid: board.uid, windowUid: old!.uid });
    await client.frame('window-closed', (frame) => frame.window === old!.id);
    // The subscription stays on its window.
    await (await live.writerOf('rounds', { window: next!.id })).write({ bob: 1 });
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect([...client.list('1').rows.keys()]).toEqual(['ada']);
    client.send({ type: 'unsubscribe', id: '1' });
    expect(await client.ask({ ...ask, window: running() })).toMatchObject({ type: 'snapshot', total: 1 });
    expect([...client.list('1').rows.keys()]).toEqual(['bob']);
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
