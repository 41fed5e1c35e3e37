import type { Peak } from './player-rating.js';
import type { RatingPool } from './pool.js';
import type { RatingState } from './rating-algorithm.js';

/** What a pool may write into a board as the score. */
export const FED_VALUES = ['rating', 'conservative', 'peak', 'gain', 'games', 'wins'] as const;
export type FedValue = (typeof FED_VALUES)[number];

/** What it may write into the columns of a board. */
export const FED_COLUMNS = ['deviation', 'games', 'wins', 'winRate', 'peak'] as const;
export type FedColumn = (typeof FED_COLUMNS)[number];

/** Where the entries of a board come from, instead of submissions. */
export interface BoardFeed {
  readonly poolUid: number;
  readonly pool: string;
  readonly value: FedValue;
  /** In the order of the board's columns. */
  readonly columns: readonly FedColumn[];
}

/** A player's games in one window, summed up; a player without games in it has none of this. */
export interface WindowOfGames {
  /** After the last of them that was accepted. */
  readonly state: RatingState;
  readonly games: number;
  readonly wins: number;
  /** The rating before the first of them; may be null where no board of the value gain is asked for. */
  readonly before: number | null;
  /** The best rating after one of them, those left out after which the player was provisional. */
  readonly peak: Pick<Peak, 'rating' | 'atMs'> | null;
  readonly lastPlayedAtMs: number;
}

/** An entry of a fed board. */
export interface FedEntry {
  readonly score: number;
  readonly columns: number[];
  readonly achievedAtMs: number;
}

/** What a player's games in a window make on a board; null: no entry, since no game counts for a peak yet. */
export function fedEntry(
  { algorithm }: Pick<RatingPool, 'algorithm'>,
  { value, columns }: Pick<BoardFeed, 'value' | 'columns'>,
  games: WindowOfGames,
): FedEntry | null {
  const { state, before, peak, lastPlayedAtMs } = games;
  if (value === 'peak' && peak === null) return null;
  const columnsOf: Record<FedColumn, () => number> = {
    deviation: () => state.deviation ?? 0,
    games: () => games.games,
    wins: () => games.wins,
    winRate: () => games.wins / games.games,
    // A board of another value shows players without a peak, too.
    peak: () => peak?.rating ?? state.rating,
  };
  const scores: Record<FedValue, () => number> = {
    rating: () => state.rating,
    conservative: () => algorithm.conservative(state),
    peak: () => peak!.rating,
    gain: () => state.rating - before!,
    games: () => games.games,
    wins: () => games.wins,
  };
  return {
    score: scores[value](),
    columns: columns.map((column) => columnsOf[column]()),
    achievedAtMs: value === 'peak' ? peak!.atMs : lastPlayedAtMs,
  };
}
