// Real: HTTP server, WebSocket clients, gateway, rate limiter. In memory: ranks and snapshots; the buckets count per process.
import { describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { eventually } from '../../../libs/realtime/test/boards.js';
import { keyStore, playerToken, READ_KEY } from '../../../libs/realtime/test/live-app.js';
import { MemoryLive, topRequest as top } from '../../../libs/realtime/test/memory-live.js';

const live = new MemoryLive();

const from = (address: string, origin?: string) => ({
  headers: { 'x-forwarded-for': address, ...(origin ? { origin } : {}) },
});
const asAda = async (): Promise<string[]> => ['ladder.v1', `bearer.${await playerToken('ada')}`];

/** The answer to a handshake that is refused. */
const refusal = (
  url: string,
  address: string,
  origin?: string,
  protocols = ['ladder.v1'],
): Promise<{ status: number; problem: object; retryAfter: unknown }> =>
  new Promise((resolve, reject) => {
    const socket = new WebSocket(url, protocols, from(address, origin));
    socket.on('open', () => reject(new Error('the socket opened')));
    socket.on('error', reject);
    socket.on('unexpected-response', (_request, response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => (text += chunk.toString()));
      response.on('end', () => {
        const { statusCode, headers } = response;
        resolve({ status: statusCode!, problem: JSON.parse(text) as object, retryAfter: headers['retry-after'] });
      });
    });
  });

