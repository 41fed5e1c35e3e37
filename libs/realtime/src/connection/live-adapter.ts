import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { INestApplicationContext } from '@nestjs/common';
import { WsAdapter } from '@nestjs/platform-ws';
import type { ServerOptions, WebSocket, WebSocketServer } from 'ws';
import { Admission } from './admission.js';
import { parseFrame } from '../protocol/ws-frames.js';
import { LiveOptions } from '../live-options.js';

/** Nest's ws adapter with the frames of `ladder.v1`: `{ type, … }` instead of `{ event, data }`. */
class LiveAdapter extends WsAdapter {
  constructor(
    app: INestApplicationContext,
    { messageBytesMax }: LiveOptions,
    private readonly door: Admission,
  ) {
    super(app, { messageParser: (frame) => parseFrame(frame, messageBytesMax) });
  }

  /** A refused client is answered with a problem, like any request, and no socket is made. */
  override create(port: number, options: Parameters<WsAdapter['create']>[1]): WebSocketServer {
    const verifyClient: ServerOptions['verifyClient'] = ({ req }, answer) => {
      void this.door.refusalOf(req).then((refusal) => {
        if (refusal === null) return answer(true);
        const { retryAfterSeconds } = refusal.extensions;
        answer(false, refusal.status, JSON.stringify(refusal.toProblem(req.url?.split('?')[0])), {
          'Content-Type': 'application/problem+json; charset=utf-8',
          ...(typeof retryAfterSeconds === 'number' ? { 'Retry-After': String(retryAfterSeconds) } : {}),
        });
      });
    };
    // Before Nest adds its own listener, so that this one is asked first.
    this.httpServer.prependListener('upgrade', guardUpgrade);
    return super.create(port, { ...options, verifyClient }) as WebSocketServer;
  }

  /** A client's broken frame closes its own socket, with the code that says why; that is not logged. */
  override bindErrorHandler(server: WebSocketServer): WebSocketServer {
    server.on('connection', (client: WebSocket) => client.on('error', () => undefined));
    server.on('error', (error) => this.logger.error(error));
    return server;
  }
}

/**
 * Node hands over the socket of an upgrade without an error listener, and Nest answers an address that is no URL
 * without adding one. So the reset of such a connection would end the process, and one that is never closed would stay.
 */
function guardUpgrade({ url = '', headers }: IncomingMessage, socket: Duplex): void {
  socket.on('error', () => socket.destroy());
  if (!URL.canParse(url, `ws://${headers.host}/`)) socket.destroy();
}

/** The adapter for `app.useWebSocketAdapter`, with the limits that the application provides as {@link LiveOptions}. */
export function createLiveAdapter(app: INestApplicationContext): WsAdapter {
  return new LiveAdapter(app, app.get(LiveOptions, { strict: false }), app.get(Admission, { strict: false }));
}
