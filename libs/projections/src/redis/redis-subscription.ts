import { backoffMs, sleep } from '@laddercast/platform';
import type { RedisConnection } from './redis-connection.js';

export interface RedisSubscriptionOptions<Message> {
  /** The channel, without the namespace of the installation. */
  channel: string;
  /** What a text says; undefined for one that is to be passed over. */
  read: (text: string) => Message | undefined;
  /** Told to the listeners whenever the channel is heard (again): what was said before is missed. */
  whenMissed?: Message;
  /** Told of failures of the subscription's connection, which is made anew, and of those of listeners. */
  onError: (error: Error) => void;
}

const RECONNECT_FIRST_MS = 50;
const RECONNECT_MAX_MS = 2000;

/**
 * Follows one channel for as long as anybody listens. In a cluster any node hears what any node is told; another one is
 * asked when it ends.
 */
export class RedisSubscription<Message> {
  private readonly listeners = new Set<(message: Message) => void>();
  private following: AbortController | null = null;

  constructor(
    private readonly redis: RedisConnection,
    private readonly options: RedisSubscriptionOptions<Message>,
  ) {}

  /** The channel as Redis knows it. */
  get channel(): string {
    return this.redis.namespace + this.options.channel;
  }

  /** Calls the listener for each message; returns how to end that. */
  add(listener: (message: Message) => void): () => Promise<void> {
    this.listeners.add(listener);
    if (this.following === null) {
      this.following = new AbortController();
      void this.follow(this.following.signal);
    }
    return async () => {
      this.listeners.delete(listener);
      if (this.listeners.size > 0) return;
      this.following?.abort();
      this.following = null;
    };
  }

  private async follow(signal: AbortSignal): Promise<void> {
    for (let failures = 0; !signal.aborted; failures += 1) {
      if (await this.followOnce(signal)) failures = 0;
      await sleep(backoffMs(failures, RECONNECT_FIRST_MS, RECONNECT_MAX_MS), signal);
    }
  }

  /** Resolves when the connection has ended, to whether the channel was heard. */
  private async followOnce(signal: AbortSignal): Promise<boolean> {
    const client = this.redis.subscriber();
    const ended = new Promise<void>((resolve) => client.once('end', resolve));
    const disconnect = (): void => client.disconnect();
    signal.addEventListener('abort', disconnect);
    client.on('message', (_channel: string, text: string) => this.heard(text));
    try {
      await client.connect();
      await client.subscribe(this.channel);
      if (this.options.whenMissed !== undefined) this.tell(this.options.whenMissed);
      await ended;
      return true;
    } catch (error) {
      disconnect();
      if (!signal.aborted) this.options.onError(error as Error);
      return false;
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
    if (message !== undefined) this.tell(message);
  }

  private tell(message: Message): void {
    for (const listener of this.listeners) {
      try {
        listener(message);
      } catch (error) {
        this.options.onError(error as Error);
      }
    }
  }
}
