import { LadderError } from '@laddercast/domain';
import type { StoredDeadLetter } from '@laddercast/event-log';
import { Authenticator } from '@laddercast/identity';
import { Environment } from '@laddercast/platform';
import { Inject, Injectable } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { identityOfIntake } from './intake-identity.js';
import { GAME_MESSAGES, itemOf, SUBMISSION_MESSAGES, type IntakeKeySetting, type IntakeKind } from './intake-kinds.js';

/** Takes refused messages of other systems once more, with the intake's rights. */
@Injectable()
export class IntakeReplay {
  constructor(
    private readonly authenticator: Authenticator,
    @Inject(CommandBus) private readonly commands: Pick<CommandBus, 'execute'>,
    @Inject(Environment) private readonly environment: Pick<Environment, IntakeKeySetting>,
  ) {}

  /** Whether letters of the topic are such messages. */
  isOfIntake({ topic }: Pick<StoredDeadLetter, 'topic'>): boolean {
    return kindOf(topic) !== undefined;
  }

  /**
   * @returns why the message does not count; null when it does, now or before: it has an id
   * @throws FORBIDDEN, UNAUTHENTICATED when the intake may not submit; errors that can succeed later
   */
  async submit(letter: Pick<StoredDeadLetter, 'topic' | 'payload' | 'cause'>): Promise<LadderError | null> {
    return this.submitAs(kindOf(letter.topic)!, letter);
  }

  private async submitAs<Item>(
    kind: IntakeKind<Item>,
    { payload, cause }: Pick<StoredDeadLetter, 'payload' | 'cause'>,
  ): Promise<LadderError | null> {
    const key = this.environment[kind.keySetting];
    if (key === undefined) {
      throw new LadderError('FORBIDDEN', `Set ${kind.keySetting}: messages are taken with the rights of that key.`);
    }
    const identity = await identityOfIntake(this.authenticator, key);
    const item = itemOf(kind, Buffer.from(payload, encodingOf(cause)));
    if (item instanceof LadderError) return item;
    const [result] = await kind.submit(this.commands, identity, [item]);
    if (!(result instanceof LadderError)) return null;
    if (result.retriable) throw result;
    return result;
  }
}

const kindOf = (topic: string): IntakeKind<unknown> | undefined =>
  [SUBMISSION_MESSAGES, GAME_MESSAGES].find((kind) => kind.topic === topic) as IntakeKind<unknown> | undefined;

function encodingOf(cause: string): 'base64' | 'utf8' {
  try {
    return (JSON.parse(cause) as { payloadEncoding?: string }).payloadEncoding === 'base64' ? 'base64' : 'utf8';
  } catch {
    return 'utf8';
  }
}
