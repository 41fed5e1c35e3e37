// Real: HTTP server, WebSocket clients, gateway, publisher. In memory: ranks and snapshots.
import { request, type IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { LadderError } from '@laddercast/domain';
import { buildAsyncApi } from '@laddercast/realtime';
import { eventually } from '../../../libs/realtime/test/boards.js';
import { playerToken, READ_KEY, revokedKeys } from '../../../libs/realtime/test/live-app.js';
import { MemoryLive, topRequest as top } from '../../../libs/realtime/test/memory-live.js';

const live = new MemoryLive();

interface MessageSchema {
  oneOf?: MessageSchema[];
  properties?: Record<string, object>;
}

describe('an identity', () => {
  const club = { type: 'subscribe', id: '1', board: 'club', channel: 'top' };

  it('comes by header, subprotocol pair or query, and opens private boards', async () => {
    const { url } = await live.gateway();
    const token = await playerToken('ada');
    const ways = [
      await live.connect(url, ['ladder.v1'], { headers: { authorization: `Bearer ${READ_KEY}` } }),
      await live.connect(url, ['ladder.v1', `bearer.${token}`]),
      await live.connect(`${url}?token=${token}`, []),
    ];
    for (const client of ways) expect(await client.ask(club)).toMatchObject({ type: 'snapshot' });
    expect(ways.map((client) => client.socket.protocol)).toEqual(['ladder.v1', 'ladder.v1', '']);
  });

  it('is not needed for public boards, and its lack is told on private ones', async () => {
    const client = await live.connect((await live.gateway()).url, []);
    expect(await client.ask(top('1'))).toMatchObject({ type: 'snapshot' });
    expect((await client.ask({ ...club, id: '2' })).problem).toMatchObject({ code: 'UNAUTHENTICATED', status: 401 });
    expect(client.closed).toBeNull();
  });

  it('that is not valid is told, and the socket closed with 4401', async () => {
    const { url } = await live.gateway();
    for (const client of [
      await live.connect(url, ['ladder.v1', 'bearer.not-a-token']),
      await live.connect(url, ['ladder.v1'], { headers: { authorization: 'Basic abc' } }),
      await live.connect(`${url}?token=${await playerToken('ada', -10)}`),
    ]) {
      expect(await client.problem()).toMatchObject({ code: 'UNAUTHENTICATED' });
      await eventually('the socket closes', () => client.closed !== null);
      expect(client.closed!.code).toBe(4401);
    }
  });

  it('can be renewed, and closes the socket with 4401 when it ends', async () => {
    const { url } = await live.gateway({ sweepEveryMs: 50 });
    const [kept, left] = [
      await live.connect(url, ['ladder.v1', `bearer.${await playerToken('ada', 5)}`]),
      await live.connect(url, ['ladder.v1', `bearer.${await playerToken('bob', 5)}`]),
    ];
    await kept.ask(club);
    kept.send({ type: 'authenticate', token: await playerToken('ada', 60) });
    await eventually('the other one is closed', () => left.closed !== null);
    expect(left.closed!.code).toBe(4401);
    expect(await left.problem()).toMatchObject({ code: 'UNAUTHENTICATED' });
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(kept.closed).toBeNull();
    kept.send({ type: 'authenticate', token: 'wrong' });
    expect(await kept.problem()).toMatchObject({ code: 'UNAUTHENTICATED' });
  });
});

it('an API key that is revoked closes its sockets with 4401', async () => {
  const { url } = await live.gateway({ keyCheckEveryMs: 100, sweepEveryMs: 50 });
  const client = await live.connect(url, ['ladder.v1'], { headers: { authorization: `Bearer ${READ_KEY}` } });
  await client.ask({ type: 'subscribe', id: '1', board: 'club', channel: 'top' });
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(client.closed).toBeNull();
  revokedKeys.add(READ_KEY);
  await eventually('the socket closes', () => client.closed !== null).finally(() => revokedKeys.clear());
  expect(client.closed!.code).toBe(4401);
});

describe('what a client gets wrong is answered', () => {
  it.each([
    ['not JSON', '{"type":', 'MALFORMED_JSON'],
    ['no object', '[1]', 'VALIDATION_FAILED'],
    ['no type', '{}', 'VALIDATION_FAILED'],
    ['an unknown type', '{"type":"shout","id":"1"}', 'VALIDATION_FAILED'],
    ['no id', { ...top('1'), id: undefined }, 'VALIDATION_FAILED'],
    ['an unknown field', { ...top('1'), offset: 3 }, 'VALIDATION_FAILED'],
    ['a field of another channel', { ...top('1'), playerId: 'ada' }, 'VALIDATION_FAILED'],
    ['seq without resume', { ...top('1'), seq: 3 }, 'VALIDATION_FAILED'],
    ['a limit beyond the most', top('1', 101), 'VALIDATION_FAILED'],
    ['a limit that is no whole number', top('1', 2.5), 'VALIDATION_FAILED'],
    [
      'too much around',
      { ...top('1'), channel: 'player', limit: undefined, playerId: 'ada', around: 26 },
      'VALIDATION_FAILED',
    ],
    ['no player id', { type: 'subscribe', id: '1', board: 'blitz', channel: 'player' }, 'VALIDATION_FAILED'],
    [
      'a lone surrogate',
      '{"type":"subscribe","id":"1","board":"blitz","channel":"player","playerId":"\\ud800"}',
      'VALIDATION_FAILED',
    ],
    ['a token that is no text', '{"type":"authenticate","token":5}', 'VALIDATION_FAILED'],
    ['no token at all', '{"type":"authenticate"}', 'VALIDATION_FAILED'],
    ['a field that every object has', { ...top('1'), constructor: 1 }, 'VALIDATION_FAILED'],
    [
      'a field nested without end',
      `{"type":"subscribe","id":"1","x":${'['.repeat(8000)}${']'.repeat(8000)}}`,
      'VALIDATION_FAILED',
    ],
    ['an unknown channel', { ...top('1'), channel: 'bottom' }, 'VALIDATION_FAILED'],
    ['a range without offset', { ...top('1'), channel: 'range' }, 'VALIDATION_FAILED'],
    ['too long a range', { ...top('1', 101), channel: 'range', offset: 0 }, 'VALIDATION_FAILED'],
    ['a range that begins before the list', { ...top('1'), channel: 'range', offset: -1 }, 'VALIDATION_FAILED'],
    ['friends of nobody', { ...top('1'), channel: 'friends' }, 'VALIDATION_FAILED'],
    ['a limit of friends', { ...top('1', 10), channel: 'friends', playerId: 'ada' }, 'VALIDATION_FAILED'],
    ['guilds of a region', { ...top('1'), channel: 'guilds', scope: 'region:EU' }, 'VALIDATION_FAILED'],
    ['a scope without a value', { ...top('1'), scope: 'region:' }, 'VALIDATION_FAILED'],
    ['a scope that is none', { ...top('1'), scope: 'everywhere' }, 'VALIDATION_FAILED'],
    ['too long a scope', { ...top('1'), scope: `region:${'x'.repeat(65)}` }, 'VALIDATION_FAILED'],
    ['a scope that the board has not', { ...top('1'), scope: 'region:EU' }, 'SCOPE_NOT_FOUND'],
    ['guilds of a board that has none', { ...top('1'), channel: 'guilds' }, 'SCOPE_NOT_FOUND'],
    ['friends without an identity', { ...top('1'), channel: 'friends', playerId: 'ada' }, 'UNAUTHENTICATED'],
    ['an unknown board', { ...top('1'), board: 'nowhere' }, 'BOARD_NOT_FOUND'],
    ['an unknown window', { ...top('1'), window: 'daily' }, 'WINDOW_NOT_FOUND'],
    ['too large a message', `{"type":"subscribe","id":"${'x'.repeat(20_000)}"}`, 'PAYLOAD_TOO_LARGE'],
  ])('%s', async (_what, message, code) => {
    const client = await live.connect((await live.gateway()).url);
    client.send(message);
    const problem = await client.problem();
    expect(problem).toMatchObject({ code, type: `urn:laddercast:problem:${code}`, detail: expect.any(String) });
    // The socket lives on.
    expect(await client.ask(top('after'))).toMatchObject({ type: 'snapshot' });
  });

  it('null is refused by its field, in every field of every message', async () => {
    const list = { id: '1', board: 'blitz', window: 'alltime', scope: 'global', rankStyle: 'ordinal' };
    const head = { ...list, fields: ['player'] };
    const channels = [
      { ...head, channel: 'top', limit: 10 },
      { ...head, channel: 'player', playerId: 'ada', around: 1 },
      { ...head, channel: 'range', offset: 0, limit: 10 },
      { ...head, channel: 'friends', playerId: 'ada' },
      { ...list, fields: [], channel: 'guilds', limit: 10 },
      { id: '1', pool: 'blitz', channel: 'rating', playerId: 'ada' },
    ];
    const messages: Record<string, Record<string, unknown>[]> = {
      subscribe: channels,
      resume: channels.map((channel) => ({ ...channel, seq: 1 })),
      unsubscribe: [{ id: '1' }],
      authenticate: [{ token: 'x' }],
    };
    const { components } = buildAsyncApi('0') as { components: { schemas: Record<string, MessageSchema> } };
    const client = await live.connect((await live.gateway({ messagesBurst: 200 })).url);
    for (const [type, complete] of Object.entries(messages)) {
      const documented = (components.schemas[type]!.oneOf ?? [components.schemas[type]!]).map(({ properties }) =>
        Object.keys(properties!).sort(),
      );
      expect(complete.map((fields) => ['type', ...Object.keys(fields)].sort())).toEqual(documented);
      for (const fields of complete) {
        for (const name of ['type', ...Object.keys(fields)]) {
          const from = client.frames.length;
          client.send({ type, ...fields, [name]: null });
          const { code, errors } = await client.problem(from);
          expect({ type, name, code }).toEqual({ type, name, code: 'VALIDATION_FAILED' });
          expect(errors!.map(({ pointer }) => pointer)).toContain(`/${name}`);
        }
      }
    }
    expect(client.closed).toBeNull();
    expect(await client.ask(top('after'))).toMatchObject({ type: 'snapshot' });
  });

  it('bytes that are not UTF-8 are refused in a binary frame too, and do not become another player', async () => {
    const client = await live.connect((await live.gateway()).url);
    const message = JSON.stringify({ ...top('1'), channel: 'player', playerId: '<>' });
    const [before, after] = message.split('<>').map((text) => Buffer.from(text));
    for (const bytes of [[0xff], [0xc3], [0xed, 0xa0, 0x80]]) {
      const from = client.frames.length;
      client.socket.send(Buffer.concat([before!, Buffer.from(bytes), after!]));
      expect(await client.problem(from)).toMatchObject({
        code: 'MALFORMED_JSON',
        detail: expect.stringContaining('UTF-8'),
      });
    }
  });

  it('names the field and what to do', async () => {
    const client = await live.connect((await live.gateway()).url);
    const answer = await client.ask({ ...top('1', 0), colour: 'red' });
    expect(answer.problem!.errors).toEqual(
      expect.arrayContaining([
        { pointer: '/limit', message: 'must not be less than 1' },
        { pointer: '/colour', message: 'is not a field of this message' },
      ]),
    );
  });

  it.each([
    [{ type: 'subscribe', board: 'blitz', channel: 'top' }, '/id', 'is required'],
    [{ ...top('1'), limit: '10' }, '/limit', 'must be an integer'],
    [{ ...top('1'), fields: 'player' }, '/fields', 'must be an array'],
    [{ type: 'subscribe', id: '1', board: 'blitz', channel: 'range' }, '/offset', 'is required'],
    [{ ...top('1'), type: 'resume' }, '/seq', 'is required'],
    [{ type: 'authenticate' }, '/token', 'is required'],
  ])('says of %j what is wrong with it, and no bound that it does not come to', async (message, pointer, said) => {
    const client = await live.connect((await live.gateway()).url);
    client.send(message);
    expect((await client.problem()).errors).toEqual([{ pointer, message: said }]);
  });

  it('a limit above what the board pushes is refused, one below is rounded up', async () => {
    live.boards.create('short', { order: 'desc', operator: 'best', push: { intervalMs: 20, top: 30 } });
    const writer = await live.writerOf('short');
    await writer.write(Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`p${index}`, index])));
    const client = await live.connect((await live.gateway()).url);
    const ask = { type: 'subscribe', board: 'short', channel: 'top' };
    expect((await client.ask({ ...ask, id: '1', limit: 31 })).problem!.errors![0]!.pointer).toBe('/limit');
    expect((await client.ask({ ...ask, id: '2', limit: 11 })).entries).toHaveLength(25);
    expect((await client.ask({ ...ask, id: '3', limit: 26 })).entries).toHaveLength(30);
    expect((await client.ask({ ...ask, id: '4' })).entries).toHaveLength(10);
  });

  it('an id in use, and one subscription too many', async () => {
    const client = await live.connect((await live.gateway({ subscriptionsMax: 2 })).url);
    await client.ask(top('1'));
    expect((await client.ask(top('1'))).problem).toMatchObject({ code: 'SUBSCRIPTION_EXISTS', status: 409 });
    await client.ask(top('2'));
    expect((await client.ask(top('3'))).problem).toMatchObject({ code: 'SUBSCRIPTION_LIMIT' });
    client.send({ type: 'unsubscribe', id: '1' });
    expect(await client.ask(top('3'))).toMatchObject({ type: 'snapshot' });
  });

  it('more watched players than can be kept exact, or estimated', async () => {
    const { url } = await live.gateway({ watchedChannelsMax: 2, estimatedPlayersMax: 0 });
    const [client, other] = [await live.connect(url), await live.connect(url)];
    const watch = (id: string, playerId: string) => ({
      type: 'subscribe',
      id,
      board: 'blitz',
      channel: 'player',
      playerId,
    });
    await client.ask(watch('1', 'ada'));
    await client.ask(watch('2', 'bob'));
    expect((await other.ask(watch('1', 'cy'))).problem).toMatchObject({ code: 'SUBSCRIPTION_LIMIT' });
    expect(await other.ask(watch('1', 'ada'))).toMatchObject({ type: 'snapshot' });
    client.send({ type: 'unsubscribe', id: '2' });
    expect(await client.ask(watch('3', 'cy'))).toMatchObject({ type: 'snapshot' });
  });

  it('too many messages at once', async () => {
    const client = await live.connect((await live.gateway({ messagesBurst: 5, messagesPerSecond: 10 })).url);
    for (let sent = 0; sent < 20; sent += 1) client.send({ type: 'unsubscribe', id: 'none' });
    expect(await client.problem()).toMatchObject({ code: 'TOO_MANY_MESSAGES', status: 429 });
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(client.closed).toBeNull();
    expect(await client.ask(top('after'))).toMatchObject({ type: 'snapshot' });
  });

  it('ranks that cannot be read', async () => {
    const client = await live.connect((await live.gateway()).url);
    live.projection.failure = new LadderError('PROJECTION_UNAVAILABLE', 'Redis is away.');
    expect((await client.ask(top('1'))).problem).toMatchObject({ code: 'PROJECTION_UNAVAILABLE', status: 503 });
    live.projection.failure = null;
    expect(await client.ask(top('1'))).toMatchObject({ type: 'snapshot' });
  });
});

it.each([
  ['/v1/boards', 'h2c'],
  ['/v1/live/', 'websocket'],
])('a request to %s is answered over HTTP although it offers %s', async (path, upgrade) => {
  const { url } = await live.gateway();
  const headers = { Connection: 'Upgrade, HTTP2-Settings', Upgrade: upgrade, 'HTTP2-Settings': '' };
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    request(url.replace('ws:', 'http:').replace('/v1/live', path), { headers }, resolve).on('error', reject).end();
  });
  expect(answer.statusCode).toBe(404);
  expect(answer.headers['content-type']).toContain('json');
  answer.resume();
});
