import type { INestApplicationContext } from '@nestjs/common';
import { WsAdapter } from '@nestjs/platform-ws';
import type { WebSocket, WebSocketServer } from 'ws';
import { parseFrame } from './live-messages.js';
import { LiveOptions } from './live-options.js';

/** Nest's ws adapter with the frames of `ladder.v1`: `{ type, … }` instead of `{ event, data }`. */
class LiveAdapter extends WsAdapter {
  constructor(app: INestApplicationContext, { messageBytesMax }: LiveOptions) {
    super(app, { messageParser: (frame) => parseFrame(frame, messageBytesMax) });
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
  return new LiveAdapter(app, app.get(LiveOptions, { strict: false }));
}
