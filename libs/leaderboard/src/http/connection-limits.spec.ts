import { once } from 'node:events';
import type { Server } from 'node:http';
import { connect } from 'node:net';
import { loadEnvironment } from '@laddercast/platform';
import { freePort } from '@laddercast/testing';
import { Controller, Module, Post } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MetricsServer } from '../metrics/metrics-server.js';
import { createApp } from '../process/start-app.js';
import { RouteTable } from './route-table.js';

@Controller()
class Taker {
  @Post('take')
  take(): string {
    return 'taken';
  }
}

@Module({ controllers: [Taker], providers: [RouteTable] })
class OneRoute {}

const LIMIT_MS = 30_000;
const LOOK_EVERY_MS = 1000;

describe('before a request is one', () => {
  let app: NestFastifyApplication;
  let metrics: MetricsServer;
  let servers: Record<string, Server>;

  beforeAll(async () => {
    const environment = loadEnvironment({
      DATABASE_URL: 'postgres://unused',
      REDIS_URL: 'redis://unused',
      LOG_LEVEL: 'silent',
    });
    app = await createApp({ name: 'one route', roles: [], module: () => OneRoute }, environment);
    await app.listen(0, '127.0.0.1');
    metrics = new MetricsServer();
    await metrics.listen(await freePort(), '127.0.0.1');
    servers = {
      app: app.getHttpServer() as Server,
      metrics: (metrics as unknown as { server: Server }).server,
    };
  });
  afterAll(async () => {
    await app.close();
    await metrics.close();
  });

  it.each(['app', 'metrics'])(
    'is as long for the body as for the header fields, and looked at every second: %s',
    (name) => {
      expect(servers[name]).toMatchObject({
        headersTimeout: LIMIT_MS,
        requestTimeout: LIMIT_MS,
        connectionsCheckingInterval: LOOK_EVERY_MS,
      });
    },
  );

  it.each([
    ['app', 'header fields', 'POST /take HTTP/1.1\r\nHost: x\r\n'],
    ['app', 'body', 'POST /take HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{'],
    ['metrics', 'header fields', 'GET /metrics HTTP/1.1\r\nHost: x\r\n'],
  ])('cuts off who stops in the middle, with 408: %s, %s', async (name, _where, begun) => {
    const server = servers[name]!;
    // As if the time were over almost at once: what looks is the server as it was made.
    Object.assign(server, { headersTimeout: 50, requestTimeout: 50 });
    const socket = connect((server.address() as { port: number }).port, '127.0.0.1');
    let answer = '';
    socket.on('data', (chunk) => (answer += chunk.toString()));
    socket.write(begun);
    await once(socket, 'close');
    expect(answer).toMatch(/^HTTP\/1\.1 408 /);
    if (name === 'app') expect(answer).toContain('"code":"REQUEST_TIMEOUT"');
  });

  it.each(['GET /take', 'GET /nothing', 'POST /take'])(
    'answers a request without a Host with a problem: %s',
    async (line) => {
      const socket = connect((servers['app']!.address() as { port: number }).port, '127.0.0.1');
      let answer = '';
      socket.on('data', (chunk) => (answer += chunk.toString()));
      socket.write(`${line} HTTP/1.1\r\nConnection: close\r\n\r\n`);
      await once(socket, 'close');
      expect(answer).toMatch(/^HTTP\/1\.1 400 /);
      expect(answer).toMatch(/content-type: application\/problem\+json/);
      expect(answer).toContain('"detail":"/: a request of HTTP/1.1 needs a Host header"');
    },
  );
});
