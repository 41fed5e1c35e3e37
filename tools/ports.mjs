import { createServer } from 'node:net';

function listen(port, host) {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.unref();
    server.once('error', reject);
    server.listen({ port, host, exclusive: true }, () => {
      const { port: bound } = server.address();
      server.close(() => resolve(bound));
    });
  });
}

/** A port of 127.0.0.1 that nothing listens on at this moment. */
export function freePort() {
  return listen(0, '127.0.0.1');
}

/** Whether a server could listen on this port now, on all addresses and on 127.0.0.1. */
export async function isPortFree(port) {
  try {
    await listen(port, '127.0.0.1');
    await listen(port, undefined);
    return true;
  } catch (error) {
    if (error.code === 'EADDRINUSE' || error.code === 'EACCES') return false;
    throw error;
  }
}

/** The first free port of the hundred from `from` on that is not in `taken`; `null` when there is none. */
export async function nextFreePort(from, taken = []) {
  for (let port = from; port < Math.min(from + 100, 65_536); port += 1) {
    if (!taken.includes(port) && (await isPortFree(port))) return port;
  }
  return null;
}
