/** A row of a list or channel, as clients see it. `rank` is 1-based. */
export interface RankedEntry {
  rank: number;
  playerId: string;
  displayName: string | null;
  score: number;
  columns: Record<string, number>;
  /** RFC 3339 UTC with milliseconds; null only while the database, which alone keeps it for tiebreak `none`, is away. */
  achievedAt: string | null;
  metadata: unknown;
  /**
   * How many places the player has moved up since the day began (negative: down), on boards that ask for it; null where
   * nobody can say. Rows of live channels do not carry it.
   */
  change?: number | null;
}

/** 100 × (total − rank) / max(1, total − 1): 100 for the first, 0 for the last of several. */
export function percentileOf(rank: number, total: number): number {
  return (100 * (total - rank)) / Math.max(1, total - 1);
}

export type RankAccuracy = 'exact' | 'estimated';

/** What a submission's answer says of its rank. `delta` = before − after: positive when the player moved up. */
export interface RankMovement {
  before: number | null;
  after: number;
  delta: number | null;
  accuracy: RankAccuracy;
  errorBound: number;
  total: number;
  asOf: string;
}
