import type {
  Board,
  BoardDefinition,
  EntryState,
  LadderError,
  Problem,
  RankMovement,
  SubmissionOutcome,
} from '@laddercast/domain';
import type {
  LaneMap,
  CreatedApiKey,
  FriendshipState,
  Guild,
  GuildTarget,
  HistoryPoint,
  KeyRotation,
  NewApiKey,
  PlayerProfile,
  Reconciliation,
  RotatedApiKey,
  StandingsPreview,
  StoredPlayer,
} from '@laddercast/ledger';
import { Command } from '@nestjs/cqrs';
import type { Identity } from '@laddercast/identity';
import type { SubmissionBody } from './bodies/submission-body.js';

/** The answer to one submission (API.md, Scores). */
export interface SubmissionResult {
  submissionId: string;
  board: string;
  playerId: string;
  outcome: SubmissionOutcome;
  replayed: boolean;
  score: number;
  previousScore: number | null;
  version: number;
  windows: string[];
  /** Where each run is an entry: the one that `score` and `rank` are of; the player's best where the run does not stand. */
  entryId?: string;
  /** The player's entry that the run pushed out; absent: none. */
  displaced?: string;
  /** On boards with decay: what `score` is made of, and whether this run is kept, be it that another one stands. */
  rawScore?: number;
  patch?: string;
  patchesBehind?: number;
  kept?: boolean;
  /** null when the rank is unknown now. */
  rank: RankMovement | null;
}

/** A submission and its board. */
export interface BoardSubmission {
  boardId: string;
  body: SubmissionBody;
}

/** Counts one run, durably, and answers what it did to the player's rank. */
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
    /** An item that could not be parsed is an error in its place. */
    readonly submissions: (BoardSubmission | LadderError)[],
    /** As in {@link SubmitScoreCommand}; null: no ranks are wanted. */
    readonly waitSeconds: number | null,
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

/** Makes an API key; its secret is in the answer and nowhere else. */
export class CreateApiKeyCommand extends Command<CreatedApiKey> {
  constructor(
    readonly identity: Identity,
    readonly key: NewApiKey,
  ) {
    super();
  }
}

/** Gives an API key another secret; the old one stays valid for the overlap. */
export class RotateApiKeyCommand extends Command<RotatedApiKey> {
  constructor(
    readonly identity: Identity,
    readonly keyId: string,
    readonly rotation: KeyRotation,
  ) {
    super();
  }
}

/** Has more lanes from now on, while everything runs. */
export class RaiseLanesCommand extends Command<readonly LaneMap[]> {
  constructor(
    readonly identity: Identity,
    readonly lanes: number,
  ) {
    super();
  }
}

/** Ends an API key, and all of its secrets. */
export class RevokeApiKeyCommand extends Command<void> {
  constructor(
    readonly identity: Identity,
    readonly keyId: string,
  ) {
    super();
  }
}

/** Makes a board's lists anew from the ledger, beside those that serve until they are ready. */
export class RebuildBoardCommand extends Command<{ generation: number }> {
  constructor(
    readonly identity: Identity,
    readonly boardId: string,
  ) {
    super();
  }
}

/** Makes the lists of all boards anew, a few at a time. */
export class RebuildBoardsCommand extends Command<void> {
  constructor(readonly identity: Identity) {
    super();
  }
}

/** Compares a board with its lists, and puts right what differs. */
export class ReconcileBoardCommand extends Command<Reconciliation> {
  constructor(
    readonly identity: Identity,
    readonly boardId: string,
  ) {
    super();
  }
}

/** The result of replaying a dead letter. */
export interface ReplayedLetter {
  id: string;
  /**
   * `replayed`: the present state went into the log once more, or the submission was counted (now or before);
   * `obsolete`: its subject is gone; `refused`: the submission is still refused.
   */
  outcome: 'replayed' | 'obsolete' | 'refused';
  /** Why it was refused. */
  problem?: Problem;
}

/** Replays a dead letter: sends the present state of its subject once more. */
export class ReplayDeadLetterCommand extends Command<ReplayedLetter> {
  constructor(
    readonly identity: Identity,
    readonly letterId: number,
  ) {
    super();
  }
}

