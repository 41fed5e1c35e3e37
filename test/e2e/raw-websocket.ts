import { randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';

export const OPCODE = { CONTINUATION: 0, TEXT: 1, BINARY: 2, CLOSE: 8, PING: 9, PONG: 10 } as const;

interface FrameOptions {
  fin?: boolean;
  /** Bit 0x4 is RSV1: a compressed message. */
  rsv?: number;
  masked?: boolean;
  /** What the header says, whatever comes. */
  length?: number;
}

/** A frame of RFC 6455, section 5.2, right or wrong. */
export function frameOf(opcode: number, payload: string | Buffer, options: FrameOptions = {}): Buffer {
  const { fin = true, rsv = 0, masked = true } = options;
  const data = Buffer.from(payload);
  const length = options.length ?? data.length;
  const mask = masked ? 0x80 : 0;
  const first = (fin ? 0x80 : 0) | (rsv << 4) | opcode;
  let head: Buffer;
  if (length < 126) head = Buffer.from([first, mask | length]);
  else if (length < 65_536) head = Buffer.from([first, mask | 126, length >> 8, length & 255]);
  else {
    head = Buffer.alloc(10);
    head.set([first, mask | 127]);
    head.writeBigUInt64BE(BigInt(length), 2);
  }
  if (!masked) return Buffer.concat([head, data]);
  const key = randomBytes(4);
  return Buffer.concat([head, key, data.map((byte, i) => byte ^ key[i % 4]!)]);
}

/** A WebSocket client that may send any bytes, and does nothing by itself: it answers no ping and no close. */
export class RawWebSocket {
  readonly texts: string[] = [];
  pings = 0;
  pongs = 0;
  /** null while the server has not closed; a connection that broke without a close frame has 1006. */
  closeCode: number | null = null;
  private unread = Buffer.alloc(0);

  private constructor(readonly socket: Socket) {
    socket.on('data', (chunk: Buffer) => this.read(chunk));
    socket.on('close', () => (this.closeCode ??= 1006));
    socket.on('error', () => undefined);
  }

  static async connect(url: string, headers: Record<string, string> = {}): Promise<RawWebSocket> {
    const { hostname, port, pathname } = new URL(url);
    const socket = connect(Number(port), hostname);
    const lines = Object.entries({
      Host: hostname,
      Connection: 'Upgrade',
      Upgrade: 'websocket',
      'Sec-WebSocket-Version': '13',
      'Sec-WebSocket-Key': randomBytes(16).toString('base64'),
      'Sec-WebSocket-Protocol': 'ladder.v1',
      ...headers,
    }).map(([name, value]) => `${name}: ${value}`);
    socket.write([`GET ${pathname} HTTP/1.1`, ...lines, '', ''].join('\r\n'));
    const head = await headOf(socket);
    if (!head.text.startsWith('HTTP/1.1 101 ')) throw new Error(head.text);
    const client = new RawWebSocket(socket);
    client.read(head.rest);
    return client;
  }

  send(...frames: Buffer[]): void {
    if (!this.socket.destroyed) this.socket.write(Buffer.concat(frames));
  }

  private read(chunk: Buffer): void {
    this.unread = Buffer.concat([this.unread, chunk]);
    for (let frame = this.next(); frame; frame = this.next()) {
      if (frame.opcode === OPCODE.TEXT) this.texts.push(frame.payload.toString());
      else if (frame.opcode === OPCODE.PING) this.pings += 1;
      else if (frame.opcode === OPCODE.PONG) this.pongs += 1;
      else if (frame.opcode === OPCODE.CLOSE)
        this.closeCode = frame.payload.length >= 2 ? frame.payload.readUInt16BE() : 1005;
    }
  }

  /** The server sends whole, unmasked frames. */
  private next(): { opcode: number; payload: Buffer } | null {
    const { unread } = this;
    if (unread.length < 2) return null;
    const short = unread[1]! & 0x7f;
    const from = short < 126 ? 2 : short === 126 ? 4 : 10;
    if (unread.length < from) return null;
    const length = short < 126 ? short : short === 126 ? unread.readUInt16BE(2) : Number(unread.readBigUInt64BE(2));
    if (unread.length < from + length) return null;
    this.unread = unread.subarray(from + length);
    return { opcode: unread[0]! & 0x0f, payload: unread.subarray(from, from + length) };
  }
}

function headOf(socket: Socket): Promise<{ text: string; rest: Buffer }> {
  return new Promise((resolve, reject) => {
    let bytes = Buffer.alloc(0);
    const onData = (chunk: Buffer): void => {
      bytes = Buffer.concat([bytes, chunk]);
      const end = bytes.indexOf('\r\n\r\n');
      if (end < 0) return;
      socket.off('data', onData);
      resolve({ text: bytes.subarray(0, end).toString(), rest: bytes.subarray(end + 4) });
    };
    socket.on('data', onData);
    socket.once('error', reject);
    socket.once('close', () => reject(new Error('the connection was closed before the answer')));
  });
}
