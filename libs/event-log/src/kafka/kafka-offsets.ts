import type { Consumer } from 'kafkajs';
import { reasonOf, type LogLine } from '../delivery/log-line.js';

const COMMIT_EVERY_MS = 100;
const RETRY_AFTER_MS = 1000;

/**
 * The offsets of one consumer that wait to be committed: together, at most every 100 ms.
 * A commit that fails is repeated a second later; after a rebalance what waits is forgotten, and comes again.
 */
export class KafkaOffsets {
  /** By topic and partition: the next offset to read. Bounded by their number. */
  private readonly waiting = new Map<string, { topic: string; partition: number; offset: string }>();
  private timer: NodeJS.Timeout | null = null;
  private generation = 0;
  private committing: Promise<void> = Promise.resolve();

  constructor(
    private readonly consumer: Pick<Consumer, 'commitOffsets'>,
    private readonly log: LogLine,
  ) {}

  /** Notes that everything before `offset` was handled. */
  note(topic: string, partition: number, offset: string): void {
    this.waiting.set(`${topic}/${partition}`, { topic, partition, offset });
    this.timer ??= setTimeout(() => void this.flush(), COMMIT_EVERY_MS);
  }

  /** Commits what waits; it never rejects. */
  flush(): Promise<void> {
    this.clearTimer();
    this.committing = this.committing.then(() => this.commit());
    return this.committing;
  }

  /** After a rebalance: what waited, or is being committed, belongs to others now. */
  forget(): void {
    this.generation += 1;
    this.waiting.clear();
  }

  async stop(): Promise<void> {
    await this.flush();
    this.clearTimer();
    this.forget();
  }

  private async commit(): Promise<void> {
    const offsets = [...this.waiting.entries()];
    if (offsets.length === 0) return;
    this.waiting.clear();
    const { generation } = this;
    try {
      await this.consumer.commitOffsets(offsets.map(([, offset]) => offset));
    } catch (error) {
      this.log('debug', `Offsets could not be committed now: ${reasonOf(error)}`);
      if (generation !== this.generation) return;
      for (const [key, offset] of offsets) if (!this.waiting.has(key)) this.waiting.set(key, offset);
      this.timer ??= setTimeout(() => void this.flush(), RETRY_AFTER_MS);
    }
  }

  private clearTimer(): void {
    if (this.timer) clearTimeout(this.timer);
    this.timer = null;
  }
}