describe('sockets', () => {
  it('of one address without identity are as many as they may be, and others take their place', async () => {
    const { url } = await live.gateway({ socketsPerAddressMax: 2 });
    const first = await live.connect(url, ['ladder.v1'], from('203.0.113.1'));
    await live.connect(url, ['ladder.v1'], from('203.0.113.1'));
    const third = await live.connect(url, ['ladder.v1'], from('203.0.113.1'));
    expect(await third.problem()).toMatchObject({ code: 'RATE_LIMITED', status: 429, limit: 'sockets' });
    await eventually('it is closed', () => third.closed?.code === 1013);
    const other = await live.connect(url, ['ladder.v1'], from('203.0.113.2'));
    expect(await other.ask(top('1'))).toMatchObject({ type: 'snapshot' });
    first.socket.close();
    await eventually('its place is free', () => first.closed !== null);
    const fourth = await live.connect(url, ['ladder.v1'], from('203.0.113.1'));
    expect(await fourth.ask(top('1'))).toMatchObject({ type: 'snapshot' });
  });

  it('of one IPv6 household count together', async () => {
    const { url } = await live.gateway({ socketsPerAddressMax: 1 });
    await live.connect(url, ['ladder.v1'], from('2001:db8:1:2::1'));
    const second = await live.connect(url, ['ladder.v1'], from('2001:db8:1:2:ffff::9'));
    expect(await second.problem()).toMatchObject({ limit: 'sockets' });
  });

  it('of one player count wherever they come from, and no longer with the address', async () => {
    const { url } = await live.gateway({ socketsPerPlayerMax: 2, socketsPerAddressMax: 1 });
    const ada = await asAda();
    for (const address of ['203.0.113.1', '203.0.113.1']) {
      const client = await live.connect(url, ada, from(address));
      expect(await client.ask(top('1'))).toMatchObject({ type: 'snapshot' });
    }
    const third = await live.connect(url, ada, from('203.0.113.9'));
    expect(await third.problem()).toMatchObject({ limit: 'sockets', detail: expect.stringContaining('A player') });
    await eventually('it is closed', () => third.closed?.code === 1013);
    const anonymous = await live.connect(url, ['ladder.v1'], from('203.0.113.1'));
    expect(await anonymous.ask(top('1'))).toMatchObject({ type: 'snapshot' });
    // Also who becomes a player later.
    anonymous.send({ type: 'authenticate', token: ada[1]!.slice('bearer.'.length) });
    await eventually('the fourth is closed', () => anonymous.closed?.code === 1013);
  });

  it('of a player count with nobody else of the address, and those of a wrong token with the address', async () => {
    const rates = { addressPerSecond: 0.002, playerPerSecond: 0.004, failedIdentityPerSecond: 1, windowSeconds: 1000 };
    const { url } = await live.gateway({ socketsPerAddressMax: 1, rates });
    const stranger = await live.connect(url, ['ladder.v1'], from('203.0.113.1'));
    const wrong = ['ladder.v1', `bearer.${await playerToken('bob', -5)}`];
    expect(await (await live.connect(url, wrong, from('203.0.113.1'))).problem()).toMatchObject({ limit: 'sockets' });
    // Nothing is left to the address.
    expect(await refusal(url, '203.0.113.1')).toMatchObject({ status: 429, problem: { limit: 'address' } });
    const ofWrong = await refusal(url, '203.0.113.1', undefined, wrong);
    expect(ofWrong).toMatchObject({ status: 429, problem: { limit: 'address' } });
    const ada = await asAda();
    const first = await live.connect(url, ada, from('203.0.113.1'));
    expect(await first.ask(top('1'))).toMatchObject({ type: 'snapshot' });
    await live.connect(url, ada, from('203.0.113.1'));
    await live.connect(url, ada, from('203.0.113.2'));
    // Two sockets more, and the subscription: all that a player has at once.
    const ofAda = await refusal(url, '203.0.113.3', undefined, ada);
    expect(ofAda).toMatchObject({ status: 429, problem: { limit: 'player' } });
    expect(stranger.closed).toBeNull();
  });

  it('of which is not known yet whose they are, are as many of an address as it may have', async () => {
    const { url } = await live.gateway({ socketsPerAddressMax: 1 });
    const { asked } = keyStore;
    let answer = (): void => undefined;
    keyStore.answers = new Promise((resolve) => (answer = resolve));
    try {
      const headers = { authorization: `Bearer ${READ_KEY}`, 'x-forwarded-for': '203.0.113.1' };
      const waiting = live.connect(url, ['ladder.v1'], { headers });
      await eventually('its key is asked for', () => keyStore.asked > asked);
      const refused = await live.connect(url, await asAda(), from('203.0.113.1'));
      expect(await refused.problem()).toMatchObject({ code: 'RATE_LIMITED', limit: 'sockets' });
      const elsewhere = await live.connect(url, await asAda(), from('203.0.113.2'));
      expect(await elsewhere.ask(top('1'))).toMatchObject({ type: 'snapshot' });
      answer();
      expect(await (await waiting).ask(top('1'))).toMatchObject({ type: 'snapshot' });
      const ada = await live.connect(url, await asAda(), from('203.0.113.1'));
      expect(await ada.ask(top('1'))).toMatchObject({ type: 'snapshot' });
    } finally {
      answer();
      keyStore.answers = Promise.resolve();
    }
  });

  it('are refused to who names a parameter that there is none of', async () => {
    const { url } = await live.gateway();
    expect(await refusal(`${url}?acces_token=x&token=y`, '203.0.113.1')).toMatchObject({
      status: 400,
      problem: {
        code: 'VALIDATION_FAILED',
        errors: [{ pointer: '?acces_token', message: 'is not a known parameter' }],
      },
    });
  });

  it('are refused before they are made, as any request of an address that is over its limit', async () => {
    const { url } = await live.gateway({ rates: { addressPerSecond: 0.1, windowSeconds: 40 } });
    for (let i = 0; i < 4; i += 1) await live.connect(url, ['ladder.v1'], from('203.0.113.1'));
    const { retryAfter, ...refused } = await refusal(url, '203.0.113.1');
    expect(refused).toMatchObject({
      status: 429,
      problem: { code: 'RATE_LIMITED', limit: 'address', instance: '/v1/live' },
    });
    expect(Number(retryAfter)).toBeGreaterThan(0);
    expect(Number(retryAfter)).toBeLessThanOrEqual(10);
    await live.connect(url, ['ladder.v1'], from('203.0.113.2'));
  });

  it('of pages that are not listed are refused, those of listed ones and of no page are not', async () => {
    const { url } = await live.gateway({ origins: 'https://game.example' });
    const open = (origin?: string) => live.connect(url, ['ladder.v1'], from('203.0.113.1', origin));
    await open('https://game.example');
    await open(url.replace('ws:', 'http:').replace('/v1/live', ''));
    await open();
    for (const origin of ['https://evil.example', 'null']) {
      const refused = await refusal(url, '203.0.113.1', origin);
      expect(refused).toMatchObject({ status: 403, problem: { code: 'FORBIDDEN' } });
    }
  });
});

