import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Below the ports that Linux gives to outgoing connections, which could take one away before its server listens; and a
 * Redis Cluster bus, 10,000 higher, is below them too, and above these.
 */
const DRAWN_FROM = { first: 10_000, last: 19_999 };
/** Each worker of vitest draws from a part of its own: some seconds pass until what was given a port listens on it. */
const WORKERS_MAX = 5;
const PORTS_OF_WORKER = (DRAWN_FROM.last + 1 - DRAWN_FROM.first) / WORKERS_MAX;
const firstPort = DRAWN_FROM.first + (Number(process.env['VITEST_POOL_ID'] ?? 0) % WORKERS_MAX) * PORTS_OF_WORKER;
const given = new Set<number>();

/** A port of 127.0.0.1 that nothing listens on now, given once by this process, and by no other worker. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = firstPort + randomInt(PORTS_OF_WORKER);
    if (given.has(port) || !(await isFree(port))) continue;
    given.add(port);
    return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  const listening = once(server, 'listening').then(
    () => true,
    () => false,
  );
  if (!(await listening)) return false;
  server.close();
  await once(server, 'close');
  return true;
}

/** The first of so many free ports one after the other, each given once by this process. */
export async function freePorts(count: number): Promise<number> {
  for (;;) {
    const first = await freePort();
    const more = Array.from({ length: count - 1 }, (_, index) => first + 1 + index);
    if (more.some((port) => given.has(port))) continue;
    if ((await Promise.all(more.map(isFree))).includes(false)) continue;
    for (const port of more) given.add(port);
    return first;
  }
}
