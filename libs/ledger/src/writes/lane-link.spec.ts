// Real: TCP on this machine.
import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { Logger } from '@nestjs/common';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { SqlRunner } from '../database/postgres-database.js';
import { LaneLink } from './lane-link.js';

const database: SqlRunner = { query: <Row>() => Promise.resolve([{ value: 'a secret' }] as Row[]) };
let told: [level: string, text: string][];
let link: LaneLink;

beforeEach(() => {
  told = [];
  const at =
    (level: string) =>
    (message: unknown): void =>
      void told.push([level, JSON.stringify(message)]);
  Logger.overrideLogger({ error: at('error'), warn: at('warn'), log: at('log'), debug: at('debug') });
  link = new LaneLink(database);
});
afterEach(() => {
  link.close();
  vi.useRealTimers();
  Logger.overrideLogger(false);
});

const send = (host: string, port: number): Promise<string | null> =>
  link.send({ holder: 'another', host, port }, 'writes', 1000);

describe('the link to the owner of a lane', () => {
  it('tells of an owner that goes away, as in a rolling restart, at debug', async () => {
    const server = createServer((socket: Socket) => socket.once('data', () => socket.resetAndDestroy()));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    expect(await send('127.0.0.1', (server.address() as AddressInfo).port)).toBeNull();
    await expect.poll(() => told).toEqual([['debug', expect.stringContaining('ECONNRESET')]]);
    server.close();
  });

  it('warns once of an address that leads nowhere, with what becomes of the writes', async () => {
    for (let tries = 0; tries < 3; tries += 1) expect(await send('no..where', 7400)).toBeNull();
    const sentence = /At no\.\.where:7400 no owner of lanes is reached.*written from here.*ENOTFOUND/;
    await expect.poll(() => told).toEqual([['warn', expect.stringMatching(sentence)]]);
  });

  it('waits no longer for the secret than for an answer', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date'] });
    link = new LaneLink({ query: () => new Promise(() => undefined) });
    let answer: string | null | undefined;
    void send('127.0.0.1', 1).then((one) => (answer = one));
    await vi.advanceTimersByTimeAsync(999);
    expect(answer).toBeUndefined();
    await vi.advanceTimersByTimeAsync(1);
    expect(answer).toBeNull();
  });
});
