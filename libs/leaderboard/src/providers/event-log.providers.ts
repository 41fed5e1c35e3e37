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
import { KeptKafkaToken } from '../kept-kafka-token.js';

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
    inject: [Environment, PostgresEventLog, PostgresDatabase, KeptKafkaToken],
    useFactory: async (
      environment: Environment,
      outbox: PostgresEventLog,
      database: PostgresDatabase,
      token: KeptKafkaToken,
    ) => {
      if (environment.EVENT_LOG === 'postgres') return outbox;
      const kafka = new KafkaEventLog(database, kafkaOptions(environment, token));
      await kafka.start();
      return kafka;
    },
  },
  {
    provide: OutboxRelay,
    inject: [Environment, PostgresEventLog, PostgresDatabase, KeptKafkaToken],
    useFactory: (
      environment: Environment,
      outbox: PostgresEventLog,
      database: PostgresDatabase,
      token: KeptKafkaToken,
    ) =>
      environment.EVENT_LOG === 'kafka'
        ? new OutboxRelay(outbox, new KafkaRelayTarget(kafkaOptions(environment, token), new PostgresLogEnds(database)))
        : null,
  },
];
