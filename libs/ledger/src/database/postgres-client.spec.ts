// Real: sockets, pg and TypeORM's pool. The server says only what PostgreSQL says as it takes a client, and ends at once.
import { createServer, type AddressInfo, type Server } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { PostgresDatabase } from './postgres-database.js';

const message = (type: string, body: Buffer): Buffer => {
  const head = Buffer.alloc(5);
  head.write(type);
  head.writeInt32BE(4 + body.length, 1);
  return Buffer.concat([head, body]);
};
const AUTHENTICATED = message('R', Buffer.alloc(4));
const READY = message('Z', Buffer.from('I'));
const ENDED = message('E', Buffer.from('SFATAL\0C57P01\0Mterminating connection due to administrator command\0\0'));

let server: Server;
let url: string;
let uncaught: unknown[];
const note = (error: unknown): void => void uncaught.push(error);

beforeEach(async () => {
  uncaught = [];
  process.on('uncaughtException', note);
  server = createServer((socket) => {
    socket.on('error', () => undefined);
    // In one piece, as a process that was busy reads it.
    socket.once('data', () => socket.end(Buffer.concat([AUTHENTICATED, READY, ENDED])));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `postgres://test@127.0.0.1:${(server.address() as AddressInfo).port}/test`;
});
afterEach(async () => {
  process.off('uncaughtException', note);
  await new Promise((resolve) => server.close(resolve));
});

it('ends no process when PostgreSQL ends a connection for wakings in the moment in which it opens', async () => {
  const connection = await new PostgresDatabase({ url }).listener();
  await expect(connection.query('LISTEN wakings')).rejects.toThrow();
  expect(uncaught).toEqual([]);
});

it('ends no process when PostgreSQL ends a connection of the pool in the moment in which it opens', async () => {
  await expect(new PostgresDatabase({ url }).open({ migrate: false })).rejects.toThrow();
  expect(uncaught).toEqual([]);
});
