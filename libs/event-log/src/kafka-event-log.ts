import type { SqlRunner } from '@laddercast/ledger';
import { backoffMs, monotonicMs, sleep } from '@laddercast/platform';
import type { Admin, Kafka, KafkaMessage } from 'kafkajs';
import { deliver, toLogBatch, type StoredRecord } from './delivery.js';
import { EventLog, type BatchHandler, type LaneLag, type LogSubscription } from './event-log.js';
import { connectKafka, groupName, topicName, type KafkaOptions } from './kafka-connection.js';
import { KafkaGroupConsumer } from './kafka-group-consumer.js';
import { readKafkaLag } from './kafka-lag.js';
import { KafkaTopicError, prepareTopics } from './kafka-topics.js';
import type { LogIdentity } from './log-change.js';
import { reasonOf } from './log-line.js';
import { RELAY_GROUP } from './outbox-relay.js';
import { parkInto } from './postgres-dead-letters.js';
import { PostgresOutbox } from './postgres-outbox.js';
import { TOPICS, type Topic } from './topics.js';

export interface KafkaEventLogOptions extends KafkaOptions {
  /** How long {@link KafkaEventLog.start} waits for brokers; 60 s when not given. */
  startTimeoutMs?: number;
}

const START_TIMEOUT_MS = 60_000;
const RETRY = { firstMs: 200, maxMs: 5000 };

/**
 * The log on Kafka: one topic for each of ours, one partition for each lane, fed by the outbox relay.
 * Different topics of one lane are handled side by side; within a topic a lane is in order. kafkajs fetches from a
 * broker again only when all of the last fetch is handled, so a lane whose handler waits holds up those beside it.
 */
export class KafkaEventLog extends EventLog {
  private readonly kafka: Kafka;
  private readonly outbox: PostgresOutbox;
  private readonly consumers = new Set<KafkaGroupConsumer>();
  private readonly topicsOf = new Map<string, Set<Topic>>();
  private readonly stopped = new AbortController();

  /** @param database where events that fail by themselves are parked */
  constructor(
    private readonly database: SqlRunner,
    private readonly options: KafkaEventLogOptions,
  ) {
    super();
    this.kafka = connectKafka(options);
    this.outbox = new PostgresOutbox(database, options.lanes);
  }

  /**
   * Makes and checks the topics; to be awaited before anything is consumed or relayed.
   * @throws KafkaTopicError, or when no broker answered in time
   */
  async start(): Promise<void> {
    const { brokers, log, startTimeoutMs = START_TIMEOUT_MS } = this.options;
    const giveUpAtMs = monotonicMs() + startTimeoutMs;
    for (let failures = 0; ; failures += 1) {
      try {
        return await this.withAdmin((admin) => prepareTopics(admin, this.options));
      } catch (error) {
        if (error instanceof KafkaTopicError || this.stopped.signal.aborted) throw error;
        if (monotonicMs() > giveUpAtMs) {
          throw new Error(
            `Kafka cannot be used at ${brokers.join(', ')} (KAFKA_BROKERS): ${reasonOf(error)}. Start it, or correct the address.`,
            { cause: error },
          );
        }
        log('warn', `Waiting for Kafka at ${brokers.join(', ')}: ${reasonOf(error)}`);
        await sleep(backoffMs(failures, RETRY.firstMs, RETRY.maxMs), this.stopped.signal);
      }
    }
  }

  /** Names the cluster and our topics in it. @throws when no broker answers */
  async identity(): Promise<LogIdentity> {
    const { clusterId } = await this.withAdmin((admin) => admin.describeCluster());
    return { kind: 'kafka', clusterId, prefix: this.options.prefix };
  }

  async consume(group: string, topics: readonly Topic[], handler: BatchHandler): Promise<LogSubscription> {
    const { prefix, lanes, log } = this.options;
    const park = parkInto(this.database, group);
    const byName = new Map(topics.map((topic) => [topicName(prefix, topic), topic]));
    const consumer = new KafkaGroupConsumer(this.kafka, {
      groupId: groupName(prefix, group),
      topics: [...byName.keys()],
      concurrency: lanes,
      settle: ({ topic, partition, messages }, signal) =>
        deliver(
          messages.map((message) => toStored(byName.get(topic)!, partition, message)),
          (records) => handler(toLogBatch(records)),
          { signal, park, log },
        ),
      log,
    });
    this.topicsOf.set(group, new Set([...(this.topicsOf.get(group) ?? []), ...topics]));
    this.consumers.add(consumer);
    consumer.start();
    return {
      stop: async () => {
        await consumer.stop();
        this.consumers.delete(consumer);
      },
    };
  }

  /**
   * What waits in Kafka, over the topics that this process consumes in the group (all, if none); for the group of the
   * relay what waits in the outbox, which needs no Kafka. `seconds` in Kafka is rounded down to a power of two.
   */
  override lag(group: string): Promise<LaneLag[]> {
    const { prefix, lanes } = this.options;
    if (group === RELAY_GROUP) return this.outbox.lag(group, TOPICS);
    const topics = [...(this.topicsOf.get(group) ?? TOPICS)].map((topic) => topicName(prefix, topic));
    return this.withAdmin((admin) => readKafkaLag(admin, groupName(prefix, group), topics, lanes));
  }

  override async close(): Promise<void> {
    this.stopped.abort();
    await Promise.all([...this.consumers].map((consumer) => consumer.stop()));
    this.consumers.clear();
  }

  private async withAdmin<T>(work: (admin: Admin) => Promise<T>): Promise<T> {
    const admin = this.kafka.admin();
    try {
      await admin.connect();
      return await work(admin);
    } finally {
      await admin.disconnect().catch(() => undefined);
    }
  }
}

function toStored(topic: Topic, lane: number, message: KafkaMessage): StoredRecord {
  const position = Number(message.headers?.position?.toString() ?? NaN);
  return {
    topic,
    lane,
    // A record that no relay of ours wrote: it will be parked, under a number that no position has.
    position: Number.isSafeInteger(position) ? position : -1 - Number(message.offset),
    // Relays of earlier releases say it by the record's own time alone.
    createdAtMs: Number(message.headers?.writtenAtMs?.toString() ?? message.timestamp),
    key: message.key?.toString() ?? '',
    payload: message.value?.toString() ?? 'null',
    ...(message.headers?.traceparent !== undefined && { traceparent: String(message.headers.traceparent) }),
  };
}
