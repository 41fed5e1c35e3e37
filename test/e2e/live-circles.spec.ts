// Real: the built service in one process, PostgreSQL, Redis, HTTP, and WebSocket clients that know only the contract's rule.
import { startStandalone, type RunningStandalone } from '@laddercast/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { LiveClient } from '../../libs/realtime/test/follower.js';
import { assertMatchesAsyncApi } from '../../libs/realtime/test/frame-schemas.js';
import { playerToken, RestClient } from './rest-client.js';

let app: RunningStandalone;
let rest: RestClient;
let clients: LiveClient[] = [];

beforeAll(async () => {
  app = await startStandalone();
  rest = new RestClient(app.url, app.adminKey);
});

afterEach(() => {
  for (const client of clients) client.socket.terminate();
  for (const frame of clients.flatMap(({ frames }) => frames)) assertMatchesAsyncApi(frame);
  clients = [];
});

afterAll(() => app?.stop());

/** Of a board on which nobody waits for a tick. */
const TICK_MS = 60_000;
const BEFORE_A_TICK = { timeout: TICK_MS / 2, interval: 20 };
const circles = {
  windows: ['alltime', 'daily'],
  scopes: ['global', 'region', 'guild', { attribute: 'country' }],
  push: { intervalMs: 100 },
};
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

async function connect(token: string | null = app.adminKey): Promise<LiveClient> {
  const options = token === null ? {} : { headers: { authorization: `Bearer ${token}` } };
  const client = await LiveClient.connect(`${app.url.replace('http', 'ws')}/v1/live`, ['ladder.v1'], options);
  clients.push(client);
  return client;
}

/** Subscribes, again and again until the gateway has seen the board. */
async function follow(client: LiveClient, id: string, ask: Record<string, unknown>): Promise<void> {
  await expect
    .poll(async () => (await client.ask({ type: 'subscribe', id, ...ask })).type, { interval: 100 })
    .toBe('snapshot');
}

async function submit(board: string, scores: Record<string, number>, more: object = {}): Promise<void> {
  const submissions = Object.entries(scores).map(([playerId, score]) => ({ board, playerId, score, ...more }));
  const response = await rest.post('/v1/scores', { submissions }, { Prefer: 'wait=10' });
  expect(response.status, response.text).toBe(200);
  for (const result of (response.body as { results: object[] }).results) expect(result).not.toHaveProperty('problem');
}

async function done(answer: Promise<{ status: number; text: string }>): Promise<void> {
  const { status, text } = await answer;
  expect(status, text).toBeLessThan(300);
}

const rowsOf = (client: LiveClient, id: string): string[] => client.list(id).places();

const settled = (client: LiveClient, id: string) => expect.poll(() => rowsOf(client, id), { interval: 20 });

