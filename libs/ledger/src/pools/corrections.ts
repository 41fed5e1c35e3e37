import {
  LadderError,
  newcomer,
  recompute,
  type Corrections,
  type PoolGame,
  type RatingPool,
  type Recomputation,
} from '@laddercast/domain';
import type { SqlRunner } from '../database/postgres-database.js';
import { prepared } from '../database/postgres-statements.js';
import { RatedRows } from './rated-rows.js';
import type { RecordedPlayer } from './recorded-games.js';

/** What a void does: ratings as if the game had never been, or only a mark. */
export type VoidMode = 'recompute' | 'keep';

/** The event of a pool that makes games void, or gives one of them another result. */
export interface PoolCorrection {
  /** Of the games; ascending. */
  readonly positions: readonly number[];
  readonly mode: VoidMode;
  /** Who really played, and how, in the one game; null: the games are void. */
  readonly players: readonly RecordedPlayer[] | null;
}

export const POOL_CORRECTION = 'correction';

/** What a correction came to. */
export interface CorrectionOutcome {
  /** How many were corrected. */
  readonly games: number;
  /** Whose rating is another one, by id. */
  readonly players: readonly { playerId: string; before: number; after: number; delta: number }[];
}

/** The outcome as it is kept: of a correction that was too large nothing was done. */
export type KeptOutcome = CorrectionOutcome | { readonly refused: { detail: string; gamesMax: number } };

const GAME_AT = prepared(`
  SELECT game_id AS "gameId", position, played_at_ms AS "playedAtMs", weight, players, results
  FROM games WHERE pool_uid = $1 AND position = $2`);

export async function gameAt(sql: SqlRunner, poolUid: number, position: number): Promise<PoolGame> {
  const [game] = await sql.query<PoolGame>(GAME_AT, [poolUid, position]);
  return game!;
}

/** The pool as a correction looks at it. */
export interface RatedPool {
  readonly uid: number;
  readonly ratedPosition: number;
  readonly rating: RatingPool;
}

/**
 * What all ratings would be with the correction; nothing is written.
 * @throws RECOMPUTE_TOO_LARGE
 */
export async function recomputed(
  sql: SqlRunner,
  { uid, ratedPosition, rating }: RatedPool,
  { positions, mode, players }: PoolCorrection,
  gamesMax: number,
): Promise<Recomputation> {
  // What is not rated yet will be rated without what is void, or as it is said now.
  const rated = rating.periods ? [] : positions.filter((position) => position <= ratedPosition);
  const corrections = new Map<number, PoolGame | null>();
  if (mode === 'recompute') for (const position of rated) corrections.set(position, null);
  if (players !== null) {
    for (const position of rated) {
      corrections.set(position, { ...(await gameAt(sql, uid, position)), players });
    }
  }
  const history = new RatedRows(sql, uid, ratedPosition, newcomer(rating).state);
  return recompute(rating, history, corrections satisfies Corrections, gamesMax);
}

/** What is said of a correction. */
export const outcomeOf = ({ positions }: PoolCorrection, { players }: Recomputation): CorrectionOutcome => ({
  games: positions.length,
  players: [...players]
    .map(([playerId, { before, after }]) => ({
      playerId,
      before: before.rating,
      after: after.rating,
      delta: after.rating - before.rating,
    }))
    .sort((a, b) => (a.playerId < b.playerId ? -1 : 1)),
});

/** What was kept of a correction, for whoever asked for it. @throws RECOMPUTE_TOO_LARGE */
export function asAnswered(kept: KeptOutcome): CorrectionOutcome {
  if (!('refused' in kept)) return kept;
  const { detail, gamesMax } = kept.refused;
  throw new LadderError('RECOMPUTE_TOO_LARGE', detail, { gamesMax });
}
