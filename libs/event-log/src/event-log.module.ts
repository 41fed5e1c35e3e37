import { Lanes, LedgerModule, PostgresDatabase } from '@laddercast/ledger';
import { Environment } from '@laddercast/platform';
import { Module, type Provider } from '@nestjs/common';
import { writeLogLine } from './delivery/log-line.js';
import { EventLog } from './event-log.js';
import { KafkaEventLog } from './kafka/kafka-event-log.js';
import { kafkaOptions } from './kafka/kafka-options.js';
import { KafkaRelayTarget } from './kafka/kafka-relay-target.js';
import { KeptKafkaToken } from './kafka/kept-kafka-token.js';
import { OutboxRelay } from './kafka/outbox-relay.js';
import { DeadLetterStore } from './postgres/postgres-dead-letter-store.js';
import { PostgresEventLog } from './postgres/postgres-event-log.js';
import { PostgresLogEnds } from './postgres/postgres-log-ends.js';
import { PostgresLogGroups } from './postgres/postgres-log-groups.js';

const inEveryProcess = [KeptKafkaToken, DeadLetterStore];

/** What every process has of the log. */
@Module({ imports: [LedgerModule], providers: inEveryProcess, exports: inEveryProcess })
export class EventLogModule {}

/** The log: the outbox itself, or Kafka with a relay that fills it. */
const ofProjectors: Provider[] = [
  {
    provide: PostgresEventLog,
    inject: [PostgresDatabase, Environment, Lanes],
    useFactory: (database: PostgresDatabase, { OUTBOX_EVENTS_MAX }: Environment, lanes: Lanes) =>
      new PostgresEventLog(database, {
        lanes,
        log: writeLogLine,
        // Handled rows must not keep the outbox at its limit.
        trim: { keptMax: Math.floor(OUTBOX_EVENTS_MAX / 10) },
      }),
  },
  {
    provide: EventLog,
    inject: [Environment, PostgresEventLog, PostgresDatabase, KeptKafkaToken, Lanes],
    useFactory: async (
      environment: Environment,
      outbox: PostgresEventLog,
      database: PostgresDatabase,
      token: KeptKafkaToken,
      lanes: Lanes,
    ) => {
      if (environment.EVENT_LOG === 'postgres') return outbox;
      const kafka = new KafkaEventLog(database, kafkaOptions(environment, token, lanes));
      await kafka.start();
      return kafka;
    },
  },
  {
    provide: OutboxRelay,
    inject: [Environment, PostgresEventLog, PostgresDatabase, KeptKafkaToken, Lanes],
    useFactory: (
      environment: Environment,
      outbox: PostgresEventLog,
      database: PostgresDatabase,
      token: KeptKafkaToken,
      lanes: Lanes,
    ) =>
      environment.EVENT_LOG === 'kafka'
        ? new OutboxRelay(
            outbox,
            new KafkaRelayTarget(kafkaOptions(environment, token, lanes), new PostgresLogEnds(database)),
          )
        : null,
  },
  PostgresLogEnds,
  PostgresLogGroups,
];

/** The log itself, which projectors read. */
@Module({ imports: [LedgerModule, EventLogModule], providers: ofProjectors, exports: ofProjectors })
export class EventLogProjectorModule {}
