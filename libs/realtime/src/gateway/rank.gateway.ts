import type { IncomingMessage } from 'node:http';
import {
  ConnectedSocket,
  MessageBody,
  SubscribeMessage,
  WebSocketGateway,
  type OnGatewayConnection,
  type OnGatewayDisconnect,
} from '@nestjs/websockets';
import type { BeforeApplicationShutdown, OnApplicationBootstrap } from '@nestjs/common';
import { boardNow } from '@laddercast/commands';
import { LadderError } from '@laddercast/domain';
import { BoardCatalog } from '@laddercast/ledger';
import { requestIdOf, sleep } from '@laddercast/platform';
import type { WebSocket } from 'ws';
import { Admission } from '../connection/admission.js';
import { LiveFeeds } from '../feeds/live-feeds.js';
import { idOf, type RefusedMessage } from '../protocol/ws-frames.js';
import { GatewayAnnouncements } from '../feeds/gateway-announcements.js';
import { readResume, readSubscribe } from '../channels/channel-table.js';
import { ChannelMessage, readAuthenticate, readUnsubscribe, type RatingMessage } from '../protocol/client-messages.js';
import { CLOSE, LiveSocket } from '../connection/live-socket.js';
import type { LiveStats } from '../live-stats.js';
import { SubscriptionLifecycle } from './subscription-lifecycle.js';
import { AlivePings } from './alive-pings.js';
import { asLadderError } from '../protocol/problems.js';
import { SocketIdentities, turnAway } from '../connection/socket-identities.js';

export const LIVE_PATH = '/v1/live';
export const LIVE_SUBPROTOCOL = 'ladder.v1';

/**
 * Messages above `messageBytesMax` are answered with an error frame. ws can only close the socket (1009), so its limit
 * is beyond what anybody sends by mistake.
 */
const FRAME_BYTES_MAX = 64 * 1024;
const CLOSE_TIMEOUT_MS = 5000;
const SHUTDOWN_WAIT_MS = 1000;
const RESTARTING = 'this gateway is restarting';

const SERVER_OPTIONS = {
  path: LIVE_PATH,
  maxPayload: FRAME_BYTES_MAX,
  perMessageDeflate: false,
  closeTimeout: CLOSE_TIMEOUT_MS,
  handleProtocols: (offered: Set<string>): string | false => offered.has(LIVE_SUBPROTOCOL) && LIVE_SUBPROTOCOL,
};

/**
 * `GET /v1/live`: the WebSocket side of the public contract, on the port of the HTTP server.
 * Every message of a client is answered: with frames, or with an error frame that carries the problem.
 */
