import type { RankedEntry, RankStyle } from '@laddercast/domain';
import { Query } from '@nestjs/cqrs';

/** What every list and rank answer carries. */
export interface ListEnvelope {
  board: string;
  window: { id: string; startsAt: string | null; endsAt: string | null; resetsAt: string | null };
  scope: 'global';
  total: number;
  boardVersion: number;
  asOf: string;
  rankStyle: RankStyle;
}

/** Which list is read, and how. */
export interface ListSelection {
  boardId: string;
  /** `daily`, `daily:2026-11-20`, or undefined for the board's default. */
  window?: string | undefined;
  /** undefined: the board's own. */
  rankStyle?: RankStyle | undefined;
  /** No answer older than this boardVersion. */
  minVersion?: number | undefined;
}

export interface EntriesPage extends ListEnvelope {
  entries: RankedEntry[];
  /** Paths of the pages before and after, null where there is none. */
  next: string | null;
  prev: string | null;
}

/** A page of a list, from a 0-based offset. */
export class GetEntriesQuery extends Query<EntriesPage> {
  constructor(
    readonly selection: ListSelection,
    readonly offset: number,
    readonly limit: number,
  ) {
    super();
  }
}

export interface PlayerRank extends ListEnvelope {
  entry: (RankedEntry & { percentile: number; accuracy: 'exact' }) | null;
  neighbours: RankedEntry[];
}

/** A player's rank with neighbours; without an entry ENTRY_NOT_FOUND, or the end of the list with `fallbackToLast`. */
export class GetPlayerQuery extends Query<PlayerRank> {
  constructor(
    readonly selection: ListSelection,
    readonly playerId: string,
    readonly above: number,
    readonly below: number,
    readonly fallbackToLast: boolean,
  ) {
    super();
  }
}

export interface RankOfScore extends ListEnvelope {
  rank: number;
  accuracy: 'exact';
}

/** The rank that a score nobody has submitted would get now. */
export class GetRankOfScoreQuery extends Query<RankOfScore> {
  constructor(
    readonly selection: ListSelection,
    readonly score: number,
  ) {
    super();
  }
}

export interface PlayersLookup extends ListEnvelope {
  entries: (RankedEntry | null)[];
}

/** Up to 500 players at once: in the order asked, or ranked among themselves. */
export class LookupPlayersQuery extends Query<PlayersLookup> {
  constructor(
    readonly selection: ListSelection,
    readonly playerIds: string[],
    readonly ranked: boolean,
  ) {
    super();
  }
}
