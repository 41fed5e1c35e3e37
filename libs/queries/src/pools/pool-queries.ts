import type { Outcome, PlayerStatus, Prediction, Split } from '@laddercast/domain';
import type { RatedGameAnswer, RatedPlayerAnswer } from '@laddercast/commands';
import type { Identity } from '@laddercast/identity';
import type { Pool, PoolProgress, RatingDistribution, VoidMode } from '@laddercast/ledger';
import { Query } from '@nestjs/cqrs';
import type { UnlistedShown } from '../shared/shown-player.js';

/** Who asks, and which players who are not listed it sees. */
export interface PoolCaller {
  identity: Identity;
  unlistedShown: UnlistedShown;
}

/** A part of a list, the newest first. */
export interface NewestPage {
  limit: number;
  /** Only what lies before this position; null: from the newest on. */
  beforePosition: number | null;
}

/** A pool with how far its ratings are. @throws POOL_NOT_FOUND */
export class GetPoolQuery extends Query<Pool & PoolProgress> {
  constructor(
    readonly identity: Identity,
    readonly poolId: string,
  ) {
    super();
  }
}

export interface PoolsPage {
  pools: Pool[];
  /** The cursor of the page after this one, null where there is none. */
  next: string | null;
}

/** Pools by id, after a given one. */
export class ListPoolsQuery extends Query<PoolsPage> {
  constructor(
    readonly identity: Identity,
    readonly limit: number,
    readonly after: string,
  ) {
    super();
  }
}

/** A recorded game as it is shown. */
export interface ShownGame {
  gameId: string;
  pool: string;
  position: number;
  playedAt: string;
  recordedAt: string;
  weight: number;
  players: {
    playerId: string;
    place: number | null;
    team: string | null;
    home: boolean;
    status: PlayerStatus;
    score: number | null;
  }[];
  metadata: object | null;
  /** What its void does; null: it counts. */
  voided: VoidMode | null;
  /** null while it is not rated. */
  rated: RatedGameAnswer | null;
}

/** @throws POOL_NOT_FOUND, GAME_NOT_FOUND */
export class GetGameQuery extends Query<ShownGame> {
  constructor(
    readonly identity: Identity,
    readonly poolId: string,
    readonly gameId: string,
  ) {
    super();
  }
}

export interface GamesOfPool {
  games: ShownGame[];
  /** The cursor of the page after this one, null where there is none. */
  next: string | null;
}

/** The games of a pool, or of one player in it. @throws POOL_NOT_FOUND */
export class ListGamesQuery extends Query<GamesOfPool> {
  constructor(
    readonly caller: PoolCaller,
    readonly poolId: string,
    /** null: of everybody. */
    readonly playerId: string | null,
    readonly page: NewestPage,
  ) {
    super();
  }
}

/** Where a player stands in a pool, as of `asOf`. */
export interface ShownRating {
  pool: string;
  playerId: string;
  rating: number;
  /** As of now; null where the algorithm has none. */
  deviation: number | null;
  /** After the last game. */
  storedDeviation: number | null;
  volatility: number | null;
  conservative: number;
  interval95: readonly [number, number] | null;
  games: number;
  wins: number;
  draws: number;
  losses: number;
  provisional: boolean;
  peak: { rating: number; at: string; gameId: string } | null;
  lastPlayedAt: string | null;
  rankable: boolean;
  /** The rules of `rankable` that fail now. */
  missing: readonly string[];
  /** When the first of them will fail if the player stays away; null: never, or it does already. */
  rankableUntil: string | null;
  /** Of the last game that changed it. */
  position: number;
  /** Games of the pool that are recorded and not rated yet. */
  pending: number;
  asOf: string;
}

/** @throws POOL_NOT_FOUND, RATING_NOT_FOUND with the values of a newcomer */
export class GetRatingQuery extends Query<ShownRating> {
  constructor(
    readonly caller: PoolCaller,
    readonly poolId: string,
    readonly playerId: string,
  ) {
    super();
  }
}

/** The ratings of several players, in the order asked; null where one has none. @throws POOL_NOT_FOUND */
export class LookupRatingsQuery extends Query<{ ratings: (ShownRating | null)[] }> {
  constructor(
    readonly caller: PoolCaller,
    readonly poolId: string,
    readonly playerIds: readonly string[],
  ) {
    super();
  }
}

/**
 * What to expect of a game of these sides; a player without games is as a newcomer.
 * @throws POOL_NOT_FOUND, GAME_TOO_LARGE, PLAYERS_NOT_SUPPORTED, OVERLOADED
 */
export class PredictGameQuery extends Query<Prediction> {
  constructor(
    readonly caller: PoolCaller,
    readonly poolId: string,
    readonly sides: readonly (readonly string[])[],
  ) {
    super();
  }
}

/**
 * The fairest split of players into sides of so many.
 * @throws POOL_NOT_FOUND, VALIDATION_FAILED, GAME_TOO_LARGE, PLAYERS_NOT_SUPPORTED, OVERLOADED
 */
export class SplitPlayersQuery extends Query<Split> {
  constructor(
    readonly caller: PoolCaller,
    readonly poolId: string,
    readonly playerIds: readonly string[],
    readonly sidesOf: number,
  ) {
    super();
  }
}

/** How the ratings of a pool are spread; players who are not listed count. */
export interface ShownDistribution extends Omit<RatingDistribution, 'nowMs'> {
  pool: string;
  asOf: string;
}

/** @throws POOL_NOT_FOUND, OVERLOADED */
export class GetDistributionQuery extends Query<ShownDistribution> {
  constructor(
    readonly identity: Identity,
    readonly poolId: string,
  ) {
    super();
  }
}

export interface ShownRatingChange extends Omit<RatedPlayerAnswer, 'playerId' | 'expected'> {
  /** `refund`: points lost in the game were given back when it was made void. */
  kind: 'game' | 'recomputed' | 'refund';
  /** null of a refund, as `k` and `outcome`. */
  expected: number | null;
  /** The position of the correction after which it was computed again, or null. */
  recomputedBy: number | null;
  gameId: string;
  position: number;
  playedAt: string;
  outcome: Outcome | null;
  /** What computed it, such as `elo@1`. */
  engine: string;
  /** The players of the other sides, in the order of the game. */
  opponents: string[];
}

export interface RatingHistory {
  pool: string;
  playerId: string;
  /** The newest first. */
  changes: ShownRatingChange[];
  /** The cursor of the page after this one, null where there is none. */
  next: string | null;
}

/** Each change of a player's rating. @throws POOL_NOT_FOUND */
export class GetRatingHistoryQuery extends Query<RatingHistory> {
  constructor(
    readonly caller: PoolCaller,
    readonly poolId: string,
    readonly playerId: string,
    readonly page: NewestPage,
  ) {
    super();
  }
}
