import type { EventEmitter } from 'node:events';
import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';

/**
 * Hands the upgrades to a WebSocket at `path` on to `sockets`, and answers every other request as if it had not asked to
 * go on in another protocol (RFC 9110, section 7.8). Clients that offer HTTP/2 ask so with any request; Node takes each
 * of those from the server as soon as something listens to upgrades.
 */
export function splitUpgrades(server: Server, path: string, sockets: EventEmitter): void {
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    if (!isForSocket(request, path)) return answerWithout(server, request, socket, head);
    // Node hands over the connection without an error listener: its reset would end the process.
    socket.on('error', () => socket.destroy());
    sockets.emit('upgrade', request, socket, head);
  });
}

function isForSocket({ method, url = '', headers }: IncomingMessage, path: string): boolean {
  const isWebSocket = method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket';
  return isWebSocket && URL.canParse(url, `ws://${headers.host}/`) && url.split('?')[0] === path;
}

/** Gives the connection back to the server, with the request in front that it was taken with. */
export function answerWithout(
  server: Server,
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer = Buffer.alloc(0),
): void {
  const { method, url, httpVersion, rawHeaders } = request;
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const [name, value] = [rawHeaders[at]!, rawHeaders[at + 1]!];
    if (!isOfUpgrade(name)) lines.push(`${name}: ${/^connection$/i.test(name) ? withoutUpgrade(value) : value}`);
  }
  // Node reads headers as latin1.
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), head]));
  server.emit('connection', socket);
}

const isOfUpgrade = (name: string): boolean => /^(upgrade|http2-settings)$/i.test(name);

const withoutUpgrade = (connection: string): string =>
  connection
    .split(',')
    .map((option) => option.trim())
    .filter((option) => !isOfUpgrade(option))
    .join(', ');
