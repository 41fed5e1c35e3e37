import type { RankAccuracy } from '@laddercast/domain';
import { Query } from '@nestjs/cqrs';
import type { ListEnvelope } from '../queries.js';
import type { PlayerReader } from '../shared/shown-player.js';

/** Which points of a history: from `fromMs` to before `toMs` (Unix ms; null: without bound). */
export interface HistoryRange {
  fromMs: number | null;
  toMs: number | null;
  limit: number;
  /** That of the page before; null: the first page. */
  cursor: string | null;
}

/** The last state of an entry in one stretch of time. */
export interface ShownHistoryPoint {
  /** When the entry came to be so. */
  at: string;
  /** null: the entry was removed. */
  score: number | null;
  columns: Record<string, number>;
  version: number;
  /**
   * Where the player stood when the point was written, ordinal, in the list of everybody: `exact` where that was this very
   * state at `asOf`, `estimated` where the list was behind or ahead. null: it could not be looked up in time.
   */
  rank: { rank: number; total: number; accuracy: RankAccuracy; errorBound: number | null; asOf: string } | null;
}

export interface PlayerHistory {
  board: string;
  window: ListEnvelope['window'];
  playerId: string;
  everyMinutes: number;
  /** The newest first. */
  points: ShownHistoryPoint[];
  /** The cursor of the page after this one, null where there is none. */
  next: string | null;
}

/** A player's score and rank over time; HISTORY_NOT_KEPT where the board records none. */
export class GetHistoryQuery extends Query<PlayerHistory> {
  constructor(
    readonly boardId: string,
    readonly windowName: string | undefined,
    readonly playerId: string,
    readonly range: HistoryRange,
    readonly reader: PlayerReader & { isAdmin: boolean },
  ) {
    super();
  }
}
