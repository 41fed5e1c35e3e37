import { EventEmitter } from 'node:events';
import type { Server } from 'node:http';
import type { INestApplication } from '@nestjs/common';
import { WsAdapter } from '@nestjs/platform-ws';
import type { ServerOptions, WebSocket, WebSocketServer } from 'ws';
import { Admission } from './admission.js';
import { parseFrame } from '../protocol/ws-frames.js';
import { LiveOptions } from '../live-options.js';
import { splitUpgrades } from './upgrades.js';

/** Nest's ws adapter with the frames of `ladder.v1`: `{ type, … }` instead of `{ event, data }`. */
class LiveAdapter extends WsAdapter {
  constructor(
    private readonly server: Server,
    { messageBytesMax }: LiveOptions,
    private readonly door: Admission,
  ) {
    // Nest ends what is not for its socket, and so gets the upgrades that are alone.
    super(new EventEmitter(), { messageParser: (frame) => parseFrame(frame, messageBytesMax) });
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
    splitUpgrades(this.server, options!.path as string, this.httpServer as EventEmitter);
    return super.create(port, { ...options, verifyClient }) as WebSocketServer;
  }

  /** A client's broken frame closes its own socket, with the code that says why; that is not logged. */
  override bindErrorHandler(server: WebSocketServer): WebSocketServer {
    server.on('connection', (client: WebSocket) => client.on('error', () => undefined));
    server.on('error', (error) => this.logger.error(error));
    return server;
  }
}

/** The adapter for `app.useWebSocketAdapter`, with the limits that the application provides as {@link LiveOptions}. */
export function createLiveAdapter(app: INestApplication): WsAdapter {
  const server = app.getHttpServer() as Server;
  return new LiveAdapter(server, app.get(LiveOptions, { strict: false }), app.get(Admission, { strict: false }));
}
