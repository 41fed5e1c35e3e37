// Real: a gateway process, its HTTP server and WebSockets. Ranks, names, sanctions and own entries are in memory, so that each
// step of a sanction comes when the test says so.
import type { SanctionInForce } from '@laddercast/domain';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { eventually, type ListWriter } from '../../../libs/realtime/test/boards.js';
import type { LiveClient } from '../../../libs/realtime/test/follower.js';
import { playerToken } from '../../../libs/realtime/test/live-app.js';
import { MemoryLive, topRequest } from '../../../libs/realtime/test/memory-live.js';

const live = new MemoryLive();
const SHADOW: SanctionInForce = { kind: 'shadow', boards: null, untilMs: null, publicReason: null };
const WITH_ADA = ['1 bob', '2 ada', '3 cy'];
const WITHOUT = ['1 bob', '2 cy'];

const ownEntry = (score: number, version: number, unranked: boolean) => ({
  ...{ score, columns: [], achievedAtMs: 1_700_000_000_000, metadata: null, version, unranked },
});
const requests = [
  topRequest('top', 10),
  { type: 'subscribe', id: 'range', board: 'blitz', channel: 'range', offset: 0, limit: 10 },
  { type: 'subscribe', id: 'player', board: 'blitz', channel: 'player', playerId: 'ada', around: 5 },
];
const IDS = requests.map(({ id }) => id);

/** A client with three views of the whole list; with `url` that of a gateway that runs already. */
async function watcher(token: string | null, url: string): Promise<LiveClient> {
  const client = await live.connect(url, token === null ? ['ladder.v1'] : ['ladder.v1', `bearer.${token}`]);
  for (const request of requests) expect(await client.ask(request)).toMatchObject({ type: 'snapshot' });
  return client;
}
const shows = (client: LiveClient, places: string[], ids = IDS) =>
  eventually(`all show ${places.join()}`, () => ids.every((id) => client.list(id).places().join() === places.join()));
/** Whether some state that the client went through lacked ada. */
const lostAda = (client: LiveClient): boolean =>
  IDS.some((id) => [...client.list(id).states.values()].some((state) => !state.includes('"playerId":"ada"')));

async function start(): Promise<{ mine: LiveClient; anyone: LiveClient; writer: ListWriter; url: string }> {
  const { url } = await live.gateway();
  const writer = await live.writerOf('blitz');
  await writer.write({ bob: 9, ada: 7, cy: 5 });
  live.own.entries.set('ada', ownEntry(7, 2, false));
  const [mine, anyone] = [await watcher(await playerToken('ada'), url), await watcher(null, url)];
  await shows(mine, WITH_ADA);
  // A gateway that has just begun to listen looks at all players once: that must not come in between.
  await sleep(400);
  return { mine, anyone, writer, url };
}
const announce = () => live.announcements.announce({ kind: 'players', ids: ['ada'], isGuild: false });

