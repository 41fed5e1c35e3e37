import type { Board, BoardDefinition, EntryOutcome, LadderError, RankMovement } from '@laddercast/domain';
import { Command } from '@nestjs/cqrs';
import type { Identity } from './identity.js';
import type { SubmissionBody } from './submission-body.js';

/** The answer to one submission (API.md, Scores). */
export interface SubmissionResult {
  submissionId: string;
  board: string;
  playerId: string;
  outcome: EntryOutcome;
  replayed: boolean;
  score: number;
  previousScore: number | null;
  version: number;
  windows: string[];
  /** null when nothing can be said now. */
  rank: RankMovement | null;
}

/** A submission with the board it is for. */
export interface BoardSubmission {
  boardId: string;
  body: SubmissionBody;
}

/** Counts one run, durably, and says what it did to the player's rank. */
export class SubmitScoreCommand extends Command<SubmissionResult> {
  constructor(
    readonly identity: Identity,
    readonly submission: BoardSubmission,
    /** How long to wait for the projection, in seconds; 0: answer at once with an estimate. */
    readonly waitSeconds: number,
  ) {
    super();
  }
}

/** Counts many runs; each succeeds or fails by itself, a player's in the order given. */
export class SubmitScoresCommand extends Command<(SubmissionResult | LadderError)[]> {
  constructor(
    readonly identity: Identity,
    /** What could not be parsed stands in its place as the error. */
    readonly submissions: (BoardSubmission | LadderError)[],
    readonly waitSeconds: number,
  ) {
    super();
  }
}

/** Creates or replaces a board's definition. */
export class PutBoardCommand extends Command<{ board: Board; created: boolean }> {
  constructor(
    readonly identity: Identity,
    readonly boardId: string,
    readonly definition: BoardDefinition,
    readonly ifMatch: string | null,
    /** Whether the board must not exist yet. */
    readonly onlyCreate: boolean,
  ) {
    super();
  }
}

export class DeleteBoardCommand extends Command<void> {
  constructor(
    readonly identity: Identity,
    readonly boardId: string,
    /** The entity tag that the board must still have, or null. */
    readonly ifMatch: string | null,
  ) {
    super();
  }
}

/** Empties a board; its definition stays. */
export class ResetBoardCommand extends Command<Board> {
  constructor(
    readonly identity: Identity,
    readonly boardId: string,
  ) {
    super();
  }
}

export interface OverrideResult {
  board: string;
  playerId: string;
  /** The windows in which something changed. */
  windows: string[];
  version: number;
}

/** Sets a player's entry in the running windows whatever the operator, or removes it (`entry` null). */
export class OverrideEntryCommand extends Command<OverrideResult> {
  constructor(
    readonly identity: Identity,
    readonly boardId: string,
    readonly playerId: string,
    readonly entry: { score: number; columns: Record<string, number> } | null,
    readonly reason: string | null,
  ) {
    super();
  }
}
