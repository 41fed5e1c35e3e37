import type { Consumer, EachBatchPayload, KafkaMessage } from 'kafkajs';
import { LOG_BATCH_MAX } from '../event-log.js';
import { KafkaOffsets } from './kafka-offsets.js';
import type { LogLine } from '../delivery/log-line.js';

/** Messages of one partition in order, at most {@link LOG_BATCH_MAX}. */
export interface KafkaChunk {
  topic: string;
  partition: number;
  messages: readonly KafkaMessage[];
}

/** Records that should have come next in a partition, and did not. */
export interface KafkaGap {
  topic: string;
  partition: number;
  expected: bigint;
  found: bigint;
}

export interface KafkaSessionOptions {
  /** Resolves once the offset behind the messages may be committed; rejects when the signal aborts before. */
  settle: (chunk: KafkaChunk, signal: AbortSignal) => Promise<void>;
  /** Whether batches of the partition are passed over, unsettled; kafkajs fetches them again. */
  isClosed?: (partition: number) => boolean;
  /** Called, before what follows is settled, when records may have gone before they were read. */
  onGap?: (gap: KafkaGap) => Promise<void>;
  log: LogLine;
}

export const HEARTBEAT_EVERY_MS = 1500;

/**
 * What one kafkajs consumer does with its batches, from its start to its end: each is settled, lanes side by side,
 * and then its offset is committed.
 */
export class KafkaSession {
  private readonly offsets: KafkaOffsets;
  private readonly inHand = new Map<AbortController, Promise<void>>();
  /** Grows with every rebalance: work begun in an earlier generation is not committed. */
  private generation = 0;
  /** By topic and partition: the offset behind what was settled in this generation. */
  private readonly next = new Map<string, bigint>();
  private ended = false;

  constructor(
    consumer: Consumer,
    private readonly options: KafkaSessionOptions,
  ) {
    this.offsets = new KafkaOffsets(consumer, options.log);
  }

  /** To be called each time when the consumer has joined its group. */
  joined(): void {
    this.generation += 1;
    this.next.clear();
    this.offsets.forget();
  }

  /**
   * Settles a batch.
   * @throws kafkajs' own error when the lane was lost meanwhile, so that kafkajs joins the group again
   */
  async accept(payload: EachBatchPayload): Promise<void> {
    if (this.ended || this.options.isClosed?.(payload.batch.partition)) return;
    const end = new AbortController();
    const handling = this.handle(payload, end);
    this.inHand.set(end, handling);
    try {
      await handling;
    } finally {
      this.inHand.delete(end);
    }
  }

  /** Takes no more batches, ends waiting, finishes what is in hand, and commits it; it never rejects. */
  async end(): Promise<void> {
    this.ended = true;
    for (const end of this.inHand.keys()) end.abort();
    await Promise.allSettled(this.inHand.values());
    await this.offsets.stop();
  }

  private async handle(payload: EachBatchPayload, end: AbortController): Promise<void> {
    let loss: { error: unknown } | null = null;
    // kafkajs sends heartbeats only between batches, and a handler may wait long for a service to come back.
    const beats = setInterval(() => {
      payload.heartbeat().catch((error: unknown) => {
        loss ??= { error };
        end.abort();
      });
    }, HEARTBEAT_EVERY_MS);
    try {
      await this.handleChunks(payload, end.signal);
    } catch (error) {
      if (!end.signal.aborted) throw error;
    } finally {
      clearInterval(beats);
    }
    if (loss === null) return;
    await this.offsets.flush();
    throw (loss as { error: unknown }).error;
  }

  private async handleChunks(payload: EachBatchPayload, end: AbortSignal): Promise<void> {
    const { batch, resolveOffset, isRunning, isStale } = payload;
    const { topic, partition } = batch;
    const { generation } = this;
    const goesOn = (): boolean => !end.aborted && isRunning() && !isStale() && generation === this.generation;
    const key = `${topic}/${partition}`;
    const [expected, found] = [this.next.get(key), BigInt(batch.messages[0]?.offset ?? 0)];
    // A gap may come of records that are gone, of records that another member read, or of a transaction's marker.
    if (expected !== undefined && found > expected) {
      await this.options.onGap?.({ topic, partition, expected, found });
    }
    for (let from = 0; from < batch.messages.length && goesOn(); from += LOG_BATCH_MAX) {
      const messages = batch.messages.slice(from, from + LOG_BATCH_MAX);
      await this.options.settle({ topic, partition, messages }, end);
      if (generation !== this.generation) return;
      const last = messages.at(-1)!.offset;
      resolveOffset(last);
      this.next.set(key, BigInt(last) + 1n);
      this.offsets.note(topic, partition, String(BigInt(last) + 1n));
    }
  }
}
