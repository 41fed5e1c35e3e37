import {
  EventLog,
  KafkaEventLog,
  KafkaRelayTarget,
  OutboxRelay,
  PostgresEventLog,
  PostgresLogEnds,
} from '@laddercast/event-log';
import { PostgresDatabase } from '@laddercast/ledger';
import { Environment } from '@laddercast/platform';
import type { Provider } from '@nestjs/common';
import { kafkaOptions, writeLogLine } from '../log-options.js';

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
