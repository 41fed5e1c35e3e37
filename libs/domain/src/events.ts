import type { SanctionKind } from './sanction.js';

/** Events as they stand in the outbox and the log. The page `topics.ts` of the event log lists where each travels. */

/** A run as its patch's list ranks it: never taxed. */
export interface PatchRun {
  /** The number of the patch as which it counts. */
  patch: number;
  score: number;
  columns: number[];
  /** Unix ms. */
  achievedAtMs: number;
}

/** The whole new state of one entry in one window, or its removal. */
export interface EntryChange {
  windowUid: number;
  /** The run whose entry it is, where each run is one; absent: the entry is the only one of the event's player. */
  entryId?: string;
  /** When the window's keys may go from the projection, Unix ms; null for windows without end. */
  keepUntilMs: number | null;
  /** null: the entry was removed (a tombstone, versioned like any change). */
  entry: { score: number; columns: number[]; achievedAtMs: number } | null;
  /** The numbers of the scopes that rank the entry, beside that of everybody; absent: none. */
  scopes?: number[];
  /** The scopes that this event takes it out of; absent: none. */
  leftScopes?: number[];
  /** On boards with decay: the runs of which the tax of each generation of lists makes the entry. */
  runs?: PatchRun[];
}

/** One ledger write changed a player's entries on one board; `version` is the event's own log position. */
export interface EntryChanged {
  type: 'entry-changed';
  boardUid: number;
  /** Whose entries these are: a player's, or a guild's with `isGuild`. Empty in a barrier. */
  playerId: string;
  version: number;
  /** Empty in a barrier. */
  changes: EntryChange[];
  /** The entries stand in the list of guilds. */
  isGuild?: true;
  /**
   * A barrier, written once in every lane: from here on this generation of the board's lists holds everything that was
   * there when it was opened. It travels with the entries, so a consumer that has passed it has applied all entries
   * before it.
   */
  filledGeneration?: number;
  /**
   * W3C trace context of the submission, if that is traced. It stands last in the JSON, so the relay can find it
   * without parsing the rest.
   */
  traceparent?: string;
}

/** A board was created, redefined, reset or deleted, or its windows changed; written once in every lane. */
export interface BoardChanged {
  type: 'board-changed';
  boardUid: number;
  /** null: this uid is gone for ever (deleted or reset). */
  boardId: string | null;
  /** Of a board that is gone: the id that it had, where it is known. */
  formerId?: string;
  revision: number;
}

/**
 * What is shown of a player or guild beside its numbers changed: it was renamed, listed or unlisted, or a run of the player
 * was verified or taken out.
 */
export interface PlayerChanged {
  type: 'player-changed';
  playerId: string;
  isGuild?: true;
}

/** A sanction of a player was put, replaced or lifted: how it is shown to others is looked up anew. */
export interface SanctionChanged {
  type: 'sanction-changed';
  playerId: string;
  /** What is in force now; null: nothing. */
  sanction: { kind: SanctionKind; boards: readonly string[] | null; untilMs: number | null } | null;
}

/** A window's final standings are written: nothing enters it any more. */
export interface WindowClosed {
  type: 'window-closed';
  boardUid: number;
  windowUid: number;
  windowId: string;
  /** The one version of the final standings: this event's own log position. */
  version: number;
}

/** Acts changed the standings of a window, which are an edition of their own from now on. */
export interface StandingsRevised {
  type: 'standings-revised';
  boardUid: number;
  windowUid: number;
  windowId: string;
  /** The number of the edition: the first one, of which `window-closed` tells, is 1. */
  edition: number;
  /** Of the edition: this event's own log position. */
  version: number;
  /** The standings that everybody sees from a freeze on, of a window that has not ended; absent: the final ones. */
  isFrozen?: true;
}

/**
 * Games of a pool were recorded: its ratings are behind. It carries no game, since whoever rates them reads them from
 * PostgreSQL, all that are not rated yet.
 */
export interface GameRecorded {
  type: 'game-recorded';
  poolUid: number;
  /** Of the last of these games. */
  position: number;
}

/** A player's rating after the games of a pool that were rated together. */
export interface RatingChanged {
  type: 'rating-changed';
  poolUid: number;
  playerId: string;
  /** Up to which the pool is rated with it. */
  ratedPosition: number;
  /** When the games were played that changed it, each time once; absent: any time. */
  playedAtMs?: number[];
  /** In all windows entries come or go: the player is rankable since these games, or no more. */
  isEverywhere?: true;
  /** Windows whose end and grace are over, by number: once all up to this event is on their boards, they may close. */
  lastFeedOf?: number[];
  /** The whole new state. */
  rating: {
    state: {
      rating: number;
      deviation: number | null;
      volatility: number | null;
      memory: Readonly<Record<string, number>>;
    };
    games: number;
    wins: number;
    draws: number;
    losses: number;
    peak: { rating: number; atMs: number; gameId: string } | null;
    lastPlayedAtMs: number | null;
    /** Of the last game that changed it. */
    position: number;
  };
}

/**
 * A run was accepted on a board that has runs examined: the whole run, as it was then. It comes once more when the run was
 * held and counts now.
 */
export interface RunRecorded {
  type: 'run-recorded';
  boardUid: number;
  playerId: string;
  /** Its place in the order of acceptance. */
  position: number;
  submissionId: string;
  /** `set`: a total of a sum board. Acts of operators and of limits are not recorded here. */
  kind: 'run' | 'set';
  /** Whether it waits for a moderator. */
  held: boolean;
  score: number;
  /** In the board's order. */
  columns: number[];
  achievedAtMs: number;
  acceptedAtMs: number;
  windowUids: number[];
  /** JSON text. */
  metadata: string | null;
  proof: string | null;
  verified: boolean;
  sourceId: string | null;
  /** On boards with decay: the number of the patch as which it counts. */
  patch?: number;
}

/** A flag was raised: something is suspicious, and waits for a moderator. */
export interface FlagRaised {
  type: 'flag-raised';
  flagId: string;
  /** `jump`, `rate`, `cluster`, `held`, or the name of a team's rule or check. */
  rule: string;
  severity: 'low' | 'medium' | 'high';
  boardUid: number;
  /** null: it is about several players. */
  playerId: string | null;
  summary: string;
}

export type LadderEvent =
  | EntryChanged
  | BoardChanged
  | PlayerChanged
  | SanctionChanged
  | WindowClosed
  | StandingsRevised
  | GameRecorded
  | RatingChanged
  | RunRecorded
  | FlagRaised;
export type LadderEventType = LadderEvent['type'];
