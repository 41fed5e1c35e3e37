import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { WebSocketServer, type WebSocket } from 'ws';
import { FrameReader, openLive } from './client.js';

let server: WebSocketServer | undefined;
afterEach(() => server?.close());

const text = (content: string): Buffer => {
  const payload = Buffer.from(content);
  const head = payload.length < 126 ? Buffer.from([0x81, payload.length]) : Buffer.from([0x81, 126, 0, 0]);
  if (payload.length >= 126) head.writeUInt16BE(payload.length, 2);
  return Buffer.concat([head, payload]);
};

describe('the benchmark’s own client', () => {
  it('takes frames however they are cut', () => {
    const contents = ['a', 'b'.repeat(126), 'é'.repeat(300)];
    const all = Buffer.concat(contents.map(text));
    for (const step of [1, 2, 7, 127, all.length]) {
      const got: string[] = [];
      const refuse = (): never => expect.fail('only texts were sent');
      const onText = (payload: Buffer): void => void got.push(payload.toString());
      const reader = new FrameReader({ onText, onPing: refuse, onEnd: refuse });
      for (let at = 0; at < all.length; at += step) reader.take(Buffer.from(all.subarray(at, at + step)));
      expect(got).toEqual(contents);
    }
  });

  it('talks to a server that knows the protocol, and hears of its end', async () => {
    server = new WebSocketServer({ port: 0, handleProtocols: () => 'ladder.v1' });
    await once(server, 'listening');
    const got: string[] = [];
    const ended: string[] = [];
    const connected = once(server, 'connection') as Promise<[WebSocket]>;
    const client = await openLive({
      port: (server.address() as AddressInfo).port,
      from: '127.0.0.2',
      onText: (payload) => void got.push(payload.toString()),
      onEnd: (why) => void ended.push(why),
    });
    const [peer] = await connected;
    client.send({ long: 'x'.repeat(200) });
    expect(JSON.parse(String((await once(peer, 'message'))[0]))).toEqual({ long: 'x'.repeat(200) });
    peer.ping('now');
    expect(String((await once(peer, 'pong'))[0])).toBe('now');
    peer.send('y'.repeat(70_000));
    await expect.poll(() => got.map(({ length }) => length)).toEqual([70_000]);
    peer.close(1012, 'restart');
    await expect.poll(() => ended[0]).toBe('closed with 1012: restart');
    client.close();
  });
});
