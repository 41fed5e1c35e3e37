import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { Transform } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';

/** A way to a service that can be cut, as a broken network or a killed process would, and mended. */
export interface TcpProxy {
  port: number;
  /** Breaks every connection, and lets no new one through. */
  cut(): void;
  mend(): void;
  /** Lets nothing through, in either direction, and breaks no connection: as a service that hangs. */
  freeze(): void;
  thaw(): void;
  /** Lets nothing more through on the connections that are open, for good; new ones are well. */
  forsakeOpen(): void;
  /** From now on each piece of data waits this long before it is passed on; 0: no more. */
  delay(ms: number): void;
  /** From now on each piece of data comes so much later, and no fewer come: as by a longer way; 0: no more. */
  lag(ms: number): void;
  /**
   * Once a client sends something that holds this text, lets it through and not the answer, and breaks that connection, with
   * these last words. Resolves when that has happened.
   */
  cutAfter(text: string, lastWords?: Buffer): Promise<void>;
  close(): Promise<void>;
}

/** Long enough for the service to do what it was asked, though nobody hears of it. */
const UNANSWERED_MS = 50;

/** Passes data on, each piece as late as is asked for when it comes. */
const slowly = (delayMs: () => number): Transform =>
  new Transform({
    transform: (chunk: Buffer, _encoding, done) => {
      if (delayMs() > 0) setTimeout(() => done(null, chunk), delayMs());
      else done(null, chunk);
    },
  });

/** Passes data on in its order, each piece so much later than it came: as over a long way, none waits for those before. */
function later(lagMs: () => number): Transform {
  let passed: Promise<unknown> | null = null;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      if (passed === null && lagMs() === 0) return done(null, chunk);
      const mine: Promise<void> = Promise.all([passed, sleep(lagMs())]).then(() => {
        if (passed === mine) passed = null;
        if (!this.destroyed) this.push(chunk);
      });
      passed = mine;
      done();
    },
    flush: (done) => void Promise.resolve(passed).then(() => done()),
  });
}

/** A proxy on 127.0.0.1 in front of `host:port`. */
export async function openTcpProxy(host: string, port: number): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let isCut = false;
  let isFrozen = false;
  let delayMs = 0;
  let lagMs = 0;
  let fatal: { text: string; lastWords: Buffer; happened: () => void } | null = null;
  const server = createServer((client) => {
    if (isCut) return void client.destroy();
    const service = connect(port, host);
    for (const [from, to] of [
      [client, service],
      [service, client],
    ] as const) {
      sockets.add(from);
      from
        .pipe(slowly(() => delayMs))
        .pipe(later(() => lagMs))
        .pipe(to);
      if (isFrozen) from.pause();
      from.on('error', () => undefined);
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
    }
    client.on('data', (chunk) => {
      if (!fatal || !chunk.includes(fatal.text)) return;
      const { happened, lastWords } = fatal;
      fatal = null;
      service.unpipe();
      service.pause();
      setTimeout(() => {
        client.end(lastWords, () => client.destroy());
        happened();
      }, UNANSWERED_MS);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const destroyAll = (): void => sockets.forEach((socket) => socket.destroy());
  return {
    port: (server.address() as AddressInfo).port,
    cut: () => {
      isCut = true;
      destroyAll();
    },
    mend: () => {
      isCut = false;
    },
    freeze: () => {
      isFrozen = true;
      sockets.forEach((socket) => socket.pause());
    },
    forsakeOpen: () => {
      for (const socket of sockets) {
        socket.unpipe();
        socket.pause();
      }
    },
    delay: (ms) => {
      delayMs = ms;
    },
    lag: (ms) => {
      lagMs = ms;
    },
    cutAfter: (text, lastWords = Buffer.alloc(0)) =>
      new Promise((resolve) => {
        fatal = { text, lastWords, happened: resolve };
      }),
    thaw: () => {
      isFrozen = false;
      sockets.forEach((socket) => socket.resume());
    },
    close: async () => {
      destroyAll();
      server.close();
      await once(server, 'close');
    },
  };
}