describe("a shadowed player's own socket", () => {
  it('does not see itself go, also where the list loses it before any announcement', async () => {
    const { mine, anyone, writer } = await start();
    live.profiles.sanctions.set('ada', SHADOW);
    live.own.entries.set('ada', ownEntry(7, 10, true));
    await writer.write({ ada: null });
    await shows(anyone, WITHOUT, ['top', 'range']);
    await writer.write({ dan: 1 });
    await shows(mine, [...WITH_ADA, '4 dan']);
    await shows(anyone, [...WITHOUT, '3 dan'], ['top', 'range']);
    expect(lostAda(mine)).toBe(false);
    expect(mine.list('top').total).toBe(4);
    expect(anyone.list('top').total).toBe(3);
    expect(anyone.list('player').places()).toEqual([]);
  });

  it('does not see itself go, nor twice, where the announcement comes before the list follows, and after a lift', async () => {
    const { mine, anyone, writer } = await start();
    live.profiles.sanctions.set('ada', SHADOW);
    live.own.entries.set('ada', ownEntry(7, 10, true));
    await announce();
    await eventually('its lists are its own', () => IDS.every((id) => mine.list(id).snapshots === 2));
    await writer.write({ ada: null });
    await shows(anyone, WITHOUT, ['top', 'range']);
    // What it scores meanwhile shows to itself, though nothing tells of it.
    live.own.entries.set('ada', ownEntry(10, 11, true));
    await shows(mine, ['1 ada', '2 bob', '3 cy']);
    const frames = anyone.frames.length;
    live.profiles.sanctions.delete('ada');
    live.own.entries.set('ada', ownEntry(10, 12, false));
    await announce();
    await writer.write({ dan: 1 });
    await shows(mine, ['1 ada', '2 bob', '3 cy', '4 dan']);
    expect(anyone.list('top').places()).toEqual([...WITHOUT, '3 dan']);
    await writer.write({ ada: 10 });
    await eventually('its lists are those of all', () => IDS.every((id) => mine.list(id).snapshots === 3));
    await shows(anyone, ['1 ada', '2 bob', '3 cy', '4 dan']);
    await shows(mine, ['1 ada', '2 bob', '3 cy', '4 dan']);
    expect(lostAda(mine)).toBe(false);
    for (const id of IDS) expect(mine.list(id).gaps).toBe(0);
    expect(frames).toBeGreaterThan(0);
  });

  it('does not see itself go where it is shadowed again while its socket goes back to the list of all', async () => {
    const { mine, anyone, writer } = await start();
    live.profiles.sanctions.set('ada', SHADOW);
    live.own.entries.set('ada', ownEntry(7, 10, true));
    await writer.write({ ada: null });
    await shows(anyone, WITHOUT, ['top', 'range']);
    await writer.write({ ada: 7 });
    await eventually('the list has it, and shows it to nobody', () => anyone.list('top').total === 3);
    // The reading that makes sure that the list has it is held up.
    const openReads = live.store.holdReads();
    live.profiles.sanctions.delete('ada');
    live.own.entries.set('ada', ownEntry(7, 11, false));
    await announce();
    // By now it was found in the list, which is to be read once more.
    await sleep(200);
    live.profiles.sanctions.set('ada', SHADOW);
    live.own.entries.set('ada', ownEntry(7, 12, true));
    await writer.write({ ada: null });
    openReads();
    await writer.write({ dan: 1 });
    await shows(mine, [...WITH_ADA, '4 dan']);
    await shows(anyone, [...WITHOUT, '3 dan'], ['top', 'range']);
    expect(lostAda(mine)).toBe(false);
  });

  it('sends nothing to others where only its own entry changes', async () => {
    const { mine, anyone, writer } = await start();
    live.profiles.sanctions.set('ada', SHADOW);
    live.own.entries.set('ada', ownEntry(7, 10, true));
    await writer.write({ ada: null });
    await shows(mine, WITH_ADA);
    await shows(anyone, WITHOUT, ['top', 'range']);
    const frames = anyone.frames.length;
    live.own.entries.set('ada', ownEntry(4, 11, true));
    await shows(mine, ['1 bob', '2 cy', '3 ada']);
    expect(anyone.frames).toHaveLength(frames);
  });

  it('is refused beyond as many sockets as a gateway serves so, in the words that anybody gets', async () => {
    live.profiles.sanctions.set('ada', SHADOW);
    live.own.entries.set('ada', ownEntry(7, 10, true));
    const { url } = await live.gateway({ shadowSocketsMax: 1 });
    const first = await watcher(await playerToken('ada'), url);
    const second = await live.connect(url, ['ladder.v1', `bearer.${await playerToken('ada')}`]);
    const refused = (await second.ask(topRequest('top', 10))).problem!;
    expect(refused).toMatchObject({ code: 'SUBSCRIPTION_LIMIT' });
    expect(JSON.stringify(refused)).not.toMatch(/shadow|sanction/i);
    await first.close();
    await eventually('there is room again', async () => (await second.ask(topRequest('top', 10))).type === 'snapshot');
  });

  it('takes no room once it has gone, also where it goes while its sanction is looked up', async () => {
    live.profiles.sanctions.set('ada', SHADOW);
    live.own.entries.set('ada', ownEntry(7, 10, true));
    const { url, gateway } = await live.gateway();
    let letGo = (): void => undefined;
    let looks = 0;
    const gone = new Promise<void>((resolve) => (letGo = resolve));
    live.profiles.beforeNames = () => ((looks += 1), gone);
    const client = await live.connect(url, ['ladder.v1', `bearer.${await playerToken('ada')}`]);
    client.send(topRequest('top', 10));
    await eventually('its sanction is looked up', () => looks > 0);
    await client.close();
    await eventually('the gateway knows that it has gone', () => gateway.stats().sockets === 0);
    letGo();
    await sleep(100);
    expect(gateway.stats()).toMatchObject({ subscriptions: 0, shadowSockets: 0 });
  });
});
