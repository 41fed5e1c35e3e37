// Real: a server on 127.0.0.1 that takes connections and says nothing, as a PostgreSQL that hangs.
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { BoardCatalog } from '../catalogs/board-catalog.js';
import { WindowCatalog } from '../catalogs/window-catalog.js';
import { PostgresDatabase } from './postgres-database.js';
import { isDatabaseUnavailable } from './postgres-errors.js';
import { PostgresReach } from './postgres-reach.js';

/** A look takes 3 s to give up. */
const LOOKED_ONCE_MS = 3400;

describe('a PostgreSQL that says nothing to the looks', () => {
  let server: Server;
  let reach: PostgresReach;
  const sockets: Socket[] = [];
  const told: string[] = [];

  beforeAll(async () => {
    server = createServer((socket) => sockets.push(socket.on('error', () => undefined)));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    await reach.stop();
    told.length = 0;
  });
  afterAll(() => new Promise((resolve) => server.close(resolve)));

  const start = (): void => {
    const { port } = server.address() as AddressInfo;
    reach = new PostgresReach(() => new pg.Client({ host: '127.0.0.1', port, user: 'nobody', database: 'none' }));
    reach.start((text) => told.push(text));
  };

  it('is away once a look was not answered', async () => {
    start();
    await expect.poll(() => reach.awaySince, { interval: 50 }).not.toBeNull();
    expect(() => reach.assertThere()).toThrow(/has not answered/);
    expect(told).toHaveLength(1);
  });

  it('is away, too, for who connects beside the pool', async () => {
    start();
    const { port } = server.address() as AddressInfo;
    const database = new PostgresDatabase({ url: `postgres://nobody@127.0.0.1:${port}/none` });
    const work = database.longTransaction(1000, () => Promise.resolve());
    expect(isDatabaseUnavailable(await work.catch((error: unknown) => error))).toBe(true);
  });

  it('is not asked for windows while it is away', async () => {
    const { port } = server.address() as AddressInfo;
    const database = new PostgresDatabase({ url: `postgres://nobody@127.0.0.1:${port}/none` });
    ({ reach } = database);
    reach.start(() => undefined);
    await expect.poll(() => reach.awaySince, { interval: 50 }).not.toBeNull();
    const windows = new WindowCatalog(database, { beforeChange: () => undefined } as unknown as BoardCatalog);
    await expect(windows.find(1, 'daily:2026-11-28')).rejects.toMatchObject({ code: 'LEDGER_UNAVAILABLE' });
  });

  it('is there where it answered somebody else meanwhile', async () => {
    start();
    const endsAt = performance.now() + LOOKED_ONCE_MS;
    while (performance.now() < endsAt) {
      await sleep(100);
      reach.seen();
      expect(() => reach.assertThere()).not.toThrow();
    }
    expect(reach.awaySince).toBeNull();
    expect(told).toEqual([]);
  });
});
