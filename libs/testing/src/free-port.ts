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
