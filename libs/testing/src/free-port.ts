import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Below the ports that Linux gives to outgoing connections, which could take one away before its server listens; and a
 * Redis Cluster bus, 10,000 higher, is below them too.
 */
const DRAWN_FROM = { first: 10_000, last: 21_999 };
const given = new Set<number>();

/** A port of 127.0.0.1 that nothing listens on now, given once by this process. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(DRAWN_FROM.first, DRAWN_FROM.last + 1);
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
