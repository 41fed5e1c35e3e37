import type { SqlRunner } from '@laddercast/ledger';
import type { LogLosses } from './kafka-log-watch.js';
import { backoffMs, monotonicMs, retryWhile, sleep } from '@laddercast/platform';
import type { Admin, Kafka, KafkaMessage } from 'kafkajs';
import { deliver, toLogBatch, type StoredRecord } from '../delivery/delivery.js';
import { EventLog, type BatchHandler, type LaneLag, type LogSubscription } from '../event-log.js';
import { refusalOf } from './kafka-access.js';
import { connectKafka, groupName, topicName, type KafkaOptions } from './kafka-connection.js';
import { KafkaBarriers } from './kafka-barriers.js';
import { KafkaGroupConsumer } from './kafka-group-consumer.js';
import type { KafkaGap } from './kafka-session.js';
import { readKafkaLag } from './kafka-lag.js';
import { isGapLost, readLostEnds, readMissed } from './kafka-losses.js';
import { KafkaTopicError, prepareTopics } from './kafka-topics.js';
import type { IntakeTopic } from '../intake.js';
import type { LogIdentity } from './log-change.js';
import { reasonOf } from '../delivery/log-line.js';
import { RELAY_GROUP } from './outbox-relay.js';
import { parkInto } from '../postgres/postgres-dead-letters.js';
import { PostgresLogEnds } from '../postgres/postgres-log-ends.js';
import { PostgresOutbox } from '../postgres/postgres-outbox.js';
import { TOPICS, type Topic } from '../topics.js';

export interface KafkaEventLogOptions extends KafkaOptions {
  /** How long {@link KafkaEventLog.start} waits for brokers; 60 s when not given. */
  startTimeoutMs?: number;
}

/** What is to be consumed, and the present consumer. */
interface Consumption {
  make: () => KafkaGroupConsumer;
  consumer: KafkaGroupConsumer | null;
  remaking: Promise<void>;
}

const START_TIMEOUT_MS = 60_000;
const RETRY = { firstMs: 200, maxMs: 5000 };
/** A new incarnation of the log is noticed within this time, and more lanes. */
const FOLLOW_EVERY_MS = 1000;

/**
 * The log on Kafka: one topic for each of ours, one partition for each lane, fed by the outbox relay. Different topics
 * of one lane are handled side by side; within a topic a lane is in order. kafkajs fetches from a broker only after the
 * whole last fetch is handled, so a lane whose handler waits holds up the lanes beside it.
 */
