// Real: HTTP server, WebSocket clients, gateway, publisher, time. In memory: ranks, standings, snapshots, windows.
import { describe, expect, it } from 'vitest';
import { eventually, ListWriter } from '../../../libs/realtime/test/boards.js';
import { placesOf, type LiveClient } from '../../../libs/realtime/test/follower.js';
import { READ_KEY } from '../../../libs/realtime/test/live-app.js';
import { MemoryLive } from '../../../libs/realtime/test/memory-live.js';

const live = new MemoryLive();
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const board = { order: 'desc' as const, operator: 'best' as const, push: { intervalMs: 20, top: 100 } };
const numbered = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`p${index}`, index]));
const held = (client: LiveClient, id: string): string[] => client.list(id).places();

async function connect(): Promise<LiveClient> {
  const headers = { authorization: `Bearer ${READ_KEY}` };
  return live.connect((await live.gateway()).url, ['ladder.v1'], { headers });
}

describe('a window that freezes', () => {
  const season = { season: 's1', startsAt: '2020-01-01T00:00:00Z', endsAt: '2999-01-01T00:00:00Z' };

  it('shows what stood then to everybody, in every channel, until it ends, and the truth again after that', async () => {
    live.boards.create('league', { ...board, windows: [season] });
    const names = { boardId: 'league', window: 'season:s1' };
    const { window, list } = await live.boards.resolver.resolve(names);
    const writer = await live.writerOf('league', { window: 'season:s1' });
    await writer.write(numbered(20));
    live.friends.set('p5', ['p0']);
    const client = await connect();
    const channels = {
      top: { channel: 'top', limit: 10 },
      range: { channel: 'range', offset: 10, limit: 10 },
      player: { channel: 'player', playerId: 'p5', around: 2 },
      friends: { channel: 'friends', playerId: 'p5' },
    };
    const ask = (id: string, channel: object, name = id) =>
      client.ask({ type: 'subscribe', id: name, board: 'league', window: 'season:s1', ...channel });
    for (const [id, channel] of Object.entries(channels)) await ask(id, channel);
    const ids = Object.keys(channels);
    const frozen = ids.map((id) => held(client, id));
    live.projection.keepEdition(list, 7);
    // A run of before the freeze that had not reached the projection.
    const run = { score: 18.5, achievedAtMs: 1 };
    await ListWriter.put(live.projection, { ...list, edition: 7 }, 'late', run, 1);
    // Windows are looked at once a second: all know of it well before.
    const freezeAtMs = Date.now() + 4000;
    live.boards.changeWindow(window.uid, { freezeAtMs });
    await pause(freezeAtMs - Date.now() + 50);
    // The standings are not written yet: nothing moves, and newcomers are told to come again.
    await writer.write({ p0: 100 });
    await pause(300);
    expect(ids.map((id) => held(client, id))).toEqual(frozen);
    expect((await ask('early', channels.range)).problem).toMatchObject({ code: 'PROJECTION_BEHIND' });
    live.boards.addEdition({
      uid: 7,
      windowUid: window.uid,
      kind: 'frozen',
      asOfMs: freezeAtMs,
      version: 1,
      number: 1,
    });
    await eventually('what had stood then', () => held(client, 'top')[1] === '2 late');
    await eventually('what had stood then', () => held(client, 'friends').join() === '1 16 p5,2 21 p0');
    await eventually('in all of them', () => ids.every((id, at) => held(client, id).join() !== frozen[at]!.join()));
    const asItStood = ids.map((id) => held(client, id));
    await writer.write({ p1: 200 });
    await pause(300);
    expect(ids.map((id) => held(client, id))).toEqual(asItStood);
    for (const [index, [id, channel]] of Object.entries(channels).entries()) {
      expect(placesOf((await ask(id, channel, `late ${id}`)).entries!)).toEqual(asItStood[index]);
    }
    live.boards.changeWindow(window.uid, { endsAtMs: Date.now() + 300 });
    await eventually('the truth', () => held(client, 'top')[0] === '1 p1' && held(client, 'top')[1] === '2 p0');
    await eventually('in all of them', () => held(client, 'friends').join() === '1 2 p0,2 17 p5');
    await eventually(
      'in all of them',
      () => held(client, 'range')[0] === '11 p11' && held(client, 'player')[2] === '17 p5',
    );
    for (const id of ids) expect(client.list(id)).toMatchObject({ snapshots: 1, gaps: 0 });
  });

  it('is read from its final standings once the projection lets it go, without a change that shows', async () => {
    const keepEndedSeconds = 3;
    live.boards.create('league', { ...board, windows: [season], graceSeconds: 0, keepEndedSeconds });
    const { window, list } = await live.boards.resolver.resolve({ boardId: 'league', window: 'season:s1' });
    await (await live.writerOf('league', { window: 'season:s1' })).write(numbered(20));
    const client = await connect();
    const ask = { type: 'subscribe', board: 'league', window: 'season:s1' };
    await client.ask({ ...ask, id: 'top', channel: 'top' });
    await client.ask({ ...ask, id: 'range', channel: 'range', offset: 10, limit: 5 });
    const before = ['top', 'range'].map((id) => client.list(id).text());
    const endsAtMs = Date.now() + 200;
    live.boards.changeWindow(window.uid, { endsAtMs });
    await pause(500);
    live.projection.keepEdition(list, 9);
    live.boards.addEdition({ uid: 9, windowUid: window.uid, kind: 'final', asOfMs: endsAtMs, version: 1, number: 1 });
    live.boards.changeWindow(window.uid, { state: 'settled' });
    // By the time its keys are gone nothing reads them any more.
    await pause(endsAtMs + keepEndedSeconds * 1000 - Date.now());
    await live.projection.drop(list);
    await pause(1500);
    expect(['top', 'range'].map((id) => client.list(id).text())).toEqual(before);
    const late = await connect();
    expect((await late.ask({ ...ask, id: 'range', channel: 'range', offset: 10, limit: 5 })).entries).toHaveLength(5);
  });

  it('is another when the operator moves its end or its freeze', async () => {
    live.boards.create('league', { ...board, windows: [season] });
    const names = { boardId: 'league', window: 'season:s1' };
    const { window, list } = await live.boards.resolver.resolve(names);
    const writer = await live.writerOf('league', { window: 'season:s1' });
    await writer.write(numbered(5));
    const client = await connect();
    await client.ask({ type: 'subscribe', id: '1', board: 'league', window: 'season:s1', channel: 'range', offset: 0 });
    live.projection.keepEdition(list, 3);
    live.boards.addEdition({
      uid: 3,
      windowUid: window.uid,
      kind: 'frozen',
      asOfMs: Date.now(),
      version: 1,
      number: 1,
    });
    live.boards.changeWindow(window.uid, { freezeAtMs: Date.now() - 1 });
    await writer.write({ p0: 100 });
    await pause(300);
    expect(held(client, '1')[0]).toBe('1 p4');
    live.boards.changeWindow(window.uid, { freezeAtMs: null });
    await eventually('it moves again', () => held(client, '1')[0] === '1 p0');
  });
});
