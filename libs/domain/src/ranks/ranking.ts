import type { PlayerFace } from '../player-face.js';
import type { RankStyle } from '../boards/board.js';

/** A row of a list or channel, as clients see it. `rank` is 1-based. */
export interface RankedEntry {
  rank: number;
  playerId: string;
  /** The id of the submission, on boards where each run is an entry: with the player's it names the row. */
  entryId?: string;
  displayName: string | null;
  /** Of players, where it is asked for. */
  player?: PlayerFace;
  score: number;
  columns: Record<string, number>;
  /**
   * RFC 3339 UTC with milliseconds. null only with tiebreak `none` while the database is away, which alone keeps it
   * then.
   */
  achievedAt: string | null;
  metadata: unknown;
  /**
   * How many places the player has moved up since the day began (negative: down), on boards with `change`; null if
   * unknown. Rows of live channels do not carry it.
   */
  change?: number | null;
  /**
   * On boards that keep runs, of players: whether somebody has looked at the run that the entry rests on. false where that
   * is none that is kept, such as a sum, or cannot be looked up now.
   */
  verified?: boolean;
  /** On boards with decay: the score without its tax, the patch of the run, and how many patches that is behind. */
  rawScore?: number;
  patch?: string;
  patchesBehind?: number;
  /** The proof of that run, an https URL, on boards that show it to everyone; null: it has none. */
  proof?: string | null;
}

/** What the competition and dense styles compare. */
export interface RankedValues {
  score: number;
  columns: readonly number[];
}

interface TimedValues extends RankedValues {
  achievedAtMs: number;
}

/** Whether two entries share a rank in the competition and dense styles. */
export const sharesRank = (a: RankedValues, b: RankedValues): boolean =>
  a.score === b.score && a.columns.every((column, index) => column === b.columns[index]);

/** Whether two entries stand at one place: they share a rank, and were achieved at the same time. null: there is none. */
export function standsEqual(a: TimedValues | null, b: TimedValues | null): boolean {
  if (a === null || b === null) return a === b;
  return sharesRank(a, b) && a.achievedAtMs === b.achievedAtMs;
}

/** The 1-based ranks of the first entries of a list, in its order, beginning with its very first. */
export function ranksFromTop(entries: readonly RankedValues[], style: RankStyle): number[] {
  let rank = 0;
  return entries.map((entry, index) => {
    const above = entries[index - 1];
    const isTied = style !== 'ordinal' && above !== undefined && sharesRank(above, entry);
    if (!isTied) rank = style === 'dense' ? rank + 1 : index + 1;
    return rank;
  });
}

/** 100 × (total − rank) / max(1, total − 1): 100 for the first, 0 for the last of several. */
export function percentileOf(rank: number, total: number): number {
  return (100 * (total - rank)) / Math.max(1, total - 1);
}

/** The 1-based rank with the nearest percentile, the better one of two that are equally near; 1 for an empty list. */
export function rankAtPercentile(percentile: number, total: number): number {
  return Math.max(1, total - Math.round((percentile / 100) * (total - 1)));
}

export type RankAccuracy = 'exact' | 'estimated';

/** The rank in the answer to a submission. `delta` = before − after: positive when the player moved up. */
export interface RankMovement {
  before: number | null;
  after: number;
  delta: number | null;
  accuracy: RankAccuracy;
  errorBound: number;
  total: number;
  asOf: string;
}