/** The standings that closing a window writes, or would write. */
export interface ClosedWindow {
  board: string;
  window: { id: string; startsAt: string | null; endsAt: string | null };
  dryRun: boolean;
  /** Each list with its number of entries and its first ten. */
  scopes: StandingsPreview[];
}

/** Ends a window now, without grace, and writes its final standings; a dry run only answers them. */
export class CloseWindowCommand extends Command<ClosedWindow> {
  constructor(
    readonly identity: Identity,
    readonly boardId: string,
    /** A full id, or the name of a running window. */
    readonly window: string,
    readonly dryRun: boolean,
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
  /** Under which it stands among the runs of a board that keeps them; null: on others. */
  submissionId: string | null;
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

/** Makes two players friends; asked by a player it is a request until the other asks, too. */
export class AddFriendCommand extends Command<FriendshipState> {
  constructor(
    readonly identity: Identity,
    readonly playerId: string,
    readonly otherId: string,
  ) {
    super();
  }
}

/** Ends a friendship on both sides, takes a request back, or refuses one. */
export class RemoveFriendCommand extends Command<void> {
  constructor(
    readonly identity: Identity,
    readonly playerId: string,
    readonly otherId: string,
  ) {
    super();
  }
}

/** Lets a player follow another, or follow it no longer. */
export class ChangeFollowCommand extends Command<void> {
  constructor(
    readonly identity: Identity,
    readonly followerId: string,
    readonly followedId: string,
    readonly follows: boolean,
  ) {
    super();
  }
}

/** Puts a player into a named circle; the answer is how many members it has now. */
export class AddCircleMemberCommand extends Command<number> {
  constructor(
    readonly identity: Identity,
    readonly circleId: string,
    readonly playerId: string,
  ) {
    super();
  }
}

/** Takes a player out of a named circle. */
export class RemoveCircleMemberCommand extends Command<void> {
  constructor(
    readonly identity: Identity,
    readonly circleId: string,
    readonly playerId: string,
  ) {
    super();
  }
}

/** Replaces a player's profile. */
export class PutPlayerCommand extends Command<StoredPlayer> {
  constructor(
    readonly identity: Identity,
    readonly playerId: string,
    readonly profile: PlayerProfile,
  ) {
    super();
  }
}

/** Creates a guild, or gives it another name. */
export class PutGuildCommand extends Command<{ guild: Guild; created: boolean }> {
  constructor(
    readonly identity: Identity,
    readonly guildId: string,
    readonly displayName: string | null,
  ) {
    super();
  }
}

/** Deletes a guild without members. */
export class DeleteGuildCommand extends Command<void> {
  constructor(
    readonly identity: Identity,
    readonly guildId: string,
  ) {
    super();
  }
}

/** A player's membership of a guild. */
export interface Membership {
  guildId: string;
  playerId: string;
  joinedAt: string;
  /** The guild that the player left for this one; null: none. */
  leftGuildId: string | null;
}

/** Puts a player into a guild, out of the one it was in. */
export class JoinGuildCommand extends Command<Membership> {
  constructor(
    readonly identity: Identity,
    readonly guildId: string,
    readonly playerId: string,
  ) {
    super();
  }
}

/** Takes a player out of a guild, if it is in it. */
export class LeaveGuildCommand extends Command<void> {
  constructor(
    readonly identity: Identity,
    readonly guildId: string,
    readonly playerId: string,
  ) {
    super();
  }
}

/** Recomputes guilds' totals from their members' present entries; repeating it changes nothing. */
export class RecomputeGuildTotalsCommand extends Command<void> {
  constructor(readonly targets: readonly GuildTarget[]) {
    super();
  }
}

/** A state of an entry to record, without its rank. */
export interface StateToRecord extends Omit<HistoryPoint, 'ranked'> {
  /** With `history`. */
  board: Board;
  /** When the entry was achieved, Unix ms; null: there is none. */
  achievedAtMs: number | null;
  /** The entry, where everybody's list does not have it, because its player is shadowed. */
  own?: EntryState;
}

/** Records states of players' entries, each with its rank if that can be read in time; repeating it changes nothing. */
export class RecordHistoryCommand extends Command<void> {
  constructor(
    readonly lane: number,
    /** Each player, window and stretch at most once. */
    readonly states: readonly StateToRecord[],
  ) {
    super();
  }
}
