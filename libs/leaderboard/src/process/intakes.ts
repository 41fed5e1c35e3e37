import { GAME_MESSAGES, MessageIntake, SUBMISSION_MESSAGES, type IntakeKind } from '@laddercast/commands';
import { KafkaIntake, kafkaOptions, KeptKafkaToken, parkAllInto, writeLogLine } from '@laddercast/event-log';
import { Authenticator } from '@laddercast/identity';
import { Lanes, PostgresDatabase } from '@laddercast/ledger';
import { Environment } from '@laddercast/platform';
import { Injectable, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { IntakeLifecycle } from './intake.lifecycle.js';

/** What other systems write to Kafka: each topic whose key is set. */
@Injectable()
export class Intakes implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly all: readonly IntakeLifecycle[];

  constructor(
    private readonly environment: Environment,
    private readonly database: PostgresDatabase,
    private readonly authenticator: Authenticator,
    private readonly commands: CommandBus,
    private readonly token: KeptKafkaToken,
    private readonly lanes: Lanes,
  ) {
    this.all = [...this.intakeOf(SUBMISSION_MESSAGES), ...this.intakeOf(GAME_MESSAGES)];
  }

  /** Of each topic that is to be read and is not, why. */
  get stands(): string[] {
    return this.all.flatMap(({ stands }) => stands ?? []);
  }

  /** From here on the commands have their handlers. */
  onApplicationBootstrap(): void {
    for (const intake of this.all) intake.start();
  }

  /** Before the ledger closes. */
  async beforeApplicationShutdown(): Promise<void> {
    await Promise.all(this.all.map((intake) => intake.stop()));
  }

  private intakeOf<Item>(kind: IntakeKind<Item>): IntakeLifecycle[] {
    const key = this.environment[kind.keySetting];
    if (key === undefined) return [];
    const { commands, database, environment, token, lanes } = this;
    const intake = new MessageIntake({ kind, commands, park: parkAllInto(database, kind.topic), log: writeLogLine });
    return [
      new IntakeLifecycle(
        this.authenticator,
        { ...kind, key },
        intake,
        (handler) => new KafkaIntake(kafkaOptions(environment, token, lanes), kind.topic, handler),
      ),
    ];
  }
}
