import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

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
  close(): Promise<void>;
}

/** A proxy on 127.0.0.1 in front of `host:port`. */
export async function openTcpProxy(host: string, port: number): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let isCut = false;
  let isFrozen = false;
  const server = createServer((client) => {
    if (isCut) return void client.destroy();
    const service = connect(port, host);
    for (const [from, to] of [
      [client, service],
      [service, client],
    ] as const) {
      sockets.add(from);
      from.pipe(to);
      if (isFrozen) from.pause();
      from.on('error', () => undefined);
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
    }
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
