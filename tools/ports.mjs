import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';
import { codeOf } from './problem.mjs';

/**
 * @param {number} port
 * @param {string | undefined} host
 * @returns {Promise<number>}
 */
function listen(port, host) {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.unref();
    server.once('error', reject);
    server.listen({ port, host, exclusive: true }, () => {
      const { port: bound } = /** @type {import('node:net').AddressInfo} */ (server.address());
      server.close(() => resolve(bound));
    });
  });
}

/**
 * Free ports are drawn from here: below those that Linux gives to outgoing connections, which could take one away
 * before its server listens; and above those that tests draw.
 */
const DRAWN_FROM = { first: 30_000, last: 32_499 };
/** Given to a server of this process that may not listen yet. */
const given = new Set();

/** A port of 127.0.0.1 that nothing listens on at this moment, and that was not given or kept before. */
export async function freePort() {
  for (;;) {
    const port = randomInt(DRAWN_FROM.first, DRAWN_FROM.last + 1);
    if (given.has(port) || !(await isPortFree(port))) continue;
    given.add(port);
    return port;
  }
}

/**
 * Keeps a port from being given: a server that starts later wants it.
 * @param {number} port
 */
export function keepPort(port) {
  given.add(port);
}

/**
 * Whether a server could listen on this port now, on all addresses and on 127.0.0.1.
 * @param {number} port
 */
export async function isPortFree(port) {
  try {
    await listen(port, '127.0.0.1');
    await listen(port, undefined);
    return true;
  } catch (error) {
    if (['EADDRINUSE', 'EACCES'].includes(codeOf(error) ?? '')) return false;
    throw error;
  }
}

/**
 * The first free port of the hundred from `from` on that is not in `taken`; `null` when there is none.
 * @param {number} from
 * @param {number[]} taken
 */
export async function nextFreePort(from, taken = []) {
  for (let port = from; port < Math.min(from + 100, 65_536); port += 1) {
    if (!taken.includes(port) && (await isPortFree(port))) return port;
  }
  return null;
}