export class KafkaEventLog extends EventLog {
  private readonly kafka: Kafka;
  private readonly outbox: PostgresOutbox;
  private readonly ends: PostgresLogEnds;
  private readonly consumers = new Set<Consumption>();
  private incarnation = 0;
  /** How many lanes the running consumers know. */
  private served: number;
  private following: Promise<void> | null = null;
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
    this.ends = new PostgresLogEnds(database);
    this.served = options.lanes.count;
  }

  /**
   * Makes and checks the topics; to be awaited before anything is consumed or relayed.
   * @throws KafkaTopicError, or when no broker answered in time, or they refuse this process or are not trusted
   */
  async start(): Promise<void> {
    const { brokers, connection, log, startTimeoutMs = START_TIMEOUT_MS } = this.options;
    const giveUpAtMs = monotonicMs() + startTimeoutMs;
    for (let failures = 0; ; failures += 1) {
      try {
        return await this.withAdmin((admin) => prepareTopics(admin, this.options, this.database));
      } catch (error) {
        if (error instanceof KafkaTopicError || this.stopped.signal.aborted) throw error;
        const refusal = refusalOf(error, connection?.sasl?.mechanism);
        if (refusal !== null) throw new Error(`Kafka cannot be used at ${brokers.join(', ')}: ${refusal}.`);
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
    this.topicsOf.set(group, new Set([...(this.topicsOf.get(group) ?? []), ...topics]));
    if (this.following === null) {
      this.incarnation = await this.ends.incarnation();
      this.following = this.follow();
    }
    const consumption: Consumption = {
      make: () => this.consumer(group, topics, handler),
      consumer: null,
      remaking: Promise.resolve(),
    };
    this.consumers.add(consumption);
    this.restart(consumption);
    return {
      stop: async () => {
        this.consumers.delete(consumption);
        await consumption.remaking;
        await consumption.consumer?.stop();
      },
    };
  }

  private consumer(group: string, topics: readonly Topic[], handler: BatchHandler): KafkaGroupConsumer {
    const { prefix, lanes, log } = this.options;
    const { incarnation } = this;
    const park = parkInto(this.database, group);
    const byName = new Map(topics.map((topic) => [topicName(prefix, topic), topic]));
    const groupId = groupName(prefix, group, incarnation);
    const names = [...byName.keys()];
    const { database, outbox } = this;
    const withAdmin = <T>(work: (admin: Admin) => Promise<T>): Promise<T> => this.withAdmin(work);
    return new KafkaGroupConsumer(this.kafka, {
      groupId,
      topics: names,
      concurrency: lanes.count,
      barriers: new KafkaBarriers({ database, outbox, lanes, groupId, topics: names, withAdmin }),
      settle: ({ topic, partition, messages }, signal) =>
        deliver(
          messages.map((message) => toStored(byName.get(topic)!, partition, message)),
          (records) => handler(toLogBatch(records)),
          { signal, park, log },
        ),
      beforeJoining: async () => {
        const missed = await withAdmin((admin) => readMissed(admin, groupId, names));
        if (missed.length > 0) await this.ends.declareLost(incarnation, missed.join('; '));
      },
      onGap: (gap) => this.declareGap(groupId, gap, incarnation),
      log,
    });
  }

  /** Looks until it is known what happened to the records, even while it stops: after a restart nobody would notice. */
  private async declareGap(
    groupId: string,
    { topic, partition, expected, found }: KafkaGap,
    incarnation: number,
  ): Promise<void> {
    const look = async (): Promise<void> => {
      const isLost = await this.withAdmin((admin) => isGapLost(admin, groupId, { topic, partition, expected }));
      if (!isLost) return;
      const reason = `${groupId} stood at ${expected} of ${topic}/${partition}, and the next is ${found}`;
      await this.ends.declareLost(incarnation, reason);
    };
    await retryWhile(look, () => true, { backoff: RETRY, signal: this.stopped.signal });
  }

  private restart(consumption: Consumption): void {
    consumption.consumer = consumption.make();
    consumption.consumer.start();
  }

  /** Reads the log from its beginning whenever another incarnation of it has begun, and begins with lanes that are added. */
  private async follow(): Promise<void> {
    while (!this.stopped.signal.aborted) {
      await sleep(FOLLOW_EVERY_MS, this.stopped.signal);
      if (await this.hasChanged()) this.consumers.forEach((consumption) => this.makeAnew(consumption));
    }
    await Promise.all([...this.consumers].map(({ remaking }) => remaking));
  }

  private async hasChanged(): Promise<boolean> {
    const { log, lanes } = this.options;
    const { count } = lanes;
    const incarnation = await this.ends.incarnation().catch(() => this.incarnation);
    const isReady = count === this.served || (await this.makePartitions(count));
    if (this.stopped.signal.aborted) return false;
    const isNew = incarnation !== this.incarnation;
    if (isNew) log('warn', `Incarnation ${incarnation} of the log has begun, and is read from its beginning.`);
    const hasMore = isReady && count !== this.served;
    this.incarnation = incarnation;
    if (hasMore) this.served = count;
    return isNew || hasMore;
  }

  /** False when it could not be done now. */
  private async makePartitions(lanes: number): Promise<boolean> {
    try {
      await this.withAdmin((admin) => prepareTopics(admin, this.options, this.database));
      return true;
    } catch (error) {
      this.options.log('warn', `The topics do not have ${lanes} partitions yet: ${reasonOf(error)}`);
      await sleep(RETRY.maxMs, this.stopped.signal);
      return false;
    }
  }

  /** A handler that does not come to its end holds up its own group alone. */
  private makeAnew(consumption: Consumption): void {
    const remake = async (): Promise<void> => {
      await consumption.consumer?.stop();
      if (this.consumers.has(consumption) && !this.stopped.signal.aborted) this.restart(consumption);
    };
    consumption.remaking = consumption.remaking.then(remake);
  }

  /**
   * What Kafka has lost of what it acknowledged, in words. Missing topics are made first. To be asked twice, see
   * {@link KafkaLogWatch}.
   * @throws KafkaTopicError, or when brokers or the database do not answer
   */
  async losses(): Promise<LogLosses> {
    const incarnation = await this.ends.incarnation();
    const ends = await this.ends.written(incarnation);
    return this.withAdmin(async (admin) => {
      await prepareTopics(admin, this.options, this.database);
      return { incarnation, found: await readLostEnds(admin, ends) };
    });
  }

  /** Begins another incarnation of the log, unless it has begun already. */
  async declareLost(incarnation: number, reason: string): Promise<void> {
    await this.ends.declareLost(incarnation, reason);
  }

  /**
   * What waits in Kafka, over the topics that this process consumes in the group (all, if none); for the relay's group
   * what waits in the outbox, which needs no Kafka. `seconds` in Kafka is rounded down to a power of two.
   */
  override async lag(group: string, topics: readonly (Topic | IntakeTopic)[] = TOPICS): Promise<LaneLag[]> {
    const { prefix, lanes } = this.options;
    if (group === RELAY_GROUP) return this.outbox.lag(group, TOPICS);
    const names = [...(this.topicsOf.get(group) ?? topics)].map((topic) => topicName(prefix, topic));
    if (this.following === null) this.incarnation = await this.ends.incarnation();
    return this.withAdmin((admin) =>
      readKafkaLag(admin, groupName(prefix, group, this.incarnation), names, lanes.count),
    );
  }

  override async close(): Promise<void> {
    this.stopped.abort();
    await this.following;
    await Promise.all([...this.consumers].map(({ consumer }) => consumer?.stop()));
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
    // Not written by our relay: it will be parked, under a number that no position has.
    position: Number.isSafeInteger(position) ? position : -1 - Number(message.offset),
    // Relays of earlier releases only set the record's own time.
    createdAtMs: Number(message.headers?.writtenAtMs?.toString() ?? message.timestamp),
    key: message.key?.toString() ?? '',
    payload: message.value?.toString() ?? 'null',
    ...(message.headers?.traceparent !== undefined && { traceparent: String(message.headers.traceparent) }),
  };
}
