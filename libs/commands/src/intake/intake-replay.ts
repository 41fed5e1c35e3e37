import { LadderError } from '@laddercast/domain';
import type { StoredDeadLetter } from '@laddercast/event-log';
import { Authenticator } from '@laddercast/identity';
import { Environment } from '@laddercast/platform';
import { Inject, Injectable } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { SubmitScoresCommand } from '../commands.js';
import { identityOfIntake } from './intake-identity.js';
import { intakeSubmissionOf } from './message-intake.js';

/** Submits refused messages of `in.scores` once more, with the intake's rights. */
@Injectable()
export class IntakeReplay {
  constructor(
    private readonly authenticator: Authenticator,
    @Inject(CommandBus) private readonly commands: Pick<CommandBus, 'execute'>,
    @Inject(Environment) private readonly environment: Pick<Environment, 'KAFKA_IN_SCORES_KEY'>,
  ) {}

  /**
   * @returns why the submission does not count; null when it does, now or before: it has an id
   * @throws FORBIDDEN, UNAUTHENTICATED when the intake may not submit; errors that can succeed later
   */
  async submit({ payload, cause }: Pick<StoredDeadLetter, 'payload' | 'cause'>): Promise<LadderError | null> {
    const { KAFKA_IN_SCORES_KEY: key } = this.environment;
    if (key === undefined) {
      throw new LadderError(
        'FORBIDDEN',
        'Set KAFKA_IN_SCORES_KEY: messages are submitted with the rights of that key.',
      );
    }
    const identity = await identityOfIntake(this.authenticator, key);
    const submission = intakeSubmissionOf(Buffer.from(payload, encodingOf(cause)));
    if (submission instanceof LadderError) return submission;
    const [result] = await this.commands.execute(new SubmitScoresCommand(identity, [submission], null));
    if (!(result instanceof LadderError)) return null;
    if (result.retriable) throw result;
    return result;
  }
}

function encodingOf(cause: string): 'base64' | 'utf8' {
  try {
    return (JSON.parse(cause) as { payloadEncoding?: string }).payloadEncoding === 'base64' ? 'base64' : 'utf8';
  } catch {
    return 'utf8';
  }
}
