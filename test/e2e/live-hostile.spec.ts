// Real: the built service in one process, PostgreSQL, Redis, and TCP clients that do to a WebSocket what no library would.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { deflateRawSync } from 'node:zlib';
import { startStandalone, type RunningStandalone } from '@laddercast/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LiveClient } from '../../libs/realtime/test/follower.js';
import { frameOf, OPCODE, RawWebSocket } from './raw-websocket.js';
import { expectProblem, RestClient } from './rest-client.js';

const SETTLED = { interval: 20 };
const subscribe = (id: string, more: object = {}): string =>
  JSON.stringify({ type: 'subscribe', id, board: 'live', channel: 'top', limit: 10, ...more });

let service: RunningStandalone;
let admin: RestClient;
let witness: LiveClient;
let url: string;
let score = 0;

beforeAll(async () => {
  // Rates are limited for all of an address together, and this is about what one socket can do.
  service = await startStandalone({ RATE_LIMIT_ADDRESS_PER_SECOND: '0', RATE_LIMIT_KEY_PER_SECOND: '0' });
  url = `${service.url.replace('http', 'ws')}/v1/live`;
  admin = new RestClient(service.url, service.adminKey);
  await admin.makeBoard('live', { push: { intervalMs: 50, top: 100 } });
  const submissions = Array.from({ length: 100 }, (_, i) => ({ board: 'live', playerId: `p${i}`, score: -i }));
  expect((await admin.post('/v1/scores', { submissions }, { Prefer: 'wait=10' })).status).toBe(200);
  witness = await LiveClient.connect(url);
  expect((await witness.ask({ type: 'subscribe', id: 'w', board: 'live', channel: 'top' })).type).toBe('snapshot');
});
afterAll(async () => {
  witness?.socket.terminate();
  await service?.stop();
});

/** Somebody else's socket still gets what is new, in time. */
async function othersAreServed(): Promise<void> {
  score += 1;
  expect((await admin.post('/v1/boards/live/scores', { playerId: 'runner', score })).status).toBe(200);
  await expect.poll(() => witness.list('w').rows.get('runner')?.['score'], { interval: 20 }).toBe(score);
  expect(witness.list('w')).toMatchObject({ snapshots: 1, gaps: 0 });
}

/** Resident memory of the service, in MiB. */
const residentMib = (): number =>
  Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${service.process.pid}/status`, 'utf8'))![1]) / 1024;

describe('a socket that breaks the rules of RFC 6455', () => {
  it.each<[string, Buffer, number]>([
    ['a frame without mask', frameOf(OPCODE.TEXT, '{}', { masked: false }), 1002],
    ['an opcode that is none', frameOf(3, '{}'), 1002],
    ['a reserved bit', frameOf(OPCODE.TEXT, '{}', { rsv: 2 }), 1002],
    ['a compressed message that nobody agreed on', frameOf(OPCODE.TEXT, deflateRawSync('{}'), { rsv: 4 }), 1002],
    ['a continuation of nothing', frameOf(OPCODE.CONTINUATION, '{}'), 1002],
    [
      'a message within a message',
      Buffer.concat([frameOf(OPCODE.TEXT, '{', { fin: false }), frameOf(OPCODE.TEXT, '{}')]),
      1002,
    ],
    ['a ping in two parts', frameOf(OPCODE.PING, 'x', { fin: false }), 1002],
    ['a ping that is too long', frameOf(OPCODE.PING, 'x'.repeat(126)), 1002],
    ['text that is not UTF-8', frameOf(OPCODE.TEXT, Buffer.from([0xc0, 0xaf, 0xff])), 1007],
    ['text that is overlong UTF-8', frameOf(OPCODE.TEXT, Buffer.from([0xe0, 0x80, 0xaf])), 1007],
    ['a frame too large', frameOf(OPCODE.TEXT, 'x'.repeat(64 * 1024 + 1)), 1009],
    ['a frame said to be of 1 TB', frameOf(OPCODE.TEXT, 'x', { length: 2 ** 40 }), 1009],
    ['a frame said to be longer than any', frameOf(OPCODE.TEXT, 'x', { length: 2 ** 60 }), 1009],
    [
      'a message too large by its parts',
      Buffer.concat([
        frameOf(OPCODE.TEXT, 'x'.repeat(40_000), { fin: false }),
        frameOf(OPCODE.CONTINUATION, 'x'.repeat(40_000)),
      ]),
      1009,
    ],
    ['a close code that is none', frameOf(OPCODE.CLOSE, Buffer.from([0x00, 0x01])), 1002],
    ['half a close code', frameOf(OPCODE.CLOSE, Buffer.from([0x03])), 1002],
  ])('is closed with the code that says so: %s', async (_what, bytes, code) => {
    const client = await RawWebSocket.connect(url);
    client.send(frameOf(OPCODE.TEXT, subscribe('1')));
    await expect.poll(() => client.texts.length, SETTLED).toBeGreaterThan(0);
    client.send(bytes);
    await expect.poll(() => client.closeCode, SETTLED).toBe(code);
    client.socket.destroy();
    await othersAreServed();
  });

  it.each([
    ['of another version', { 'Sec-WebSocket-Version': '7' }],
    ['without a key', { 'Sec-WebSocket-Key': '' }],
    ['with half a key', { 'Sec-WebSocket-Key': 'AAAA' }],
    ['of another protocol', { Upgrade: 'h2c' }],
    ['with a protocol that is no token', { 'Sec-WebSocket-Protocol': 'ladder.v1,,' }],
  ])('is not opened by a handshake %s', async (_what, headers) => {
    const head = await RawWebSocket.connect(url, headers).then(
      () => 'it was opened',
      ({ message }: Error) => message,
    );
    expect(head).toMatch(/^HTTP\/1\.1 426 /);
    expect(head).toMatch(/^content-type: application\/problem\+json/im);
    expect(head).toMatch(/^connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r$/im);
    await othersAreServed();
  });

  it('is told what to do where it asks for no WebSocket at all', async () => {
    expect(expectProblem(await admin.get('/v1/live'), 'UPGRADE_REQUIRED').detail).toMatch(/^Open a WebSocket here/);
    const posted = await admin.post('/v1/live', {});
    expectProblem(posted, 'METHOD_NOT_ALLOWED');
    expect(posted.headers['allow']).toBe('GET, HEAD');
  });
});

describe('an upgrade to an address that is no URL', () => {
  const upgrade = (host: string): string =>
    `GET // HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
    'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n';

  const open = async (host: string) => {
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
    socket.on('error', () => undefined);
    await once(socket, 'connect');
    socket.write(upgrade(host));
    return socket;
  };

  it('ends nothing else when its connection is reset', async () => {
    for (let i = 0; i < 100; i += 1) {
      const socket = await open(i % 2 ? 'x' : '[');
      if (i % 5 > 0) await sleep((i % 5) - 1);
      socket.resetAndDestroy();
    }
    await othersAreServed();
    expect(service.process.exitCode).toBeNull();
  });
});

