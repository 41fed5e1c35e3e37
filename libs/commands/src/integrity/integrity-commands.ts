import type { RunRecorded } from '@laddercast/domain';
import type { Identity } from '@laddercast/identity';
import type { Flag, FlagDecision } from '@laddercast/ledger';
import { Command } from '@nestjs/cqrs';

/** The consumer group that examines runs. */
export const INTEGRITY_GROUP = 'integrity';

/** An accepted run, and where its event stands in its lane. */
export interface RecordedRun {
  run: RunRecorded;
  logPosition: number;
}

/** Has accepted runs examined by the rules of their boards; repeating it changes nothing. */
export class ExamineRunsCommand extends Command<void> {
  constructor(
    readonly lane: number,
    /** Those of one player in the order of acceptance. */
    readonly runs: readonly RecordedRun[],
  ) {
    super();
  }
}

/** Decides a flag, or opens it again; the same decision again changes nothing. */
export class DecideFlagCommand extends Command<Flag> {
  constructor(
    readonly identity: Identity,
    readonly flagId: string,
    readonly decision: FlagDecision,
    readonly reason: string,
  ) {
    super();
  }
}
