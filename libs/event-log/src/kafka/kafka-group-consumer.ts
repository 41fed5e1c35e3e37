import type { Kafka } from 'kafkajs';
import { backoffMs, monotonicMs, sleep } from '@laddercast/platform';
import { KAFKA_RETRY } from './kafka-connection.js';
import { KafkaLaneGate, type LaneBarriers } from './kafka-lane-gate.js';
import { HEARTBEAT_EVERY_MS, KafkaSession, type KafkaSessionOptions } from './kafka-session.js';
import { reasonOf } from '../delivery/log-line.js';

export interface KafkaGroupOptions extends Omit<KafkaSessionOptions, 'isClosed'> {
  groupId: string;
  /** Topics by their names in Kafka. */
  topics: readonly string[];
  /** How many partitions are handled side by side. */
  concurrency: number;
  /** Which partitions are read; all when not given. */
  barriers?: LaneBarriers;
  /** Awaited each time before the group is joined. */
  beforeJoining?: (groupId: string, topics: readonly string[]) => Promise<void>;
}

/**
 * How long a lane stands still when its consumer's process is killed: the shortest time that brokers allow by default.
 */
const SESSION_TIMEOUT_MS = 6000;
/** How long an empty fetch waits at the broker; a stop waits for it too. */
const FETCH_WAIT_MS = 500;
const LEAVE_TIMEOUT_MS = 5000;
const RESTART = { firstMs: 200, maxMs: 10_000 };
const SETTLED_AFTER_MS = 60_000;

/** One consumer of a group. When it crashes, for whatever reason, it is made anew with backoff. */
export class KafkaGroupConsumer {
  private readonly stopped = new AbortController();
  private running: Promise<void> | null = null;

  constructor(
    private readonly kafka: Kafka,
    private readonly options: KafkaGroupOptions,
  ) {}

  start(): void {
    this.running ??= this.keepRunning();
  }

  /** Finishes the batches in hand, commits them, and leaves the group. */
  async stop(): Promise<void> {
    this.stopped.abort();
    await this.running;
  }

  private async keepRunning(): Promise<void> {
    let failures = 0;
    while (!this.stopped.signal.aborted) {
      const startedAtMs = monotonicMs();
      try {
        await this.runOnce();
      } catch (error) {
        if (monotonicMs() - startedAtMs > SETTLED_AFTER_MS) failures = 0;
        const waitMs = backoffMs(failures, RESTART.firstMs, RESTART.maxMs);
        this.options.log('warn', `The consumer of ${this.options.groupId} is made anew: ${reasonOf(error)}`, {
          waitMs: Math.round(waitMs),
        });
        await sleep(waitMs, this.stopped.signal);
        failures += 1;
      }
    }
  }

  /** Consumes until stopped. @throws when the consumer crashed */
  private async runOnce(): Promise<void> {
    const { groupId, topics, concurrency, barriers, beforeJoining, log } = this.options;
    const consumer = this.kafka.consumer({
      groupId,
      sessionTimeout: SESSION_TIMEOUT_MS,
      heartbeatInterval: HEARTBEAT_EVERY_MS,
      maxWaitTimeInMs: FETCH_WAIT_MS,
      // All restarts are made here, in one way.
      retry: { ...KAFKA_RETRY, restartOnFailure: () => Promise.resolve(false) },
    });
    const gate = barriers && new KafkaLaneGate(consumer, barriers, log);
    const isClosed = (partition: number): boolean => gate?.isOpen(partition) === false;
    const session = new KafkaSession(consumer, { ...this.options, isClosed });
    const { signal } = this.stopped;
    let stop!: () => void;
    const ended = new Promise<Error | null>((resolve) => {
      consumer.on(consumer.events.CRASH, ({ payload }) => resolve(payload.error));
      stop = () => resolve(null);
    });
    signal.addEventListener('abort', stop);
    if (signal.aborted) stop();
    try {
      // Told before anything is fetched.
      consumer.on(consumer.events.GROUP_JOIN, ({ payload }) => {
        session.joined();
        gate?.joined(payload.memberAssignment);
      });
      await beforeJoining?.(groupId, topics);
      await consumer.connect();
      await consumer.subscribe({ topics: [...topics], fromBeginning: true });
      await consumer.run({
        autoCommit: false,
        eachBatchAutoResolve: false,
        partitionsConsumedConcurrently: concurrency,
        eachBatch: (payload) => session.accept(payload),
      });
      const crash = await ended;
      if (crash) throw crash;
    } finally {
      signal.removeEventListener('abort', stop);
      await session.end();
      await Promise.race([gate?.end(), sleep(LEAVE_TIMEOUT_MS)]);
      // A broker that does not answer must not hold up the end: the group notices a missing member by itself.
      await Promise.race([consumer.disconnect().catch(() => undefined), sleep(LEAVE_TIMEOUT_MS)]);
    }
  }
}
