import type { INestApplicationContext } from '@nestjs/common';
import { WsAdapter } from '@nestjs/platform-ws';
import type { ServerOptions, WebSocket, WebSocketServer } from 'ws';
import { LiveDoor } from './live-door.js';
import { parseFrame } from './live-messages.js';
import { LiveOptions } from './live-options.js';

/** Nest's ws adapter with the frames of `ladder.v1`: `{ type, … }` instead of `{ event, data }`. */
class LiveAdapter extends WsAdapter {
  constructor(
    app: INestApplicationContext,
    { messageBytesMax }: LiveOptions,
    private readonly door: LiveDoor,
  ) {
    super(app, { messageParser: (frame) => parseFrame(frame, messageBytesMax) });
  }

  /** Whoever may not come in is answered with a problem, as any request, and no socket is made. */
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
    return super.create(port, { ...options, verifyClient }) as WebSocketServer;
  }

  /** A client's broken frame closes its own socket, with the code that says why: nothing for the log. */
  override bindErrorHandler(server: WebSocketServer): WebSocketServer {
    server.on('connection', (client: WebSocket) => client.on('error', () => undefined));
    server.on('error', (error) => this.logger.error(error));
    return server;
  }
}

/** The adapter for `app.useWebSocketAdapter`, with the limits that the application provides as {@link LiveOptions}. */
export function createLiveAdapter(app: INestApplicationContext): WsAdapter {
  return new LiveAdapter(app, app.get(LiveOptions, { strict: false }), app.get(LiveDoor, { strict: false }));
}
