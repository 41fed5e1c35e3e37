// Real: HTTP server, WebSocket clients, gateway, publishers, sketches. In memory: ranks, snapshots, names.
import { describe, expect, it } from 'vitest';
import { eventually } from '../../../libs/realtime/test/boards.js';
import { placesOf, type LiveClient, type ServerFrame } from '../../../libs/realtime/test/follower.js';
import { keyLooks, playerToken, READ_KEY } from '../../../libs/realtime/test/live-app.js';
import { MemoryLive, topRequest as top } from '../../../libs/realtime/test/memory-live.js';

const live = new MemoryLive();
const PLAYERS = 500;

const watch = (id: string, playerId: string) => ({ ...top(id), channel: 'player', playerId, around: 2 });
const numbered = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`p${index}`, index]));
const lastOf = (client: LiveClient, id: string): ServerFrame =>
  client.frames.filter((frame) => frame.id === id).at(-1)!;

async function connect(exact: number, estimated = 100, headers = {}): Promise<LiveClient> {
  const { url } = await live.gateway({ watchedChannelsMax: exact, estimatedPlayersMax: estimated });
  return live.connect(url, ['ladder.v1'], { headers });
}

describe('a watched player beyond those that are kept exact', () => {
  it('has its own row, with an estimated rank that is no further off than it says', async () => {
    live.sketch(10);
    await (await live.writerOf('blitz')).write(numbered(PLAYERS));
    const client = await connect(1);
    const exact = await client.ask(watch('exact', 'p490'));
    expect(placesOf(exact.entries!)).toEqual(['8 p492', '9 p491', '10 p490', '11 p489', '12 p488']);
    expect(exact).not.toHaveProperty('accuracy');
    for (const at of [0, 7, 123, 250, 444, 499]) {
      const frame = await client.ask(watch(`p${at}`, `p${at}`));
      expect(frame).toMatchObject({ type: 'snapshot', accuracy: 'estimated', total: PLAYERS });
      expect(frame.entries!.map(({ playerId }) => playerId)).toEqual([`p${at}`]);
      expect(frame.errorBound).toBeLessThanOrEqual(PLAYERS / 10);
      expect(Math.abs(frame.entries![0]!.rank - (PLAYERS - at))).toBeLessThanOrEqual(frame.errorBound!);
    }
    // Who is watched exactly already is so for everyone.
    expect((await client.ask(watch('again', 'p490'))).entries).toHaveLength(5);
    const nobody = await client.ask(watch('nobody', 'nobody'));
    expect(nobody).toMatchObject({ entries: [], total: PLAYERS, accuracy: 'estimated', errorBound: 0 });
  });

  it('moves with the list, and ends where it stands when the list becomes quiet', async () => {
    live.sketch(1000);
    const writer = await live.writerOf('blitz');
    await writer.write(numbered(PLAYERS));
    const client = await connect(0);
    expect(placesOf((await client.ask(watch('1', 'p250'))).entries!)).toEqual(['250 p250']);
    for (let at = 0; at < 40; at += 1) await writer.write({ [`p${at}`]: 1000 + at });
    await eventually('the shifted rank', () => client.list('1').places().join() === '290 p250');
    await writer.write({ p250: 5000 });
    await eventually('the new rank', () => client.list('1').places().join() === '1 p250');
    expect(client.list('1')).toMatchObject({ gaps: 0, snapshots: 1, total: PLAYERS });
    const delta = lastOf(client, '1');
    expect(delta).toMatchObject({ type: 'delta', accuracy: 'estimated', errorBound: 0 });
  });

  it('is shown to itself, and to keys that read, alone where it is not listed', async () => {
    live.sketch(5);
    await (await live.writerOf('blitz')).write(numbered(20));
    await live.profiles.set('p5', { listed: false });
    const stranger = await connect(0);
    expect(await stranger.ask(watch('1', 'p5'))).toMatchObject({ entries: [], errorBound: 0 });
    keyLooks.set('a-key-that-only-writes', {
      state: 'valid',
      key: { keyId: 'w', name: 'w', scopes: ['scores:write'] },
      validForMs: null,
    });
    const writer = await connect(0, 100, { authorization: 'Bearer a-key-that-only-writes' });
    expect(await writer.ask(watch('1', 'p5'))).toMatchObject({ entries: [], errorBound: 0 });
    const reader = await connect(0, 100, { authorization: `Bearer ${READ_KEY}` });
    expect((await reader.ask(watch('1', 'p5'))).entries).toHaveLength(1);
    const own = await connect(0, 100, { authorization: `Bearer ${await playerToken('p5')}` });
    const { entries, errorBound } = await own.ask(watch('1', 'p5'));
    expect(errorBound).toBeGreaterThan(0);
    expect(Math.abs(entries![0]!.rank - 15)).toBeLessThanOrEqual(errorBound!);
  });

  it('is refused where no more can be estimated either', async () => {
    live.sketch(1000);
    const client = await connect(0, 1);
    expect(await client.ask(watch('1', 'ada'))).toMatchObject({ type: 'snapshot', accuracy: 'estimated' });
    expect((await client.ask(watch('2', 'bob'))).problem).toMatchObject({ code: 'SUBSCRIPTION_LIMIT' });
    client.send({ type: 'unsubscribe', id: '1' });
    expect(await client.ask(watch('3', 'bob'))).toMatchObject({ type: 'snapshot' });
  });
});
