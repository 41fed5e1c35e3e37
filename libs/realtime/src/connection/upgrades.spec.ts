import { EventEmitter, once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { splitUpgrades } from './upgrades.js';

const KEY = 'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n';

let server: Server;
let sockets: EventEmitter;
const clients: Socket[] = [];

beforeEach(async () => {
  server = createServer((request, response) => {
    let body = '';
    request.on('data', (part: Buffer) => (body += String(part)));
    request.on('end', () => {
      const { method, url, headers } = request;
      response.end(JSON.stringify({ method, url, headers, bytes: body.length }));
    });
  });
  sockets = new EventEmitter();
  splitUpgrades(server, '/v1/live', sockets);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(() => {
  for (const client of clients.splice(0)) client.destroy();
  server.close();
});

/** What the server answers to these bytes; it closes after the last request. */
async function answerTo(...parts: string[]): Promise<string> {
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  clients.push(client);
  let text = '';
  client.on('data', (part) => (text += String(part)));
  for (const part of parts) {
    client.write(part);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  if (!client.closed) await once(client, 'close');
  return text;
}

const h2c = (line: string, more = ''): string =>
  `${line} HTTP/1.1\r\nHost: x\r\nConnection: close, Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n${more}\r\n`;

describe('a request that offers another protocol', () => {
  it('is answered in the one that it came in', async () => {
    const answer = await answerTo(h2c('GET /v1/boards?limit=1', 'X-Name: \u00fc\r\n'));
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    const { headers, ...seen } = JSON.parse(answer.split('\r\n\r\n')[1]!.split('\r\n').at(-1)!) as {
      headers: Record<string, string>;
    };
    expect(seen).toEqual({ method: 'GET', url: '/v1/boards?limit=1', bytes: 0 });
    expect(headers).toEqual({ host: 'x', connection: 'close', 'x-name': expect.any(String) as string });
  });

  it('is answered with all of its body, and so is the next one of its connection', async () => {
    const first = h2c('POST /v1/scores', 'Content-Length: 200000\r\n').replace('close, ', '');
    const answer = await answerTo(first + 'x'.repeat(1000), 'x'.repeat(199_000), h2c('GET /next'));
    expect(answer).toContain('"bytes":200000');
    expect(answer).toContain('"url":"/next"');
  });

  it('is answered with its body where it is no GET', async () => {
    const answer = await answerTo(
      `POST /v1/live HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, close\r\nUpgrade: websocket\r\n${KEY}Content-Length: 3\r\n\r\n{}\n`,
    );
    expect(answer).toContain('"method":"POST","url":"/v1/live"');
    expect(answer).toContain('"bytes":3');
  });

  it.each(['/v1/boards', '/v1/live/', '//', '//x/v1/live'])('is answered where there is no socket: %s', async (url) => {
    const answer = await answerTo(
      `GET ${url} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, close\r\nUpgrade: websocket\r\n${KEY}\r\n`,
    );
    expect(answer).toContain(`"url":"${url}"`);
  });
});

it('an upgrade to the socket is handed on, and its reset ends nothing', async () => {
  const handed = once(sockets, 'upgrade');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  clients.push(client);
  client.on('error', () => undefined);
  client.write(
    `GET /v1/live?token=x HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: WebSocket\r\n${KEY}\r\nhead`,
  );
  const [request, socket, head] = (await handed) as [IncomingMessage, Socket, Buffer];
  expect(request.url).toBe('/v1/live?token=x');
  expect(String(head)).toBe('head');
  const closed = new Promise((resolve) => socket.once('close', resolve));
  client.resetAndDestroy();
  await closed;
});
