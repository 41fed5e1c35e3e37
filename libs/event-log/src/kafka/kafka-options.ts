import type { Lanes } from '@laddercast/ledger';
import type { Environment } from '@laddercast/platform';
import { writeLogLine } from '../delivery/log-line.js';
import { kafkaAccess } from './kafka-access.js';
import type { KafkaOptions } from './kafka-connection.js';
import type { KeptKafkaToken } from './kept-kafka-token.js';

/** How Kafka is reached; only used with KAFKA_BROKERS. */
export const kafkaOptions = (environment: Environment, token: KeptKafkaToken, lanes: Lanes): KafkaOptions => ({
  brokers: environment.KAFKA_BROKERS!.split(','),
  prefix: environment.KAFKA_PREFIX,
  lanes,
  log: writeLogLine,
  connection: kafkaAccess(environment, () => token.value()),
});