describe('people in circles', () => {
  it('are followed live by region, attribute, guild, among friends and place by place', async () => {
    const board = await rest.makeBoard('circles', circles);
    await done(rest.put('/v1/players/ada', { displayName: 'Ada', region: 'EU', attributes: { country: 'DE' } }));
    await done(rest.put('/v1/players/bob', { displayName: 'Bob', region: 'EU' }));
    await done(rest.put('/v1/players/cy', { displayName: 'Cy', region: 'US', attributes: { country: 'US' } }));
    await done(rest.put('/v1/guilds/red', { displayName: 'Red' }));
    for (const player of ['ada', 'cy']) await done(rest.put(`/v1/guilds/red/members/${player}`));
    await done(rest.put('/v1/players/ada/friends/cy'));
    const client = await connect();
    await follow(client, 'top', { board, channel: 'top' });
    await follow(client, 'eu', { board, channel: 'top', scope: 'region:EU' });
    await follow(client, 'country', { board, channel: 'top', scope: 'country:DE', window: 'daily' });
    await follow(client, 'members', { board, channel: 'range', offset: 0, limit: 5, scope: 'guild:red' });
    await follow(client, 'guilds', { board, channel: 'guilds' });
    await follow(client, 'friends', { board, channel: 'friends', playerId: 'ada' });
    await follow(client, 'range', { board, channel: 'range', offset: 1, limit: 2 });
    await follow(client, 'player', { board, channel: 'player', playerId: 'bob', around: 1 });

    await submit(board, { ada: 10, bob: 20, cy: 30 });
    await settled(client, 'top').toEqual(['1 cy', '2 bob', '3 ada']);
    await settled(client, 'eu').toEqual(['1 bob', '2 ada']);
    await settled(client, 'country').toEqual(['1 ada']);
    await settled(client, 'members').toEqual(['1 cy', '2 ada']);
    await settled(client, 'guilds').toEqual(['1 red']);
    await settled(client, 'friends').toEqual(['1 1 cy', '2 3 ada']);
    await settled(client, 'range').toEqual(['2 bob', '3 ada']);
    await settled(client, 'player').toEqual(['1 cy', '2 bob', '3 ada']);
    await expect.poll(() => client.list('guilds').rows.get('red')).toMatchObject({ displayName: 'Red', score: 40 });

    // A change of region moves the entries, put first and taken out after.
    await done(rest.put('/v1/players/cy', { displayName: 'Cy', region: 'EU' }));
    await settled(client, 'eu').toEqual(['1 cy', '2 bob', '3 ada']);
    await done(rest.delete('/v1/guilds/red/members/cy'));
    await settled(client, 'members').toEqual(['1 ada']);
    await expect.poll(() => client.list('guilds').rows.get('red')).toMatchObject({ score: 10 });
    await done(rest.delete('/v1/players/ada/friends/cy'));
    await done(rest.put('/v1/players/ada/friends/bob'));
    await settled(client, 'friends').toEqual(['1 2 bob', '2 3 ada']);
    // A scope in which nobody had a score begins once more with its first one.
    const begunTwice = ['eu', 'country', 'members'];
    for (const [id, list] of client.lists) {
      expect(list, id).toMatchObject({ snapshots: begunTwice.includes(id) ? 2 : 1, gaps: 0 });
    }
  });

  it('are shown under a new name in every channel within a second, though nobody scores', async () => {
    const board = await rest.makeBoard('names', { ...circles, push: { intervalMs: TICK_MS, top: 10 } });
    await done(rest.put('/v1/players/eve', { region: 'EU' }));
    await done(rest.put('/v1/guilds/blue', { displayName: 'Blue' }));
    await done(rest.put('/v1/guilds/blue/members/eve'));
    await done(rest.put('/v1/players/eve/friends/fay'));
    const others = Array.from({ length: 10 }, (_, index) => [`other-${index}`, 20 + index]);
    await submit(board, { eve: 100, fay: 99, gil: 10, ...(Object.fromEntries(others) as Record<string, number>) });
    const client = await connect();
    await expect.poll(async () => (await rest.get(`/v1/boards/${board}/guilds`)).body.total).toBe(1);
    const asks = {
      top: { channel: 'top' },
      eu: { channel: 'top', scope: 'region:EU' },
      range: { channel: 'range', offset: 0 },
      player: { channel: 'player', playerId: 'fay' },
      friends: { channel: 'friends', playerId: 'fay' },
    };
    for (const [id, ask] of Object.entries(asks)) await follow(client, id, { board, ...ask });
    await follow(client, 'guilds', { board, channel: 'guilds' });
    await follow(client, 'below', { board, channel: 'range', offset: 12, limit: 1 });
    const named = (id: string, playerId: string) => client.list(id).rows.get(playerId)?.displayName;
    for (const id of Object.keys(asks)) expect(named(id, 'eve'), id).toBeNull();

    for (const name of ['Eve', 'Evelyn']) {
      await done(rest.put('/v1/players/eve', { displayName: name, region: 'EU' }));
      const everywhere = () => Object.keys(asks).filter((id) => named(id, 'eve') !== name);
      await expect.poll(everywhere, BEFORE_A_TICK).toEqual([]);
    }
    await done(rest.put('/v1/guilds/blue', { displayName: 'Deep Blue' }));
    await expect.poll(() => named('guilds', 'blue'), BEFORE_A_TICK).toBe('Deep Blue');
    // One that the top does not show.
    await done(rest.put('/v1/players/gil', { displayName: 'Gil' }));
    await expect.poll(() => named('below', 'gil'), BEFORE_A_TICK).toBe('Gil');
    for (const [id, list] of client.lists) expect(list, id).toMatchObject({ snapshots: 1, gaps: 0 });
  });

  it('leave the lists of others when they are not listed, and see themselves', async () => {
    const board = await rest.makeBoard('hidden', circles);
    await submit(board, { hal: 30, ida: 20, jo: 10 });
    const [own, other] = [await connect(await playerToken(app.jwtSecret, 'ida')), await connect(null)];
    const player = { board, channel: 'player', playerId: 'ida', around: 1 };
    await follow(own, 'player', player);
    for (const [id, ask] of Object.entries({ player, top: { board, channel: 'top' } })) await follow(other, id, ask);
    await settled(other, 'top').toEqual(['1 hal', '2 ida', '3 jo']);
    await done(rest.put('/v1/players/ida', { listed: false }));
    await settled(other, 'top').toEqual(['1 hal', '3 jo']);
    expect(other.list('top').total).toBe(3);
    await settled(other, 'player').toEqual([]);
    await pause(300);
    expect(rowsOf(own, 'player')).toEqual(['1 hal', '2 ida', '3 jo']);
  });

  it('are told what they got wrong, or may not see', async () => {
    const board = await rest.makeBoard('refusals', { scopes: ['global', 'region'] });
    const client = await connect(await playerToken(app.jwtSecret, 'kim'));
    await follow(client, 'ok', { board, channel: 'top' });
    const code = async (ask: object) =>
      (await client.ask({ type: 'subscribe', id: 'x', board, channel: 'top', ...ask })).problem?.code;
    expect(await code({ scope: 'country:US' })).toBe('SCOPE_NOT_FOUND');
    expect(await code({ channel: 'guilds' })).toBe('SCOPE_NOT_FOUND');
    expect(await code({ window: 'season:s1' })).toBe('WINDOW_NOT_FOUND');
    expect(await code({ channel: 'friends', playerId: 'lou' })).toBe('FORBIDDEN');
    expect(await code({ channel: 'range', offset: 0, limit: 101 })).toBe('VALIDATION_FAILED');
  });
});