@WebSocketGateway(SERVER_OPTIONS)
export class RankGateway
  implements OnGatewayConnection, OnGatewayDisconnect, OnApplicationBootstrap, BeforeApplicationShutdown
{
  private readonly sockets = new Map<WebSocket, LiveSocket>();
  private readonly identities: SocketIdentities;
  private readonly pings: AlivePings;
  private sweepTimer: NodeJS.Timeout | null = null;
  private stopListening: (() => void) | null = null;
  private isStopping = false;

  constructor(
    private readonly subscriptions: SubscriptionLifecycle,
    private readonly feeds: LiveFeeds,
    private readonly boards: BoardCatalog,
    private readonly news: GatewayAnnouncements,
    private readonly door: Admission,
  ) {
    const { authenticator, options } = subscriptions;
    this.identities = new SocketIdentities(authenticator, options.keyCheckEveryMs);
    this.pings = new AlivePings(options.aliveEveryMs, (socket) => subscriptions.asOfMs(socket));
  }

  onApplicationBootstrap(): void {
    this.feeds.start();
    this.news.start();
    this.stopListening = this.boards.onChange((board, gone) => {
      // A reset shows as two changes, and only after both the id leads to the new board.
      if (gone) setImmediate(() => void this.subscriptions.boardGone(board));
      else this.subscriptions.boardChanged(board);
    });
    this.sweepTimer = setInterval(() => this.sweep(), this.subscriptions.options.sweepEveryMs);
    this.pings.start();
  }

  /** Tells every client to connect elsewhere (1012), and gives them a second to hear it. */
  async beforeApplicationShutdown(): Promise<void> {
    this.isStopping = true;
    if (this.sweepTimer) clearInterval(this.sweepTimer);
    this.pings.stop();
    this.stopListening?.();
    for (const socket of this.sockets.values()) socket.close(CLOSE.RESTART, RESTARTING);
    for (let waited = 0; this.sockets.size > 0 && waited < SHUTDOWN_WAIT_MS; waited += 20) await sleep(20);
    this.feeds.stop();
    this.news.stop();
  }

  /** For metrics. */
  stats(): LiveStats {
    return { ...this.subscriptions.stats };
  }

  handleConnection(client: WebSocket, request: IncomingMessage): void {
    const { options, stats } = this.subscriptions;
    const socket = new LiveSocket(client, request.socket, this.door.addressOf(request), options, stats);
    socket.requestId = requestIdOf(request.headers);
    if (this.isStopping) return socket.close(CLOSE.RESTART, RESTARTING);
    if (this.sockets.size >= options.socketsMax) {
      socket.error(new LadderError('OVERLOADED', 'This gateway has as many connections as it takes; try another.'));
      return socket.close(CLOSE.TRY_LATER, 'too many connections');
    }
    const { identity, token, error } = this.door.arrivalOf(request);
    if (token !== null) socket.identify(identity, token);
    if (!this.admit(socket)) return;
    this.sockets.set(client, socket);
    this.pings.add(socket);
    stats.sockets += 1;
    if (error !== undefined) refuseIdentity(socket, error);
  }

  handleDisconnect(client: WebSocket): void {
    const socket = this.sockets.get(client);
    if (!socket) return;
    this.sockets.delete(client);
    this.pings.remove(socket);
    this.door.leave(socket);
    this.subscriptions.stats.sockets -= 1;
    this.subscriptions.endAll(socket);
  }

  @SubscribeMessage('subscribe')
  subscribe(@ConnectedSocket() client: WebSocket, @MessageBody() data: Record<string, unknown>): void {
    this.answer(client, idOf(data), (socket) => this.serve(socket, readSubscribe(data)));
  }

  @SubscribeMessage('resume')
  resume(@ConnectedSocket() client: WebSocket, @MessageBody() data: Record<string, unknown>): void {
    this.answer(client, idOf(data), async (socket) => {
      const request = readResume(data);
      await this.serve(socket, request, request.seq);
    });
  }

  @SubscribeMessage('unsubscribe')
  unsubscribe(@ConnectedSocket() client: WebSocket, @MessageBody() data: Record<string, unknown>): void {
    this.answer(client, idOf(data), async (socket) => this.subscriptions.unsubscribe(socket, readUnsubscribe(data)));
  }

  @SubscribeMessage('authenticate')
  authenticate(@ConnectedSocket() client: WebSocket, @MessageBody() data: Record<string, unknown>): void {
    this.answer(client, undefined, (socket) => this.authenticateAs(socket, readAuthenticate(data)));
  }

  /** A frame that the adapter could not read as a message. */
  @SubscribeMessage('refused')
  refused(@ConnectedSocket() client: WebSocket, @MessageBody() { id, error }: RefusedMessage): void {
    this.answer(client, id, () => Promise.reject(error));
  }

  private answer(client: WebSocket, id: string | undefined, work: (socket: LiveSocket) => Promise<void>): void {
    const socket = this.sockets.get(client);
    if (!socket) return;
    const tell = (error: unknown): void => socket.error(asLadderError(error, socket.requestId), id);
    try {
      socket.enqueue(async () => {
        try {
          if (socket.isOpen) await work(socket);
        } catch (error) {
          // This catches errors before the first step, too: the promise must never reject.
          tell(error);
        }
      });
    } catch (error) {
      tell(error);
    }
  }

  private async serve(socket: LiveSocket, request: ChannelMessage | RatingMessage, seq?: number): Promise<void> {
    await this.door.subscribes(socket, request.id);
    if (request instanceof ChannelMessage) await boardNow(this.boards, request.board);
    await this.subscriptions.subscribe(socket, request.id, request, seq);
  }

  /** @throws UNAUTHENTICATED, RATE_LIMITED, and where it cannot be checked now */
  private async authenticateAs(socket: LiveSocket, token: string): Promise<void> {
    await this.subscriptions.identify(socket, await this.door.identify(token, socket.address), token);
    this.admit(socket);
  }

  /** Counts the socket with its party; closes it when the party has too many. */
  private admit(socket: LiveSocket): boolean {
    try {
      if (socket.isOpen) this.door.enter(socket);
      return true;
    } catch (error) {
      socket.error(asLadderError(error));
      socket.close(CLOSE.TRY_LATER, 'too many connections');
      return false;
    }
  }

  private sweep(): void {
    this.identities.sweep(this.sockets.values());
    for (const socket of this.sockets.values()) socket.sweep();
    this.endWorstReaders();
    this.subscriptions.sweep();
  }

  /** Ends the sockets with the most unsent bytes, until all together are within the limit. */
  private endWorstReaders(): void {
    const readers = [...this.sockets.values()].map((socket) => ({ socket, bytes: socket.bufferedBytes }));
    let unsent = readers.reduce((sum, { bytes }) => sum + bytes, 0);
    const { unsentBytesMax } = this.subscriptions.options;
    if (unsent <= unsentBytesMax) return;
    for (const { socket, bytes } of readers.sort((a, b) => b.bytes - a.bytes)) {
      socket.terminate();
      unsent -= bytes;
      if (unsent <= unsentBytesMax) return;
    }
  }
}

/** Tells a client that named an identity why it has none, and ends its socket. */
function refuseIdentity(socket: LiveSocket, error: unknown): void {
  const problem = asLadderError(error, socket.requestId);
  if (problem.code === 'UNAUTHENTICATED') return turnAway(socket, problem);
  socket.error(problem);
  socket.close(CLOSE.TRY_LATER, 'the identity cannot be checked now');
}
