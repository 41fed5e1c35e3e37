import type { RankAccuracy, RankStyle, WindowKind } from '@laddercast/domain';
import { Query } from '@nestjs/cqrs';
import type { ListEnvelope } from '../queries.js';
import type { UnlistedShown } from '../shared/shown-player.js';

/** Where a player stands among everybody in one window of one board. */
export interface PlayerStanding {
  board: string;
  title: string | null;
  window: ListEnvelope['window'];
  rank: number;
  total: number;
  percentile: number;
  score: number;
  columns: Record<string, number>;
  /** null only while the database, which alone keeps it for tiebreak `none`, is away. */
  achievedAt: string | null;
  /** As in rows of lists. */
  verified?: boolean;
  proof?: string | null;
  /** On boards with decay. */
  rawScore?: number;
  patch?: string;
  patchesBehind?: number;
  rankStyle: RankStyle;
  accuracy: RankAccuracy;
  boardVersion: number;
  /** The moment that the standing is of, where the window is frozen. */
  frozenAt: string | null;
}

export interface StandingsPage {
  playerId: string;
  asOf: string;
  /** Where the player has an entry: by the boards' ids, of each its windows in the order of its definition. */
  standings: PlayerStanding[];
  /** Boards of this page that could not be read now: nothing is said of the player there. */
  unavailable: string[];
  /** The cursor of the page after this one, null where there is none. */
  next: string | null;
}

/** A player's standings over all boards, or those of a template, and running windows. @throws TEMPLATE_NOT_FOUND */
export class GetStandingsQuery extends Query<StandingsPage> {
  constructor(
    readonly playerId: string,
    readonly only: {
      /** undefined: windows of every kind. */
      windowKind?: WindowKind | undefined;
      /** undefined: boards of any template, and of none. */
      template?: string | undefined;
    },
    /** The most boards that the page is about; undefined with a template: all of its boards. */
    readonly limit: number | undefined,
    readonly cursor: string | undefined,
    readonly reader: {
      seesPrivateBoards: boolean;
      /** Players whom the reader sees although they are not listed. */
      unlistedShown: UnlistedShown;
    },
  ) {
    super();
  }
}
