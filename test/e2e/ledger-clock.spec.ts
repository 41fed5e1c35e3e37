// Real: the built service in one process, PostgreSQL, Redis, HTTP, WebSocket. PostgreSQL's clock is another than the processes'.
import { DatabaseClock, startStandalone, type RunningStandalone } from '@laddercast/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LiveClient } from '../../libs/realtime/test/follower.js';
import { expectProblem, RestClient } from './rest-client.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

interface Page {
  entries: { playerId: string; score: number }[];
  window: { id: string };
}
interface ListedWindow {
  id: string;
  state: string;
  isFrozen: boolean;
}

const at = (ms: number): string => new Date(ms).toISOString();

describe.each([
  ['22 s ahead', 22_000],
  ['22 s behind', -22_000],
])("with PostgreSQL's clock %s", (_name, aheadMs) => {
  let service: RunningStandalone;
  let clock: DatabaseClock;
  let admin: RestClient;
  let server: RestClient;
  let anyone: RestClient;
  let live: LiveClient;

  beforeAll(async () => {
    service = await startStandalone();
    clock = await DatabaseClock.of(service.databaseUrl);
    anyone = new RestClient(service.url);
    admin = anyone.as(service.adminKey);
    const key = await admin.makeKey('scores:write', 'read');
    server = anyone.as(key);
    const headers = { authorization: `Bearer ${key}` };
    live = await LiveClient.connect(`${service.url.replace('http', 'ws')}/v1/live`, ['ladder.v1'], { headers });
  });
  afterAll(async () => {
    live?.socket.terminate();
    await clock?.close();
    await service?.stop();
  });

  /** Submits, and waits until it is ranked; where it stands, or null. */
  const submit = async (board: string, playerId: string, score: number): Promise<{ after: number } | null> => {
    const answer = await server.post(`/v1/boards/${board}/scores`, { playerId, score }, { Prefer: 'wait=10' });
    expect(answer.status, answer.text).toBe(200);
    return (answer.body as { rank: { after: number } | null }).rank;
  };
  const pageOf = async (client: RestClient, path: string): Promise<Page> => {
    const answer = await client.get(path);
    expect(answer.status, answer.text).toBe(200);
    return answer.body as Page;
  };
  const playersOf = ({ entries }: Page): string[] => entries.map(({ playerId }) => playerId);
  const windowsOf = async (board: string): Promise<ListedWindow[]> =>
    ((await server.get(`/v1/boards/${board}/windows`)).body as { windows: ListedWindow[] }).windows;

  it('a run of after the freeze is shown nowhere until the end, and one of before it everywhere', async () => {
    await clock.goOnFrom(Date.now() + aheadMs);
    // The processes have heard by then.
    await new Promise((resolve) => setTimeout(resolve, 1000));
    const startMs = await clock.nowMs();
    // It stands while something is done or looked at, so that a slow machine is never late.
    await clock.stopAt(startMs);
    const [freezeAtMs, endsAtMs] = [startMs + 4000, startMs + 12_000];
    const season = { season: 's', startsAt: at(startMs - HOUR_MS), endsAt: at(endsAtMs), freezeAt: at(freezeAtMs) };
    await admin.makeBoard('cup', {
      windows: [season],
      graceSeconds: 0,
      push: { intervalMs: 100 },
      history: { everyMinutes: 1 },
    });
    const window = 'window=season:s';
    expect(await submit('cup', 'ada', 100)).toMatchObject({ after: 1 });
    expect(playersOf(await pageOf(anyone, `/v1/boards/cup/entries?${window}`))).toEqual(['ada']);
    expect((await windowsOf('cup'))[0]).toMatchObject({ state: 'running', isFrozen: false });
    const channels = {
      top: { channel: 'top', limit: 10 },
      range: { channel: 'range', offset: 0, limit: 10 },
      player: { channel: 'player', playerId: 'ada', around: 5 },
    };
    for (const [id, channel] of Object.entries(channels)) {
      const answer = await live.ask({ type: 'subscribe', id, board: 'cup', window: 'season:s', ...channel });
      expect(answer, JSON.stringify(answer)).toMatchObject({ type: 'snapshot', total: 1 });
    }
    await clock.stopAt(freezeAtMs + 10);
    await expect.poll(async () => (await windowsOf('cup'))[0]).toMatchObject({ isFrozen: true });

    expect(await submit('cup', 'bob', 500)).toBeNull();
    const path = `/v1/boards/cup/entries?${window}`;
    const seen = new Set<string>();
    const look = async (): Promise<number> => {
      const { status, body } = await anyone.get(path);
      if (status !== 503) seen.add(playersOf(body as Page).join());
      return status;
    };
    await expect.poll(look).toBe(200);
    for (let looks = 0; looks < 60; looks += 1) {
      await look();
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    expect([...seen]).toEqual(['ada']);
    expectProblem(await server.get(`/v1/boards/cup/players/bob?${window}`), 'ENTRY_NOT_FOUND');
    expect((await windowsOf('cup'))[0]).toMatchObject({ state: 'running', isFrozen: true });
    const history = `/v1/boards/cup/players/bob/history?${window}`;
    const points = async (client: RestClient): Promise<unknown[]> =>
      ((await client.get(history)).body as { points: unknown[] }).points;
    await expect.poll(() => points(admin)).toHaveLength(1);
    expect(await points(server)).toEqual([]);
    expect(playersOf(await pageOf(admin, path))).toEqual(['bob', 'ada']);
    const framesUntilNow = live.frames.filter(({ id }) => id !== undefined);
    expect(framesUntilNow.filter((frame) => JSON.stringify(frame).includes('bob'))).toEqual([]);
    for (const id of Object.keys(channels)) expect(live.list(id).total).toBe(1);

    await clock.goOnFrom(endsAtMs);
    const shown = async (): Promise<string> => {
      const { status, body } = await anyone.get(path);
      return status === 200 ? playersOf(body as Page).join() : '';
    };
    await expect.poll(shown).toBe('bob,ada');
    await expect.poll(() => live.list('range').places()).toEqual(['1 bob', '2 ada']);
  });

  it('the day that runs is the one that the ledger puts runs in', async () => {
    const dayMs = DAY_MS * Math.sign(aheadMs);
    await clock.stopAt(Date.now() + dayMs);
    await new Promise((resolve) => setTimeout(resolve, 1000));
    await admin.makeBoard('days', { windows: ['daily'] });
    await submit('days', 'ada', 1);
    const day = `daily:${at(await clock.nowMs()).slice(0, 10)}`;
    const running = await pageOf(anyone, '/v1/boards/days/entries?window=daily');
    expect([running.window.id, playersOf(running)]).toEqual([day, ['ada']]);
    const listed = (await windowsOf('days')).map(({ id, state }) => [id, state]);
    expect(listed).toEqual([[day, 'running']]);
    const { standings } = (await server.get('/v1/players/ada/standings')).body as { standings: { board: string }[] };
    expect(standings.filter(({ board }) => board === 'days')).toHaveLength(1);
  });
});
