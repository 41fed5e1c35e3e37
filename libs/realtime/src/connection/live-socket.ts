import type { Socket } from 'node:net';
import type { Identity } from '@laddercast/identity';
import { LadderError } from '@laddercast/domain';
import { monotonicMs } from '@laddercast/platform';
import type { WebSocket } from 'ws';
import type { LiveOptions } from '../live-options.js';
import type { LiveStats } from '../live-stats.js';
import type { AnySubscription } from './live-subscription.js';

/** Close codes: RFC 6455 section 7.4, the IANA registry, and our own 4401. */
export const CLOSE = { POLICY: 1008, RESTART: 1012, TRY_LATER: 1013, UNAUTHENTICATED: 4401 } as const;

/** Unanswered pings after which a connection counts as dead. */
const PINGS_UNANSWERED_MAX = 2;
/** Refused messages in a row, without a pause, after which the socket is closed. */
const REFUSED_MAX = 1000;

/**
 * One client's connection: who it is, what it subscribed to, and how much it may be sent. Frames of one turn of the
 * event loop leave in one write. A reader that is too slow gets no more deltas until it has read what was sent, and
 * then fresh snapshots, so its buffer is bounded.
 */
export class LiveSocket {
  readonly subscriptions = new Map<string, AnySubscription>();
  /** The id of the request that opened it: names the socket in logs. */
  requestId: string | undefined;
  private who: Identity = { kind: 'anonymous' };
  private key: string | null = null;
  private behindSinceMs: number | null = null;
  private pingedAtMs = monotonicMs();
  private pingsUnanswered = 0;
  private isCorked = false;
  private unsentBefore = 0;
  private tokens: number;
  private tokensAtMs = monotonicMs();
  private refused = 0;
  private waiting = 0;
  private work: Promise<void> = Promise.resolve();

  /**
   * @param raw the TCP socket below, which is corked while a turn's frames are written
   * @param address the party of the socket until it has an identity
   */
  constructor(
    private readonly client: WebSocket,
    private readonly raw: Socket,
    readonly address: string,
    private readonly options: LiveOptions,
    private readonly stats: LiveStats,
  ) {
    this.tokens = options.messagesBurst;
    client.on('pong', () => (this.pingsUnanswered = 0));
  }

  get identity(): Identity {
    return this.who;
  }

  identify(identity: Identity, token: string): void {
    this.who = identity;
    this.key = identity.kind === 'key' ? token : null;
  }

  /**
   * The party that shares in what a gateway can watch: the player, or without identity the address; null for an API
   * key.
   */
  get party(): string | null {
    if (this.who.kind === 'key') return null;
    return this.who.kind === 'player' ? `player:${this.who.playerId}` : `address:${this.address}`;
  }

  /** The secret of a socket with an API key, which is looked up again. */
  get apiKey(): string | null {
    return this.key;
  }

  get isOpen(): boolean {
    return this.client.readyState === this.client.OPEN;
  }

  get bufferedBytes(): number {
    return this.client.bufferedAmount;
  }

  /**
   * Whether deltas are held back; a reader that has drained in the meantime gets its fresh snapshots first. Only bytes
   * that earlier turns left unsent count: this turn's frames were not offered to the network yet.
   */
  isBehind(): boolean {
    const unsent = this.isCorked ? this.unsentBefore : this.bufferedBytes;
    if (this.behindSinceMs === null) {
      if (unsent > this.options.behindBytes || this.isTurnFull()) this.behindSinceMs = monotonicMs();
    } else if (unsent === 0 && !this.isTurnFull()) {
      this.behindSinceMs = null;
      this.catchUp();
    }
    return this.behindSinceMs !== null;
  }

  /** Writes one text frame; a closed socket ignores it. */
  write(text: string): void {
    this.writeFramed(() => this.client.send(text, { binary: false }));
  }

  /**
   * Writes a finished WebSocket frame, bypassing ws: framing it anew for each of thousands of sockets costs as much as
   * sending it. ws also writes whole frames at once, so neither cuts the other's in two.
   */
  writeWire(frame: Buffer): void {
    this.writeFramed(() => this.raw.write(frame));
  }

  private writeFramed(write: () => void): void {
    if (!this.isOpen) return;
    if (!this.isCorked) this.cork();
    write();
    this.stats.framesSent += 1;
    if (this.bufferedBytes > this.options.bufferedBytesMax) this.terminate();
  }

  private cork(): void {
    this.unsentBefore = this.bufferedBytes;
    this.isCorked = true;
    this.raw.cork();
    setImmediate(() => {
      this.isCorked = false;
      this.raw.uncork();
    });
  }

  /** Half of the buffer is reserved for answers to the client's own requests. */
  private isTurnFull(): boolean {
    return this.bufferedBytes > this.options.bufferedBytesMax / 2;
  }

  private catchUp(): void {
    for (const subscription of this.subscriptions.values()) {
      if (this.isTurnFull()) {
        this.behindSinceMs = monotonicMs();
        return;
      }
      subscription.catchUp();
    }
  }

  /** Tells the client what went wrong, in the body that REST would answer. */
  error(error: LadderError, id?: string): void {
    const named = id === undefined ? {} : { id };
    this.write(JSON.stringify({ type: 'error', ...named, problem: error.toProblem() }));
  }

  close(code: number, reason: string): void {
    this.client.close(code, reason);
  }

  terminate(): void {
    this.stats.terminated += 1;
    this.client.terminate();
  }

  /** Periodic work: a ping, and snapshots for a reader that has drained. */
  sweep(): void {
    this.pingWhenDue();
    if (this.behindSinceMs === null || !this.isBehind()) return;
    if (monotonicMs() - this.behindSinceMs > this.options.behindForMs) this.terminate();
  }

  private pingWhenDue(): void {
    const now = monotonicMs();
    if (now - this.pingedAtMs < this.options.pingEveryMs) return;
    this.pingedAtMs = now;
    if (this.pingsUnanswered >= PINGS_UNANSWERED_MAX) return this.terminate();
    this.pingsUnanswered += 1;
    if (this.isOpen) this.client.ping();
  }

  /**
   * Answers messages one after another, so that an unsubscribe never overtakes its subscribe. `answer` must not reject.
   * @throws TOO_MANY_MESSAGES when the socket sends more than it may, or more than can wait
   */
  enqueue(answer: () => Promise<void>): void {
    this.takeToken();
    if (this.waiting >= this.options.messagesWaitingMax) throw this.tooMany();
    this.waiting += 1;
    this.work = this.work.then(answer).finally(() => (this.waiting -= 1));
  }

  private takeToken(): void {
    const now = monotonicMs();
    const { messagesBurst, messagesPerSecond } = this.options;
    const earned = ((now - this.tokensAtMs) / 1000) * messagesPerSecond;
    this.tokens = Math.min(messagesBurst, this.tokens + earned);
    this.tokensAtMs = now;
    if (this.tokens < 1) throw this.tooMany();
    // An accepted message between refusals is no pause; a second of silence is.
    if (this.tokens >= Math.min(messagesPerSecond, messagesBurst)) this.refused = 0;
    this.tokens -= 1;
  }

  private tooMany(): LadderError {
    this.refused += 1;
    if (this.refused > REFUSED_MAX) this.close(CLOSE.POLICY, 'too many messages');
    const { messagesBurst, messagesPerSecond } = this.options;
    const detail = `Send at most ${messagesPerSecond} messages a second, ${messagesBurst} at once.`;
    return new LadderError('TOO_MANY_MESSAGES', detail, { retryAfterSeconds: Math.ceil(1 / messagesPerSecond) });
  }
}
