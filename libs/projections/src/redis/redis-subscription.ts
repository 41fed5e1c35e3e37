import { backoffMs, sleep } from '@laddercast/platform';
import type { RedisConnection } from './redis-connection.js';

export interface RedisSubscriptionOptions<Message> {
  /** The channel, without the namespace of the installation. */
  channel: string;
  /** Parses a message; undefined: it is ignored. */
  read: (text: string) => Message | undefined;
  /** Told to a listener as soon as it hears the channel, and whenever it does again: what was said before is missed. */
  whenMissed?: Message;
  /** Told why the channel is not heard, the same once until it is, while the connection is made anew; and of failures of listeners. */
  onError: (error: Error) => void;
}

const RECONNECT_FIRST_MS = 50;
const RECONNECT_MAX_MS = 2000;

/**
 * Follows one channel for as long as anybody listens, over a connection of its own that is made anew for ever. In a
 * cluster any node hears what any node is told; another one is asked when it ends.
 */
export class RedisSubscription<Message> {
  private readonly listeners = new Set<(message: Message) => void>();
  private following: { stop: AbortController; isHeard: boolean } | null = null;

  constructor(
    private readonly redis: RedisConnection,
    private readonly options: RedisSubscriptionOptions<Message>,
  ) {}

  /** The channel as Redis knows it. */
  get channel(): string {
    return this.redis.namespace + this.options.channel;
  }

  /** Calls the listener for each message, also where Redis is away now; returns how to end that. */
  add(listener: (message: Message) => void): () => void {
    this.listeners.add(listener);
    if (this.following === null) void this.follow();
    else if (this.following.isHeard) queueMicrotask(() => this.listeners.has(listener) && this.tellMissed([listener]));
    return () => {
      this.listeners.delete(listener);
      if (this.listeners.size > 0) return;
      this.following?.stop.abort();
      this.following = null;
    };
  }

  private async follow(): Promise<void> {
    const following = { stop: new AbortController(), isHeard: false };
    const { signal } = following.stop;
    this.following = following;
    let said = '';
    for (let failures = 0; !signal.aborted; failures += 1) {
      const onHeard = (): void => {
        failures = 0;
        said = '';
        following.isHeard = true;
        this.tellMissed(this.listeners);
      };
      const failure = await this.followOnce(signal, onHeard);
      if (failure !== null && failure.message !== said) {
        said = failure.message;
        this.options.onError(failure);
      }
      following.isHeard = false;
      await sleep(backoffMs(failures, RECONNECT_FIRST_MS, RECONNECT_MAX_MS), signal);
    }
  }

  /** Resolves when the connection has ended, with what was the matter where it was never heard. */
  private async followOnce(signal: AbortSignal, onHeard: () => void): Promise<Error | null> {
    const client = this.redis.subscriber();
    let reason: Error | null = null;
    client.once('error', (error: Error) => (reason = error));
    const ended = new Promise<void>((resolve) => client.once('end', resolve));
    const disconnect = (): void => client.disconnect();
    signal.addEventListener('abort', disconnect);
    client.on('message', (_channel: string, text: string) => this.heard(text));
    try {
      await client.connect();
      await client.subscribe(this.channel);
      if (!signal.aborted) onHeard();
      await ended;
      return null;
    } catch (error) {
      disconnect();
      // The connection says why it is closed, and the call only that it is.
      return signal.aborted ? null : (reason ?? (error as Error));
    } finally {
      signal.removeEventListener('abort', disconnect);
    }
  }

  private heard(text: string): void {
    let message: Message | undefined;
    try {
      message = this.options.read(text);
    } catch (error) {
      return this.options.onError(error as Error);
    }
    if (message !== undefined) this.tell(this.listeners, message);
  }

  private tellMissed(listeners: Iterable<(message: Message) => void>): void {
    if (this.options.whenMissed !== undefined) this.tell(listeners, this.options.whenMissed);
  }

  private tell(listeners: Iterable<(message: Message) => void>, message: Message): void {
    for (const listener of listeners) {
      try {
        listener(message);
      } catch (error) {
        this.options.onError(error as Error);
      }
    }
  }
}
