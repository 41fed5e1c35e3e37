import { LadderError } from '@laddercast/domain';
import type { StoredDeadLetter } from '@laddercast/event-log';
import type { CommandBus } from '@nestjs/cqrs';
import type { Authenticator } from '@laddercast/identity';
import { SubmitScoresCommand } from '../commands.js';
import { identityOfIntake } from './intake-identity.js';
import { intakeSubmissionOf } from './score-intake.js';

/** Submits messages of `in.scores` that were refused once more, with the rights that they came with. */
export class IntakeReplay {
  /** @param key KAFKA_IN_SCORES_KEY */
  constructor(
    private readonly authenticator: Authenticator,
    private readonly commands: Pick<CommandBus, 'execute'>,
    private readonly key: string | undefined,
  ) {}

  /**
   * @returns why the submission does not count; null when it does, now or before: it has an id
   * @throws FORBIDDEN, UNAUTHENTICATED when the intake may not submit, and what can succeed later
   */
  async submit({ payload, cause }: Pick<StoredDeadLetter, 'payload' | 'cause'>): Promise<LadderError | null> {
    if (this.key === undefined) {
      throw new LadderError(
        'FORBIDDEN',
        'Set KAFKA_IN_SCORES_KEY: messages are submitted with the rights of that key.',
      );
    }
    const identity = await identityOfIntake(this.authenticator, this.key);
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
