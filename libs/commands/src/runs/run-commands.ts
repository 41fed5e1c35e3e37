import type { Identity } from '@laddercast/identity';
import { Command } from '@nestjs/cqrs';

/** What is done to one run. */
export type RunActKind = 'void' | 'restore' | 'verify' | 'unverify';

/** What an entry was, or is: the extra columns by their names. */
export interface ShownEntry {
  score: number;
  columns: Record<string, number>;
  /** RFC 3339. */
  achievedAt: string;
}

export interface RunActResult {
  submissionId: string;
  outcome: 'voided' | 'restored' | 'verified' | 'unverified' | 'unchanged';
  /** Of the entries that changed, else of the run: its log position. */
  version: number;
  /** The windows of the run; `revising`: its final standings follow, as their next edition. */
  windows: { window: string; before: ShownEntry | null; after: ShownEntry | null; revising: boolean }[];
}

/**
 * Takes a run out, takes that back, or says whether it was looked at. Entries are folded from the runs that count then.
 * BOARD_NOT_FOUND, RUNS_NOT_KEPT, RUN_NOT_FOUND, RUN_GONE; VALIDATION_FAILED where the player has to be named and is not.
 */
export class ActOnRunCommand extends Command<RunActResult> {
  constructor(
    readonly identity: Identity,
    readonly boardId: string,
    readonly submissionId: string,
    /** Whose run it is; null: not named, which is enough where ids are the board's. */
    readonly playerId: string | null,
    readonly act: { kind: RunActKind; reason: string },
  ) {
    super();
  }
}
