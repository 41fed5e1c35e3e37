import { EventEmitter } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { LadderError } from '@laddercast/domain';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { WsAdapter } from '@nestjs/platform-ws';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ServerOptions, WebSocket, WebSocketServer } from 'ws';
import { Admission } from './admission.js';
import { parseFrame } from '../protocol/ws-frames.js';
import { LiveOptions } from '../live-options.js';
import { answerWithout, splitUpgrades } from './upgrades.js';

const HANDSHAKE_HEADERS = { Connection: 'Upgrade', Upgrade: 'websocket', 'Sec-WebSocket-Version': '13' };

/** For what comes to the socket's address, and is no handshake or not a whole one. @throws UPGRADE_REQUIRED */
function answerNoHandshake(_request: FastifyRequest, reply: FastifyReply): never {
  void reply.headers(HANDSHAKE_HEADERS);
  throw new LadderError(
    'UPGRADE_REQUIRED',
    'Open a WebSocket here: GET with Connection: Upgrade, Upgrade: websocket, Sec-WebSocket-Version: 13, a Sec-WebSocket-Key ' +
      'and Sec-WebSocket-Protocol: ladder.v1.',
  );
}

/** Nest's ws adapter with the frames of `ladder.v1`: `{ type, … }` instead of `{ event, data }`. */
class LiveAdapter extends WsAdapter {
  constructor(
    private readonly server: FastifyInstance,
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
    const path = options!.path as string;
    splitUpgrades(this.server.server, path, this.httpServer as EventEmitter);
    this.server.get(path, answerNoHandshake);
    const sockets = super.create(port, { ...options, verifyClient }) as WebSocketServer;
    sockets.on('wsClientError', (_failure: Error, socket: Duplex, request: IncomingMessage) =>
      answerWithout(this.server.server, request, socket),
    );
    return sockets;
  }

  /** A client's broken frame closes its own socket, with the code that says why; that is not logged. */
  override bindErrorHandler(server: WebSocketServer): WebSocketServer {
    server.on('connection', (client: WebSocket) => client.on('error', () => undefined));
    server.on('error', (error) => this.logger.error(error));
    return server;
  }
}

/** The adapter for `app.useWebSocketAdapter`, with the limits that the application provides as {@link LiveOptions}. */
export function createLiveAdapter(app: NestFastifyApplication): WsAdapter {
  const server = app.getHttpAdapter().getInstance();
  return new LiveAdapter(server, app.get(LiveOptions, { strict: false }), app.get(Admission, { strict: false }));
}
