import type { Lanes } from '@laddercast/ledger';
import type { Kafka, KafkaConfig, LogEntry } from 'kafkajs';
import type { IntakeTopic } from '../intake.js';
import { kafkaLibrary } from './kafka-library.js';
import type { LogLine } from '../delivery/log-line.js';
import type { Topic } from '../topics.js';

export interface KafkaOptions {
  /** `host:port` of brokers to ask first. */
  brokers: string[];
  /** What the names of topics and consumer groups begin with. */
  prefix: string;
  /** Lanes of the ledger: the partitions of every topic, which gets more when they are raised. */
  lanes: Lanes;
  log: LogLine;
  /** How the brokers are reached, beyond their addresses. */
  connection?: Pick<KafkaConfig, 'ssl' | 'sasl' | 'socketFactory'>;
}

export const topicName = (prefix: string, topic: Topic | IntakeTopic): string => `${prefix}.${topic}`;
/** @param incarnation of the log: a new one is read from its beginning, whatever was committed before */
export const groupName = (prefix: string, group: string, incarnation = 0): string =>
  incarnation === 0 ? `${prefix}.${group}` : `${prefix}.${group}.${incarnation}`;

/** kafkajs retries a call a few times by itself; what lasts longer is retried, and logged, by us. */
export const KAFKA_RETRY = { initialRetryTime: 100, maxRetryTime: 2000, retries: 4 };

/** kafkajs warns so about each idempotent producer that does not retry for ever; here the relay retries. */
const NOT_WORTH_A_LINE = /Limiting retries for the idempotent producer/;
const CONNECTING = /^(Connection|BrokerPool)$/;

export function connectKafka({ brokers, prefix, log, connection }: KafkaOptions): Kafka {
  const { Kafka, logLevel } = kafkaLibrary();
  return new Kafka({
    ...connection,
    clientId: `${prefix}-laddercast`,
    brokers,
    connectionTimeout: 3000,
    requestTimeout: 15_000,
    retry: KAFKA_RETRY,
    logLevel: logLevel.INFO,
    logCreator:
      () =>
      ({ level, namespace, log: { message, error, groupId } }: LogEntry) => {
        if (NOT_WORTH_A_LINE.test(message)) return;
        // A connection that is made again is not worth a line; if it stays away, we log that ourselves, less often.
        const line = level <= logLevel.WARN && !CONNECTING.test(namespace) ? 'warn' : 'debug';
        log(line, `Kafka ${namespace ?? ''}: ${message}`, {
          ...(error ? { error } : {}),
          ...(groupId ? { groupId } : {}),
        });
      },
  });
}
