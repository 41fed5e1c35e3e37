import type { LadderError, RankMovement, UnratedReason } from '@laddercast/domain';
import type { Identity } from '@laddercast/identity';
import type { AskedCorrection, CorrectionOutcome, FedPlayer, LastFeed, Pool, PoolDefinition } from '@laddercast/ledger';
import { Command } from '@nestjs/cqrs';
import type { GameBody } from '../bodies/game-body.js';

/** Creates or replaces the definition of a rating pool. */
export class PutPoolCommand extends Command<{ pool: Pool; created: boolean }> {
  constructor(
    readonly identity: Identity,
    readonly poolId: string,
    readonly definition: PoolDefinition,
    readonly ifMatch: string | null,
    /** Whether the pool must not exist yet. */
    readonly onlyCreate: boolean,
  ) {
    super();
  }
}

/** Deletes a pool with its games and ratings. */
export class DeletePoolCommand extends Command<void> {
  constructor(
    readonly identity: Identity,
    readonly poolId: string,
    /** The entity tag that the pool must still have, or null. */
    readonly ifMatch: string | null,
  ) {
    super();
  }
}

/** What a correction came to; `players` is null where it is recorded, and not done yet. */
export type CorrectionAnswer = CorrectionOutcome | { games: number; players: null };

/** Makes games void, or gives one the result that it really had; a dry run only says what that would do. */
export class CorrectGamesCommand extends Command<CorrectionAnswer> {
  constructor(
    readonly identity: Identity,
    readonly poolId: string,
    readonly asked: AskedCorrection,
    readonly isDryRun: boolean,
  ) {
    super();
  }
}

/** What a game did to one player: `before` and `after` are ratings, `k` is without the game's weight. */
export interface RatedPlayerAnswer {
  playerId: string;
  before: number;
  after: number;
  delta: number;
  expected: number;
  k: number | null;
  /** Where it was waited for: on the board that shows the pool's ratings; null: it has none there, or none can be said. */
  rank?: RankMovement | null;
}

/** What a game did to its players, or why it moves nobody. */
export type RatedGameAnswer =
  | { position: number; players: RatedPlayerAnswer[]; /** What it did is kept no longer. */ gone?: true }
  | { reason: UnratedReason };

/** The answer to one game. */
export interface GameResult {
  gameId: string;
  pool: string;
  outcome: 'recorded';
  replayed: boolean;
  /** Its place in the pool's order. */
  position: number;
  /** What it did, or why it moves nobody; null while it is not rated, or nobody waited for that. */
  rated: RatedGameAnswer | null;
}

/** Records games, each durably or not at all; those of a pool in the order given. */
export class RecordGamesCommand extends Command<(GameResult | LadderError)[]> {
  constructor(
    readonly identity: Identity,
    /** What could not be parsed stands in its place as the error. */
    readonly games: readonly (GameBody | LadderError)[],
    /** How long to wait for the ratings, in seconds; 0: not at all. */
    readonly waitSeconds: number,
  ) {
    super();
  }
}

/** Writes what a pool says of players to the boards that it feeds; repeating it changes nothing. */
export class FeedBoardsCommand extends Command<void> {
  constructor(
    readonly poolUid: number,
    readonly players: readonly FedPlayer[],
    /** null: no window waits for it. */
    readonly lastFeed: LastFeed | null = null,
  ) {
    super();
  }
}

/** Rates what is recorded of these pools and not rated yet; repeating it changes nothing. */
export class RatePoolsCommand extends Command<void> {
  constructor(readonly poolUids: readonly number[]) {
    super();
  }
}

/** What became of an order to restate a window. */
export interface RestatedStandings {
  board: string;
  window: string;
  /** Which feeds the board. */
  pool: string;
  /** `restating`: it goes on after this answer; `unchanged`: the standings said already what the pool says. */
  outcome: 'restated' | 'unchanged' | 'restating';
  /** Players of the pool that were looked at. */
  playersRead: number;
  /** How many entries differ, parts that guilds keep of leavers among them; null: not known yet. */
  entries: number | null;
  /** The newest of the window; null: none is kept any more. */
  edition: number | null;
}

/** Has the standings of a window that ended written anew, by what the pool that feeds the board says now. */
export class RestateWindowCommand extends Command<RestatedStandings> {
  constructor(
    readonly identity: Identity,
    readonly boardId: string,
    /** A full id. */
    readonly window: string,
    readonly reason: string | null,
  ) {
    super();
  }
}
