import { ScoreIntake } from '@laddercast/commands';
import { Authenticator } from '@laddercast/identity';
import {
  KafkaIntake,
  kafkaOptions,
  KeptKafkaToken,
  parkAllInto,
  writeLogLine,
  type IntakeTopic,
} from '@laddercast/event-log';
import { PostgresDatabase } from '@laddercast/ledger';
import { Environment } from '@laddercast/platform';
import type { Provider } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ScoreIntakeLifecycle } from './intake.lifecycle.js';

const TOPIC: IntakeTopic = 'in.scores';

/** Submissions that other systems write to Kafka; null where they are not asked for. */
export const scoreIntake: Provider = {
  provide: ScoreIntakeLifecycle,
  inject: [Environment, PostgresDatabase, Authenticator, CommandBus, KeptKafkaToken],
  useFactory: (
    environment: Environment,
    database: PostgresDatabase,
    authenticator: Authenticator,
    commands: CommandBus,
    token: KeptKafkaToken,
  ): ScoreIntakeLifecycle | null => {
    const key = environment.KAFKA_IN_SCORES_KEY;
    if (key === undefined) return null;
    const intake = new ScoreIntake({ commands, park: parkAllInto(database, TOPIC), log: writeLogLine });
    return new ScoreIntakeLifecycle(
      authenticator,
      intake,
      key,
      (handler) => new KafkaIntake(kafkaOptions(environment, token), TOPIC, handler),
    );
  },
};
