// Real: HTTP server, WebSocket clients, gateway, publisher. In memory: ranks and snapshots.
import { LadderError } from '@laddercast/domain';
import { describe, expect, it } from 'vitest';
import { eventually } from '../../../libs/realtime/test/boards.js';
import type { LiveClient, ServerFrame } from '../../../libs/realtime/test/follower.js';
import { MemoryLive, topRequest as top } from '../../../libs/realtime/test/memory-live.js';

const live = new MemoryLive();

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const asOfMs = ({ asOf }: ServerFrame): number => Date.parse(asOf!);
const lastAsOfMs = ({ pings }: LiveClient): number => asOfMs(pings.at(-1)!);

/** Waits for so many more pings, and gives them. */
async function nextPings(client: LiveClient, count: number): Promise<ServerFrame[]> {
  const from = client.pings.length;
  await eventually(`${count} more pings`, () => client.pings.length >= from + count);
  return client.pings.slice(from);
}

describe('a ping', () => {
  it('comes every so often to each socket, also to one that follows nothing, and says no more than asOf', async () => {
    const { url } = await live.gateway({ aliveEveryMs: 200 });
    const client = await live.connect(url);
    const beganAtMs = Date.now();
    const pings = await nextPings(client, 5);
    const tookMs = Date.now() - beganAtMs;
    // The first within an interval, then one an interval.
    expect(tookMs).toBeGreaterThan(700);
    expect(tookMs).toBeLessThan(3000);
    for (const ping of pings) expect(Object.keys(ping)).toEqual(['type', 'asOf']);
    expect(asOfMs(pings.at(-1)!) - asOfMs(pings[0]!)).toBeGreaterThan(700);
    expect(client.frames).toEqual([]);
  });

  it('tells a quiet list from a dead connection: asOf grows though nothing changes', async () => {
    await (await live.writerOf('blitz')).write({ ada: 1 });
    const { url } = await live.gateway({ aliveEveryMs: 100, pollEveryMs: 100 });
    const client = await live.connect(url);
    const { asOf } = await client.ask(top('1'));
    await eventually('the list is known as of later', () => (client.pings.at(-1)?.asOf ?? '') > asOf!);
    const before = lastAsOfMs(client);
    await eventually('and as of later than that', () => lastAsOfMs(client) > before);
    expect(lastAsOfMs(client)).toBeLessThanOrEqual(Date.now());
    expect(client.frames.filter(({ type }) => type === 'delta')).toEqual([]);
  });

  it('says that a quiet list which is watched again is known as of now', async () => {
    await (await live.writerOf('blitz')).write({ ada: 1 });
    const { url } = await live.gateway({ aliveEveryMs: 100, pollEveryMs: 60_000 });
    const first = await live.connect(url);
    await first.ask(top('1'));
    first.send({ type: 'unsubscribe', id: '1' });
    await sleep(1500);
    const again = await live.connect(url);
    const askedAtMs = Date.now();
    await again.ask(top('1'));
    for (const ping of await nextPings(again, 2)) expect(asOfMs(ping)).toBeGreaterThanOrEqual(askedAtMs);
  });

  it('is never as of before the last frame of what the socket follows', async () => {
    const writer = await live.writerOf('blitz');
    const { url } = await live.gateway({ aliveEveryMs: 50 });
    const client = await live.connect(url);
    await client.ask(top('1'));
    for (let score = 1; score <= 20; score += 1) {
      await writer.write({ ada: score });
      await eventually('it is told', () => client.list('1').rows.get('ada')?.score === score);
      const { asOf } = client.frames.at(-1)!;
      const [ping] = (await nextPings(client, 2)).slice(1);
      expect(ping!.asOf! >= asOf!).toBe(true);
    }
  });

  it('goes on while ranks are away, and then says as of when they were known', async () => {
    await (await live.writerOf('blitz')).write({ ada: 1 });
    const { url } = await live.gateway({ aliveEveryMs: 100, pollEveryMs: 100 });
    const [client, other] = [await live.connect(url), await live.connect(url)];
    await client.ask(top('1'));
    await eventually('the list is known', () => client.pings.length > 0);
    live.projection.failure = new LadderError('PROJECTION_UNAVAILABLE', 'It is away.');
    const awaySinceMs = Date.now();
    await sleep(2500);
    const pings = await nextPings(client, 3);
    for (const ping of pings) expect(asOfMs(ping)).toBeLessThanOrEqual(awaySinceMs);
    // Of a socket that follows no list nothing is away.
    expect(lastAsOfMs(other)).toBeGreaterThan(awaySinceMs);
    live.projection.failure = null;
    await eventually('the list is known again', () => lastAsOfMs(client) > awaySinceMs);
  });

  it('does not say that a list is as it was told while changes of it are not told', async () => {
    const writer = await live.writerOf('blitz');
    await writer.write({ ada: 1 });
    const { url } = await live.gateway({ aliveEveryMs: 100, pollEveryMs: 100 });
    const client = await live.connect(url);
    await client.ask(top('1'));
    await live.publisher.stop();
    await writer.write({ ada: 2 });
    const changedAtMs = Date.now();
    await sleep(2500);
    for (const ping of await nextPings(client, 3)) expect(asOfMs(ping)).toBeLessThanOrEqual(changedAtMs);
    expect(client.list('1').rows.get('ada')!.score).toBe(1);
    live.publisher.start();
    await eventually('it is told', () => client.list('1').rows.get('ada')!.score === 2);
    await eventually('and known', () => lastAsOfMs(client) > changedAtMs);
  });

  it('does not say that watched rows are as they were told while they cannot be read anew', async () => {
    const writer = await live.writerOf('blitz');
    await writer.write({ ada: 1 });
    const { url } = await live.gateway({ aliveEveryMs: 100, pollEveryMs: 100 });
    const [watcher, reader] = [await live.connect(url), await live.connect(url)];
    await watcher.ask({ ...top('1'), channel: 'player', playerId: 'ada', around: 1 });
    await reader.ask(top('1'));
    const readPlayer = live.projection.player;
    live.projection.player = () => Promise.reject(new LadderError('PROJECTION_UNAVAILABLE', 'It is away.'));
    await writer.write({ ada: 2 });
    const changedAtMs = Date.now();
    await sleep(2500);
    for (const ping of await nextPings(watcher, 3)) expect(asOfMs(ping)).toBeLessThanOrEqual(changedAtMs);
    expect(watcher.list('1').rows.get('ada')!.score).toBe(1);
    // The first places are read without it.
    expect(reader.list('1').rows.get('ada')!.score).toBe(2);
    await eventually('they are known', () => lastAsOfMs(reader) > changedAtMs);
    live.projection.player = readPlayer;
    await eventually('it is told', () => watcher.list('1').rows.get('ada')!.score === 2);
    await eventually('and known', () => lastAsOfMs(watcher) > changedAtMs);
  });

  it('is not written to all sockets at one moment', async () => {
    const { url } = await live.gateway({ aliveEveryMs: 2000 });
    const clients = await Promise.all(Array.from({ length: 50 }, () => live.connect(url)));
    const at = new Map<LiveClient, number>();
    for (const client of clients) client.socket.on('message', () => at.set(client, at.get(client) ?? Date.now()));
    await eventually('each has its first', () => at.size === clients.length, 6000);
    const times = [...at.values()];
    expect(Math.max(...times) - Math.min(...times)).toBeGreaterThan(1000);
  });

  it('is not buffered for a reader that is behind', async () => {
    const writer = await live.writerOf('blitz');
    const options = { aliveEveryMs: 50, behindBytes: 64 * 1024 };
    const { url, gateway: rank } = await live.gateway(options);
    const slow = await live.connect(url);
    for (let id = 0; id < 30; id += 1) await slow.ask(top(String(id), 100));
    const sockets = (rank as unknown as { sockets: Map<{ bufferedAmount: number }, unknown> }).sockets;
    const serverSide = [...sockets.keys()][0]!;
    slow.socket.pause();
    const names = Array.from({ length: 100 }, (_, index) => `player-${'x'.repeat(100)}-${index}`);
    for (let round = 1; rank.stats().dropped < 100 && round < 2000; round += 1) {
      await writer.write(Object.fromEntries(names.map((name, index) => [name, index + round * 1000])));
      await sleep(25);
    }
    expect(rank.stats().dropped).toBeGreaterThanOrEqual(100);
    await sleep(300);
    const [unsent, sent] = [serverSide.bufferedAmount, rank.stats().framesSent];
    await sleep(1000);
    expect(serverSide.bufferedAmount).toBe(unsent);
    expect(rank.stats().framesSent).toBe(sent);
    slow.socket.resume();
    const before = slow.pings.length;
    await eventually('it is pinged again once it has read', () => slow.pings.length > before + 1);
  });
});
