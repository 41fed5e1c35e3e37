import type { SqlRunner } from '../database/postgres-database.js';
import type { FlaggedRun, StandingDecision } from './flag.js';

/** A flagged run with its board. */
export interface RunOfFlag extends FlaggedRun {
  boardUid: number;
  boardId: string;
}

/** Who decided what, why, and of which flag. */
export interface DecidingAct {
  decision: StandingDecision;
  /** The id of a key. */
  actor: string;
  reason: string;
  flagId: string;
}

/**
 * What deciding a flag does to runs and players. Each act is part of the transaction that decides, which holds the lanes of all
 * the players concerned, and changes nothing the second time.
 */
export abstract class DecisionActs {
  /** The run counts no more, or never will. */
  abstract void(transaction: SqlRunner, run: RunOfFlag, act: DecidingAct): Promise<void>;
  /** Undoes a void: the run is again what it was, counted or held. */
  abstract restore(transaction: SqlRunner, run: RunOfFlag, act: DecidingAct): Promise<void>;
  /** The held run counts, as if it had been accepted at once. */
  abstract accept(transaction: SqlRunner, run: RunOfFlag, act: DecidingAct): Promise<void>;
  /** Marks the run as verified, or not; whether it counts stays as it is. */
  abstract mark(transaction: SqlRunner, run: RunOfFlag, verified: boolean, act: DecidingAct): Promise<void>;
  /** Bans the player from all boards, without end. */
  abstract ban(transaction: SqlRunner, playerId: string, act: DecidingAct): Promise<void>;
}

export type RunStep = 'void' | 'restore' | 'accept' | 'verify' | 'unverify';

/** What a run is now. */
export interface RunNow {
  held: boolean;
  voided: boolean;
  verified: boolean;
  /** Whether it is verified by an `accept` of the flag; null: nobody noted it. */
  byFlag: boolean | null;
  /** Whether it is by that of other flags. */
  byOthers: boolean;
}

/**
 * What a decision does to one run. What was voided by the flag's decision before (`stood`) comes back by another one; what
 * somebody voided by its id stays voided. What was verified by the decision before, and by nothing else, is so no more by another
 * one.
 * @param stood what the flag was decided before it was reopened, with those before where that did not reach all runs
 */
export function stepsOf(decision: StandingDecision, stood: readonly StandingDecision[], run: RunNow): RunStep[] {
  const marks: RunStep[] = decision !== 'accept' && isByFlag(stood, run) && !run.byOthers ? ['unverify'] : [];
  if (decision === 'void' || decision === 'ban') return run.voided ? marks : ['void', ...marks];
  const isOurs = stood.includes('void') || stood.includes('ban');
  if (run.voided && !isOurs) return marks;
  const steps: RunStep[] = run.voided ? ['restore'] : [];
  if (run.held) steps.push('accept');
  if (decision === 'accept') steps.push('verify');
  return [...steps, ...marks];
}

/** Whether the run is verified by the flag once it is decided so; not where somebody had verified it by its id. */
export function isVerifiedBy(decision: StandingDecision, stood: readonly StandingDecision[], run: RunNow): boolean {
  if (decision !== 'accept') return false;
  if (isByFlag(stood, run)) return true;
  return stepsOf(decision, stood, run).includes('verify') && (!run.verified || run.byOthers);
}

/** Where nobody noted it: a release that accepted the flag verified the run, whoever had done so before. */
const isByFlag = (stood: readonly StandingDecision[], { byFlag, verified }: RunNow): boolean =>
  byFlag ?? (verified && stood.includes('accept'));
