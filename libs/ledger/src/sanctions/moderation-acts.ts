import { Injectable } from '@nestjs/common';
import type { SqlRunner } from '../database/postgres-database.js';
import { DecisionActs, type DecidingAct, type RunOfFlag, type RunStep } from '../integrity/decision-acts.js';
import { RunActs } from '../runs/run-acts.js';
import { Sanctions } from './sanctions.js';

/** What decisions do, by the acts on runs and the sanctions that moderators have by hand. */
@Injectable()
export class ModerationActs extends DecisionActs {
  constructor(
    private readonly runs: RunActs,
    private readonly sanctions: Sanctions,
  ) {
    super();
  }

  void(transaction: SqlRunner, run: RunOfFlag, act: DecidingAct): Promise<void> {
    return this.take(transaction, 'void', run, act);
  }

  restore(transaction: SqlRunner, run: RunOfFlag, act: DecidingAct): Promise<void> {
    return this.take(transaction, 'restore', run, act);
  }

  accept(transaction: SqlRunner, run: RunOfFlag, act: DecidingAct): Promise<void> {
    return this.take(transaction, 'accept', run, act);
  }

  mark(transaction: SqlRunner, run: RunOfFlag, verified: boolean, act: DecidingAct): Promise<void> {
    return this.take(transaction, verified ? 'verify' : 'unverify', run, act);
  }

  /** From all boards and without end, in the place of the sanction that is in force. */
  async ban(transaction: SqlRunner, playerId: string, { actor, reason }: DecidingAct): Promise<void> {
    const ban = { kind: 'ban', reason, publicReason: null, untilMs: null, boards: null } as const;
    await this.sanctions.putWithin(transaction, playerId, ban, actor);
  }

  private async take(
    transaction: SqlRunner,
    step: RunStep,
    run: RunOfFlag,
    { decision, actor, reason }: DecidingAct,
  ): Promise<void> {
    const { boardId, submissionId } = run;
    const isDismissed = decision === 'dismiss';
    await this.runs.within(transaction, step, run, { boardId, submissionId, actor, reason, isDismissed });
  }
}