describe('subscriptions', () => {
  it('of one player count over all its sockets, and a resume takes the place of its own', async () => {
    const { url } = await live.gateway({ subscriptionsPerPlayerMax: 3 });
    const [a, b] = [await live.connect(url, await asAda()), await live.connect(url, await asAda())];
    await a.ask(top('1'));
    await a.ask(top('2'));
    const { seq } = await b.ask(top('1'));
    expect((await b.ask(top('2'))).problem).toMatchObject({ code: 'SUBSCRIPTION_LIMIT', status: 429 });
    const again = await b.ask({ ...top('1'), type: 'resume', seq: seq! });
    expect(again.problem).toBeUndefined();
    a.send({ type: 'unsubscribe', id: '1' });
    await a.ask({ ...top('after') });
    expect((await b.ask(top('2'))).problem).toMatchObject({ code: 'SUBSCRIPTION_LIMIT' });
    a.socket.terminate();
    await eventually('there is room', async () => (await b.ask(top(`${Math.random()}`))).type === 'snapshot');
  });

  it('cost what a read costs, and say when to come again', async () => {
    const { url } = await live.gateway({ rates: { playerPerSecond: 2 } });
    const client = await live.connect(url, await asAda());
    const beganAtMs = Date.now();
    let asked = 0;
    let answer = await client.ask(top('0'));
    while (answer.type === 'snapshot') answer = await client.ask(top(`${(asked += 1)}`));
    expect(answer.problem).toMatchObject({ code: 'RATE_LIMITED', limit: 'player', retryAfterSeconds: 1 });
    // Two seconds' worth, less one for the socket, and what came in meanwhile.
    expect(asked).toBeGreaterThanOrEqual(3);
    expect(asked).toBeLessThanOrEqual(5 + (2 * (Date.now() - beganAtMs)) / 1000);
    await new Promise((resolve) => setTimeout(resolve, 1000));
    expect((await client.ask(top('more'))).type).toBe('snapshot');
  });

  it('of one address, or one player, take no more than a tenth of what a gateway watches', async () => {
    live.sketch(10);
    await (await live.writerOf('blitz')).write(Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`p${i}`, i])));
    const { url } = await live.gateway({ watchedChannelsMax: 120, estimatedPlayersMax: 110 });
    const range = (offset: number) => ({ ...top(`r${offset}`), channel: 'range', offset, limit: 1 });
    const watch = (at: number) => ({ ...top(`p${at}`), channel: 'player', playerId: `p${at}` });
    const [greedy, same] = [await live.connect(url), await live.connect(url)];
    for (let offset = 0; offset < 12; offset += 1) {
      expect((await (offset % 2 ? greedy : same).ask(range(offset))).type).toBe('snapshot');
    }
    for (const client of [greedy, same]) {
      const { problem } = await client.ask(range(50));
      expect(problem).toMatchObject({
        code: 'SUBSCRIPTION_LIMIT',
        detail: expect.stringContaining('one player or address'),
      });
    }
    // What is watched already costs nothing; players beyond the share have estimated ranks, and a share of those.
    expect((await same.ask({ ...range(0), id: 'again' })).type).toBe('snapshot');
    for (let at = 0; at < 11; at += 1) expect(await greedy.ask(watch(at))).toMatchObject({ accuracy: 'estimated' });
    expect((await greedy.ask(watch(11))).problem).toMatchObject({ code: 'SUBSCRIPTION_LIMIT' });
    const ada = await live.connect(url, await asAda());
    const exact = await ada.ask(watch(7));
    expect([exact.type, exact.accuracy]).toEqual(['snapshot', undefined]);
    expect((await ada.ask(range(50))).type).toBe('snapshot');
    const elsewhere = await live.connect(url, ['ladder.v1'], from('203.0.113.1'));
    expect((await elsewhere.ask(range(51))).type).toBe('snapshot');
    // A key has what there is.
    const server = await live.connect(url, ['ladder.v1'], { headers: { authorization: `Bearer ${READ_KEY}` } });
    for (let offset = 60; offset < 80; offset += 1) expect((await server.ask(range(offset))).type).toBe('snapshot');
    // What is given back can be taken anew.
    greedy.send({ type: 'unsubscribe', id: 'r1' });
    expect((await greedy.ask(range(52))).type).toBe('snapshot');
    expect((await greedy.ask(range(53))).problem).toMatchObject({ code: 'SUBSCRIPTION_LIMIT' });
  });

  it('to scopes without a score are a tenth of those for one address', async () => {
    live.boards.create('world', { order: 'desc', operator: 'best', scopes: ['global', 'region'] });
    const { url } = await live.gateway({ unusedScopesMax: 100 });
    const [greedy, other] = [await live.connect(url), await live.connect(url, await asAda())];
    const ask = (client: typeof greedy, name: string) =>
      client.ask({ ...top(name), board: 'world', scope: `region:${name}` });
    for (let i = 0; i < 10; i += 1) expect((await ask(greedy, `x${i}`)).type).toBe('snapshot');
    expect((await ask(greedy, 'EU')).problem).toMatchObject({ code: 'SUBSCRIPTION_LIMIT' });
    expect((await ask(other, 'EU')).type).toBe('snapshot');
    expect((await ask(greedy, 'EU')).type).toBe('snapshot');
    greedy.send({ type: 'unsubscribe', id: 'x1' });
    expect((await ask(greedy, 'US')).type).toBe('snapshot');
  });

  it('to scopes without a score are as many as are waited for, and one that is there already is no more', async () => {
    live.boards.create('world', { order: 'desc', operator: 'best', scopes: ['global', 'region'] });
    const { url } = await live.gateway({ unusedScopesMax: 2 });
    const client = await live.connect(url);
    const ask = (id: string, scope: string) => client.ask({ ...top(id), board: 'world', scope });
    expect((await ask('1', 'region:A')).type).toBe('snapshot');
    expect((await ask('2', 'region:B')).type).toBe('snapshot');
    expect((await ask('3', 'region:C')).problem).toMatchObject({ code: 'SUBSCRIPTION_LIMIT' });
    expect((await ask('4', 'region:B')).type).toBe('snapshot');
    client.send({ type: 'unsubscribe', id: '1' });
    expect((await ask('5', 'region:C')).type).toBe('snapshot');
    expect(live.boards.usedScopes).toEqual([]);
  });
});

