import { retryWhile } from '@laddercast/platform';
import type { Kafka, KafkaMessage } from 'kafkajs';
import type { LogSubscription } from '../event-log.js';
import type { IntakeHandler, IntakeMessage, IntakeTopic } from '../intake.js';
import { connectKafka, groupName, topicName, type KafkaOptions } from './kafka-connection.js';
import { KafkaGroupConsumer } from './kafka-group-consumer.js';
import { prepareIntakeTopic } from './kafka-topics.js';
import { reasonOf } from '../delivery/log-line.js';

const PREPARE_AGAIN = { firstMs: 200, maxMs: 10_000 };

/**
 * Reads a topic that other systems write, under a consumer group of the same name. Partitions are read side by side,
 * each in order, and an offset is committed once everything before it is settled. What is in hand is bounded by one
 * fetch: 10 MiB, and of a partition 1 MiB or one larger batch.
 */
export class KafkaIntake implements LogSubscription {
  private readonly kafka: Kafka;
  private readonly stopped = new AbortController();
  private running: Promise<void> | null = null;

  constructor(
    private readonly options: KafkaOptions,
    private readonly topic: IntakeTopic,
    private readonly handler: IntakeHandler,
  ) {
    this.kafka = connectKafka(options);
  }

  /** Returns at once. While Kafka is away it is tried again for ever, which holds up nothing else. */
  start(): void {
    this.running ??= this.run();
  }

  /** Waits for the batch in hand; what is not settled by then comes again. */
  async stop(): Promise<void> {
    this.stopped.abort();
    await this.running;
  }

  private async run(): Promise<void> {
    const { prefix, lanes, log } = this.options;
    const topic = topicName(prefix, this.topic);
    const { signal } = this.stopped;
    const ended = new Promise<false>((resolve) =>
      signal.addEventListener('abort', () => resolve(false), { once: true }),
    );
    // A broker that does not answer must not hold up the end.
    const isPrepared = await Promise.race([this.prepareWithRetries(topic), ended]);
    if (!isPrepared) return;
    const consumer = new KafkaGroupConsumer(this.kafka, {
      groupId: groupName(prefix, this.topic),
      topics: [topic],
      concurrency: lanes.count,
      settle: ({ partition, messages }, end) =>
        this.handler(
          messages.map((message) => toIntakeMessage(partition, message)),
          end,
        ),
      log,
    });
    consumer.start();
    log('info', `${topic} is read.`);
    await ended;
    await consumer.stop();
  }

  /** False when the end came first. */
  private async prepareWithRetries(topic: string): Promise<boolean> {
    const { log } = this.options;
    const onFailure = (error: unknown): void => log('warn', `${topic} cannot be read yet: ${reasonOf(error)}`);
    const isWorthATry = (): boolean => !this.stopped.signal.aborted;
    const options = { backoff: PREPARE_AGAIN, signal: this.stopped.signal, onFailure };
    return retryWhile(() => this.prepare(topic), isWorthATry, options).then(
      () => isWorthATry(),
      () => false,
    );
  }

  private async prepare(topic: string): Promise<void> {
    const admin = this.kafka.admin();
    try {
      await admin.connect();
      await prepareIntakeTopic(admin, topic, this.options);
    } finally {
      await admin.disconnect().catch(() => undefined);
    }
  }
}

const toIntakeMessage = (partition: number, { offset, key, value }: KafkaMessage): IntakeMessage => ({
  partition,
  offset: Number(offset),
  key,
  value,
});
