import { isTracing, nowMs, traced, type OpenSpan } from '@laddercast/platform';
import type { Kafka, Message, Producer, RecordMetadata } from 'kafkajs';
import { traceparentOf } from '../delivery/delivery.js';
import { connectKafka, KAFKA_RETRY, topicName, type KafkaOptions } from './kafka-connection.js';
import { kafkaLibrary } from './kafka-library.js';
import { reasonOf } from '../delivery/log-line.js';
import { makePartitions } from './kafka-topics.js';
import { RelayTarget } from './outbox-relay.js';
import type { PostgresLogEnds } from '../postgres/postgres-log-ends.js';
import type { OutboxRecord } from '../postgres/postgres-outbox.js';
import type { Topic } from '../topics.js';

/** A send stays well below the megabyte that brokers take at once by default. */
const SEND_BYTES_MAX = 512 * 1024;
/** Kafka's errors for records that it will never take (codes 10, 18 and 87 of its protocol). */
const RECORD_FAULTS = new Set(['MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE', 'INVALID_RECORD']);

/** Kafka takes nothing now; the same records can be sent later. */
export class KafkaUnavailableError extends Error {
  readonly retriable = true;
}

/** Appends to the partition of the lane, acknowledged by all replicas in sync, by an idempotent producer. */
export class KafkaRelayTarget extends RelayTarget {
  private readonly kafka: Kafka;
  private producer: Promise<Producer> | null = null;
  /** How many lanes the producer knows: kafkajs drops, without a word, what is for a partition that it does not know. */
  private known = 0;
  private readonly sending = new Set<Promise<unknown>>();

  /** @param ends told of each acknowledgement, so that a log that lost what it had acknowledged is noticed */
  constructor(
    private readonly options: KafkaOptions,
    private readonly ends?: Pick<PostgresLogEnds, 'known' | 'appended'>,
  ) {
    super();
    this.kafka = connectKafka(options);
  }

  override async append(records: readonly OutboxRecord[]): Promise<void> {
    for (const chunk of chunksOf(records)) {
      const parents = isTracing() ? chunk.flatMap((record) => traceparentOf(record) ?? []) : [];
      const attributes = { 'laddercast.lane': chunk[0]!.lane, 'messaging.batch.message_count': chunk.length };
      await traced('relay to kafka', { parents, kind: 'producer', attributes }, (span) => this.send(chunk, span));
    }
  }

  override async close(): Promise<void> {
    const producer = this.producer;
    this.producer = null;
    await producer?.then((one) => one.disconnect()).catch(() => undefined);
  }

  private async send(records: readonly OutboxRecord[], span: OpenSpan | null): Promise<void> {
    const topicMessages = this.toTopicMessages(records, span);
    const known = await this.ends?.known();
    for (const { topicName, partition, baseOffset } of await this.produce(records[0]!.lane, topicMessages)) {
      const appended = topicMessages.find(({ topic }) => topic === topicName)?.messages.length ?? 0;
      // −1: the broker has these records already, and does not say where.
      if (baseOffset === undefined || baseOffset === '-1') continue;
      if (known) await this.ends?.appended(known, { topic: topicName, partition }, BigInt(baseOffset), appended);
    }
  }

  private async produce(
    lane: number,
    topicMessages: { topic: string; messages: Message[] }[],
  ): Promise<RecordMetadata[]> {
    const producing = this.producerFor(lane);
    try {
      const producer = await producing;
      const sent = await this.noted(producer.sendBatch({ acks: -1, topicMessages }));
      const isSent = ({ topic }: { topic: string }): boolean =>
        sent.some(({ topicName, partition }) => topicName === topic && partition === lane);
      if (!topicMessages.every(isSent)) throw new Error(`a partition of lane ${lane} is not known yet`);
      return sent;
    } catch (error) {
      if (RECORD_FAULTS.has(protocolTypeOf(error))) throw error;
      // A producer that failed may have lost count of its sequence numbers: the next try begins with a new one.
      if (this.producer === producing) await this.close();
      throw new KafkaUnavailableError(`Kafka does not take events now: ${reasonOf(error)}`, { cause: error });
    }
  }

