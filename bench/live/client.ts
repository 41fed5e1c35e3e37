import { createHash, randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';

const handshakeGuid = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
const opcodes = { text: 1, close: 8, ping: 9, pong: 10 };
/** The socket's first read is its handshake's answer; a frame may be larger than one read. */
const readBytes = 64 * 1024;

/** An open socket of `/v1/live`. */
export interface LiveClient {
  send(message: object): void;
  close(): void;
}

export interface LiveOptions {
  port: number;
  /** The address that it comes from. */
  from?: string;
  token?: string;
  /** Frames but the service's pings, which come by the clock. `payload` is only there during the call. */
  onText(payload: Buffer): void;
  onEnd(why: string): void;
}

/**
 * Opens a WebSocket of `/v1/live` (RFC 6455, unfragmented text frames) that costs little, so that thousands of them leave
 * the machine to the service: reads of all sockets share one buffer, and a frame is handed over as it lies there.
 * @returns the client once the handshake is done
 */
export function openLive({ port, from, token, onText, onEnd }: LiveOptions): Promise<LiveClient> {
  const frames = new FrameReader({
    onText: (payload) => {
      if (!isPing(payload)) onText(payload);
    },
    onEnd,
    onPing: (payload) => void socket.write(frameOf(opcodes.pong, payload)),
  });
  const key = randomBytes(16).toString('base64');
  const accepted = createHash('sha1')
    .update(key + handshakeGuid)
    .digest('base64');
  let isOpen = false;
  let socket: Socket;
  return new Promise((resolve, reject) => {
    let head = Buffer.alloc(0);
    const take = (bytes: Buffer): void => {
      if (isOpen) return frames.take(bytes);
      head = Buffer.concat([head, bytes]);
      const end = head.indexOf('\r\n\r\n');
      if (end < 0) return;
      const text = head.toString('latin1', 0, end);
      if (!text.startsWith('HTTP/1.1 101') || !text.includes(accepted)) return reject(new Error(`No socket: ${head}`));
      isOpen = true;
      resolve({ send: (message) => socket.write(textFrameOf(message)), close: () => socket.destroy() });
      frames.take(head.subarray(end + 4));
    };
    const onread = {
      buffer: sharedBuffer,
      callback: (count: number): boolean => {
        take(sharedBuffer.subarray(0, count));
        return true;
      },
    };
    socket = connect({ host: '127.0.0.1', port, localAddress: from, noDelay: true, onread });
    socket.once('connect', () => socket.write(requestOf(port, key, token)));
    socket.once('error', (error) => reject(error));
    socket.once('close', () => (isOpen ? onEnd('the connection ended') : reject(new Error('No answer.'))));
  });
}

/** As {@link openLive}, subscribed to the first of a board's list under the id 1. */
export async function openTop({
  board,
  limit,
  ...how
}: LiveOptions & { board: string; limit: number }): Promise<LiveClient> {
  const client = await openLive(how);
  client.send({ type: 'subscribe', id: '1', board, channel: 'top', limit });
  return client;
}

const pingHead = Buffer.from('{"type":"ping"');

const isPing = (payload: Buffer): boolean => payload.subarray(0, pingHead.length).equals(pingHead);

const sharedBuffer = Buffer.alloc(readBytes);

const requestOf = (port: number, key: string, token: string | undefined): string =>
  [
    'GET /v1/live HTTP/1.1',
    `Host: 127.0.0.1:${port}`,
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    `Sec-WebSocket-Key: ${key}`,
    'Sec-WebSocket-Protocol: ladder.v1',
    ...(token === undefined ? [] : [`Authorization: Bearer ${token}`]),
    '\r\n',
  ].join('\r\n');

/** Whom frames are handed over to. */
export interface FrameTaker {
  onText(payload: Buffer): void;
  onPing(payload: Buffer): void;
  onEnd(why: string): void;
}

/** Cuts what a server sends into frames. */
export class FrameReader {
  #rest: Buffer | null = null;

  constructor(private readonly to: FrameTaker) {}

  /** @param bytes only lent: what is left of an unfinished frame is copied */
  take(bytes: Buffer): void {
    const all = this.#rest === null ? bytes : Buffer.concat([this.#rest, bytes]);
    let at = 0;
    while (at < all.length) {
      const end = this.#frame(all, at);
      if (end === null) break;
      at = end;
    }
    this.#rest = at === all.length ? null : Buffer.from(all.subarray(at));
  }

  /** Hands over the frame that begins there; the index after it, null when it is not all there. */
  #frame(all: Buffer, at: number): number | null {
    if (all.length < at + 2) return null;
    const short = all[at + 1]! & 0x7f;
    const head = short < 126 ? 2 : short === 126 ? 4 : 10;
    if (all.length < at + head) return null;
    const length = short < 126 ? short : short === 126 ? all.readUInt16BE(at + 2) : Number(all.readBigUInt64BE(at + 2));
    const end = at + head + length;
    if (all.length < end) return null;
    const payload = all.subarray(at + head, end);
    switch (all[at]) {
      case 0x80 | opcodes.text:
        this.to.onText(payload);
        break;
      case 0x80 | opcodes.ping:
        this.to.onPing(payload);
        break;
      case 0x80 | opcodes.close:
        this.to.onEnd(
          `closed with ${length >= 2 ? payload.readUInt16BE(0) : 'no code'}: ${payload.toString('utf8', 2)}`,
        );
        break;
      default:
        this.to.onEnd(`a frame that begins with ${all[at]}`);
    }
    return end;
  }
}

const textFrameOf = (message: object): Buffer => frameOf(opcodes.text, Buffer.from(JSON.stringify(message)));

/** A client's frame: masked, as the protocol wants it. */
function frameOf(opcode: number, payload: Buffer): Buffer {
  const isShort = payload.length < 126;
  const head = Buffer.alloc(isShort ? 6 : 8);
  head[0] = 0x80 | opcode;
  head[1] = 0x80 | (isShort ? payload.length : 126);
  if (!isShort) head.writeUInt16BE(payload.length, 2);
  const mask = randomBytes(4);
  mask.copy(head, head.length - 4);
  const masked = Buffer.from(payload);
  for (let at = 0; at < masked.length; at += 1) masked[at]! ^= mask[at % 4]!;
  return Buffer.concat([head, masked]);
}