describe('a socket that keeps the rules to do harm', () => {
  it('is answered message by message when it sends them byte by byte, with pings between', async () => {
    const client = await RawWebSocket.connect(url);
    const text = subscribe('slow');
    client.send(frameOf(OPCODE.TEXT, text[0]!, { fin: false }));
    for (let at = 1; at < text.length; at += 1) {
      client.send(
        frameOf(OPCODE.PING, `${at}`),
        frameOf(OPCODE.CONTINUATION, text[at]!, { fin: at === text.length - 1 }),
      );
    }
    await expect.poll(() => client.texts.length, SETTLED).toBeGreaterThan(0);
    expect(JSON.parse(client.texts[0]!)).toMatchObject({ type: 'snapshot', id: 'slow' });
    expect(client.pongs).toBe(text.length - 1);
    client.socket.destroy();
    await othersAreServed();
  });

  it('is told so when it subscribes thousands of times, and closed when it goes on', async () => {
    const client = await RawWebSocket.connect(url);
    client.send(...Array.from({ length: 1500 }, (_, i) => frameOf(OPCODE.TEXT, subscribe(`${i}`))));
    await expect.poll(() => client.closeCode, SETTLED).toBe(1008);
    const frames = client.texts.map((text) => JSON.parse(text) as { type: string; problem?: { code: string } });
    const codes = frames.map(({ problem }) => problem?.code);
    expect(new Set(codes)).toEqual(new Set([undefined, 'SUBSCRIPTION_LIMIT', 'TOO_MANY_MESSAGES']));
    // A ping may come between them.
    expect(frames.filter(({ type }) => type === 'snapshot').length).toBeLessThanOrEqual(50);
    client.socket.destroy();
    await othersAreServed();
  });

  it('cannot fill the memory by floods of pings, half messages, frames that it never reads, and sockets that go away', async () => {
    const round = async (): Promise<void> => {
      const clients = await Promise.all(Array.from({ length: 40 }, () => RawWebSocket.connect(url)));
      for (const [i, client] of clients.entries()) {
        client.send(...Array.from({ length: 45 }, (_, n) => frameOf(OPCODE.TEXT, subscribe(`${n}`))));
        // One in four: never reads; floods pings; leaves a message half sent; goes without a word.
        if (i % 4 === 0) client.socket.pause();
        if (i % 4 === 1) client.send(...Array.from({ length: 5000 }, () => frameOf(OPCODE.PING, 'x'.repeat(125))));
        if (i % 4 === 2) client.send(frameOf(OPCODE.TEXT, '{"type":', { fin: false }));
        if (i % 4 === 3) client.socket.resetAndDestroy();
      }
      for (let i = 0; i < 5; i += 1) await othersAreServed();
      await sleep(300);
      for (const { socket } of clients) socket.destroy();
      await sleep(300);
    };
    for (let warm = 0; warm < 3; warm += 1) await round();
    const before = residentMib();
    for (let i = 0; i < 6; i += 1) await round();
    await othersAreServed();
    // 1,800 subscriptions and some 25 MB of pings a round: kept, they would be far more.
    expect(residentMib() - before).toBeLessThan(96);
  });

  it('leaves a service that has nothing to report of itself', async () => {
    await othersAreServed();
    expect((await admin.get('/health/ready')).status).toBe(200);
    expect(service.output()).not.toMatch(/"level":"(error|fatal)"|\bERROR\b|[Uu]nhandled/);
    expect(service.process.exitCode).toBeNull();
  });
});
