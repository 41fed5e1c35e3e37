import {
  EventLog,
  KafkaEventLog,
  KafkaRelayTarget,
  OutboxRelay,
  PostgresEventLog,
  PostgresLogEnds,
  type KafkaOptions,
  type LogLine,
} from '@laddercast/event-log';
import { PostgresDatabase } from '@laddercast/ledger';
import { Environment } from '@laddercast/platform';
import { Logger, type Provider } from '@nestjs/common';

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
export const kafkaOptions = (environment: Environment): KafkaOptions => ({
  brokers: environment.KAFKA_BROKERS!.split(','),
  prefix: environment.KAFKA_PREFIX,
  lanes: environment.LEDGER_LANES,
  log: writeLogLine,
});

/** The log: the outbox itself, or Kafka with a relay that fills it. */
export const eventLogProviders: Provider[] = [
  {
    provide: PostgresEventLog,
    inject: [PostgresDatabase, Environment],
    useFactory: (database: PostgresDatabase, { LEDGER_LANES, OUTBOX_EVENTS_MAX }: Environment) =>
      new PostgresEventLog(database, {
        lanes: LEDGER_LANES,
        log: writeLogLine,
        // What is handled must not keep the outbox at its limit.
        trim: { keptMax: Math.floor(OUTBOX_EVENTS_MAX / 10) },
      }),
  },
  {
    provide: EventLog,
    inject: [Environment, PostgresEventLog, PostgresDatabase],
    useFactory: async (environment: Environment, outbox: PostgresEventLog, database: PostgresDatabase) => {
      if (environment.EVENT_LOG === 'postgres') return outbox;
      const kafka = new KafkaEventLog(database, kafkaOptions(environment));
      await kafka.start();
      return kafka;
    },
  },
  {
    provide: OutboxRelay,
    inject: [Environment, PostgresEventLog, PostgresDatabase],
    useFactory: (environment: Environment, outbox: PostgresEventLog, database: PostgresDatabase) =>
      environment.EVENT_LOG === 'kafka'
        ? new OutboxRelay(outbox, new KafkaRelayTarget(kafkaOptions(environment), new PostgresLogEnds(database)))
        : null,
  },
];