describe('wrong tokens', () => {
  it('of one address are looked at so often, and then not any more', async () => {
    const { url } = await live.gateway({ rates: { failedIdentityPerSecond: 0.1, windowSeconds: 20 } });
    const wrong = ['ladder.v1', 'bearer.wrong'];
    const codes: unknown[] = [];
    for (let i = 0; i < 3; i += 1) {
      const client = await live.connect(url, wrong, from('203.0.113.1'));
      codes.push((await client.problem()).code);
      await eventually('it is closed', () => client.closed !== null);
      if (i === 2) expect(client.closed!.code).toBe(1013);
    }
    expect(codes).toEqual(['UNAUTHENTICATED', 'UNAUTHENTICATED', 'RATE_LIMITED']);
    const reader = await live.connect(url, ['ladder.v1'], {
      headers: { authorization: `Bearer ${READ_KEY}`, 'x-forwarded-for': '203.0.113.2' },
    });
    expect(await reader.ask(top('1'))).toMatchObject({ type: 'snapshot' });
  });

  it('of one address shut out no good one, and no key that was good a moment ago', async () => {
    const { url } = await live.gateway({ rates: { failedIdentityPerSecond: 0.1, windowSeconds: 20 } });
    const withKey = { headers: { authorization: `Bearer ${READ_KEY}`, 'x-forwarded-for': '203.0.113.1' } };
    expect(await (await live.connect(url, ['ladder.v1'], withKey)).ask(top('1'))).toMatchObject({ type: 'snapshot' });
    const expired = ['ladder.v1', `bearer.${await playerToken('bob', -5)}`];
    for (let i = 0; i < 4; i += 1) {
      const client = await live.connect(url, expired, from('203.0.113.1'));
      await eventually('it is closed', () => client.closed !== null);
      if (i === 3) expect(client.closed!.code).toBe(1013);
    }
    const ada = await live.connect(url, await asAda(), from('203.0.113.1'));
    expect(await ada.ask(top('1'))).toMatchObject({ type: 'snapshot' });
    expect(await (await live.connect(url, ['ladder.v1'], withKey)).ask(top('1'))).toMatchObject({ type: 'snapshot' });
  });
});