describe('windows that end', () => {
  const at = (ms: number): string => new Date(ms).toISOString();

  it('tell their subscribers when their standings are final; the next is followed by subscribing again', async () => {
    const board = await rest.makeBoard('days', { windows: ['daily'], push: { intervalMs: 100 } });
    await submit(board, { ada: 10, bob: 20 });
    const client = await connect();
    await follow(client, 'top', { board, window: 'daily', channel: 'top' });
    await follow(client, 'range', { board, window: 'daily', channel: 'range', offset: 0, limit: 3 });
    await settled(client, 'top').toEqual(['1 bob', '2 ada']);
    const closed = await rest.post(`/v1/admin/boards/${board}/close-window`, { window: 'daily' });
    expect(closed.status, closed.text).toBe(200);
    const windowId = (closed.body as { window: { id: string } }).window.id;
    const told = () =>
      client.frames.filter(({ type }) => type === 'window-closed').map(({ id, window }) => [id, window]);
    await expect
      .poll(() => told().sort())
      .toEqual([
        ['range', windowId],
        ['top', windowId],
      ]);
    await follow(client, 'late', { board, window: windowId, channel: 'player', playerId: 'ada' });
    await expect.poll(() => told().at(-1)).toEqual(['late', windowId]);
    // The subscription stays on its window; the name leads to the next.
    client.send({ type: 'unsubscribe', id: 'range' });
    await submit(board, { cy: 5 });
    await follow(client, 'next', { board, window: 'daily', channel: 'top' });
    await settled(client, 'next').toEqual(['1 cy']);
    expect(rowsOf(client, 'top')).toEqual(['1 bob', '2 ada']);
    expect(told()).toHaveLength(3);
  });

  it('stand still from their freeze to their end, show the truth then, and stay when they leave Redis', async () => {
    const startsAtMs = Date.now() - 60_000;
    const freezeAtMs = Date.now() + 8000;
    const endsAtMs = freezeAtMs + 6000;
    const season = { season: 's1', startsAt: at(startsAtMs), freezeAt: at(freezeAtMs), endsAt: at(endsAtMs) };
    const definition = { windows: [season], graceSeconds: 1, keepEndedSeconds: 4, push: { intervalMs: 100 } };
    const board = await rest.makeBoard('season', definition);
    await submit(board, { mia: 10, ned: 20, oz: 5 });
    await done(rest.put('/v1/players/mia/friends/oz'));
    const client = await connect();
    const ask = { board, window: 'season:s1' };
    await follow(client, 'top', { ...ask, channel: 'top' });
    await follow(client, 'range', { ...ask, channel: 'range', offset: 1, limit: 2 });
    await follow(client, 'player', { ...ask, channel: 'player', playerId: 'mia' });
    await follow(client, 'friends', { ...ask, channel: 'friends', playerId: 'mia' });
    const ids = ['top', 'range', 'player', 'friends'];
    await settled(client, 'friends').toEqual(['1 2 mia', '2 3 oz']);
    const frozen = ids.map((id) => rowsOf(client, id));
    await pause(freezeAtMs + 200 - Date.now());
    await submit(board, { oz: 100 });
    await follow(client, 'late', { ...ask, channel: 'friends', playerId: 'oz' });
    expect(rowsOf(client, 'late')).toEqual(['1 2 mia', '2 3 oz']);
    while (Date.now() < endsAtMs - 200) {
      expect(ids.map((id) => rowsOf(client, id))).toEqual(frozen);
      await pause(100);
    }
    await settled(client, 'top').toEqual(['1 oz', '2 ned', '3 mia']);
    await settled(client, 'range').toEqual(['2 ned', '3 mia']);
    await settled(client, 'player').toEqual(['1 oz', '2 ned', '3 mia']);
    await settled(client, 'friends').toEqual(['1 1 oz', '2 3 mia']);
    expect(Date.now()).toBeGreaterThan(endsAtMs);
    const told = () => client.frames.filter(({ type }) => type === 'window-closed').map(({ id }) => id);
    await expect.poll(() => told().sort()).toEqual(['friends', 'late', 'player', 'range', 'top']);
    const final = ids.map((id) => client.list(id).text());
    // By then its keys are gone, and the standings of PostgreSQL are what is read.
    await pause(endsAtMs + 4000 + 2000 - Date.now());
    expect(ids.map((id) => client.list(id).text())).toEqual(final);
    const [seq] = [client.list('range').seq];
    const again = await client.ask({ type: 'resume', id: 'range', seq, ...ask, channel: 'range', offset: 1, limit: 2 });
    expect(again).toMatchObject({ type: 'snapshot', total: 3 });
    expect(client.list('range').text()).toBe(final[1]);
  });
});
