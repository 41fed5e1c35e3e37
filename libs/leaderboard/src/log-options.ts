import { kafkaAccess, type KafkaOptions, type LogLine } from '@laddercast/event-log';
import type { Environment } from '@laddercast/platform';
import { Logger } from '@nestjs/common';
import type { KeptKafkaToken } from './kept-kafka-token.js';

/** Writes what the log has to say into that of the process. */
export const writeLogLine: LogLine = (level, message, details) => {
  const logger = new Logger('event-log');
  const line = { msg: message, ...details };
  if (level === 'error') logger.error(line);
  else if (level === 'warn') logger.warn(line);
  else if (level === 'info') logger.log(line);
  else logger.debug(line);
};

/** How Kafka is reached; only where KAFKA_BROKERS is set. */
export const kafkaOptions = (environment: Environment, token: KeptKafkaToken): KafkaOptions => ({
  brokers: environment.KAFKA_BROKERS!.split(','),
  prefix: environment.KAFKA_PREFIX,
  lanes: environment.LEDGER_LANES,
  log: writeLogLine,
  connection: kafkaAccess(environment, () => token.value()),
});