  /** Producers do not learn of new partitions soon: for a lane that was added there is another one. */
  private producerFor(lane: number): Promise<Producer> {
    const { lanes } = this.options;
    if (this.producer !== null && lane < this.known) return this.producer;
    const [former, sending] = [this.producer, [...this.sending]];
    this.known = Math.max(lanes.count, lane + 1);
    this.producer = this.connect();
    void Promise.allSettled(sending)
      .then(async () => (await former)?.disconnect())
      .catch(() => undefined);
    return this.producer;
  }

  private async noted<T>(send: Promise<T>): Promise<T> {
    this.sending.add(send);
    try {
      return await send;
    } finally {
      this.sending.delete(send);
    }
  }

  private async connect(): Promise<Producer> {
    // Where lanes were raised, a topic may not have the partitions of the new ones yet.
    if (this.options.lanes.number > 0) await this.makePartitions();
    const producer = this.kafka.producer({
      idempotent: true,
      maxInFlightRequests: 1,
      retry: KAFKA_RETRY,
      // Never called, as every record names its partition; without it kafkajs warns about a changed default.
      createPartitioner: kafkaLibrary().Partitioners.DefaultPartitioner,
    });
    try {
      await producer.connect();
      return producer;
    } catch (error) {
      // Its connections may be open: what failed may have come after them.
      await producer.disconnect().catch(() => undefined);
      throw error;
    }
  }

  private async makePartitions(): Promise<void> {
    const admin = this.kafka.admin();
    try {
      await admin.connect();
      await makePartitions(admin, this.options);
    } finally {
      await admin.disconnect().catch(() => undefined);
    }
  }

  private toTopicMessages(
    records: readonly OutboxRecord[],
    span: OpenSpan | null,
  ): { topic: string; messages: Message[] }[] {
    const byTopic = new Map<string, Message[]>();
    for (const record of records) {
      const { topic, lane, position, key, payload, createdAtMs } = record;
      const context = span === null ? undefined : contextAfter(record, span);
      const message: Message = {
        key,
        value: payload,
        partition: lane,
        headers: {
          position: String(position),
          lane: String(lane),
          writtenAtMs: String(createdAtMs),
          ...(context !== undefined && { traceparent: context }),
        },
        // Brokers refuse records from the future.
        timestamp: String(Math.min(createdAtMs, nowMs())),
      };
      const messages = byTopic.get(topic);
      if (messages) messages.push(message);
      else byTopic.set(topic, [message]);
    }
    return [...byTopic].map(([topic, messages]) => ({
      topic: topicName(this.options.prefix, topic as Topic),
      messages,
    }));
  }
}

/** The relay's span in the trace of a record. */
function contextAfter(record: OutboxRecord, span: OpenSpan): string | undefined {
  const own = traceparentOf(record);
  return own === undefined ? undefined : (span.traceparentAfter(own) ?? own);
}

function* chunksOf(records: readonly OutboxRecord[]): Generator<OutboxRecord[]> {
  let chunk: OutboxRecord[] = [];
  let bytes = 0;
  for (const record of records) {
    const size = Buffer.byteLength(record.payload) + Buffer.byteLength(record.key);
    if (chunk.length > 0 && bytes + size > SEND_BYTES_MAX) {
      yield chunk;
      chunk = [];
      bytes = 0;
    }
    chunk.push(record);
    bytes += size;
  }
  if (chunk.length > 0) yield chunk;
}

/** The protocol error's name, through the wrapping of kafkajs' retries. */
function protocolTypeOf(error: unknown, depth = 0): string {
  const { type, cause, originalError } = (error ?? {}) as { type?: string; cause?: unknown; originalError?: unknown };
  if (typeof type === 'string') return type;
  return depth < 5 && (cause ?? originalError) ? protocolTypeOf(cause ?? originalError, depth + 1) : '';
}
