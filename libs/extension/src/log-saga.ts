import type { SanctionKind } from '@laddercast/domain';

/** One entry of a player or guild as it is now, in one window. */
export interface EntryNews {
  /** `alltime`, `daily:2026-11-20`, `season:spring`. */
  window: string;
  /** The run whose entry it is, where each run is one; absent: the entry is the only one of the player in the window. */
  entryId?: string;
  /** null: there is none any more. `columns` by name; `achievedAt` in RFC 3339. */
  entry: { score: number; columns: Record<string, number>; achievedAt: string } | null;
}

/** Whose it is: a player's, or a guild's. */
export type PlayerOrGuild = { playerId: string; guildId?: never } | { guildId: string; playerId?: never };

/** What each topic tells a {@link LogSaga}: in ids that people chose, and never in numbers of ours. */
export interface SagaNews {
  /** Entries changed: each comes whole, so the one with the greatest `position` is how it is. */
  'entry-changed': { board: string; entries: EntryNews[] } & PlayerOrGuild;
  /** A name, a listing, or an act on a run: what is shown of somebody is another. */
  'player-changed': PlayerOrGuild;
  /** What is in force against a player now; `until` null: until it is lifted. `boards` null: all of them. */
  'sanction-changed': {
    playerId: string;
    sanction: { kind: SanctionKind; boards: readonly string[] | null; until: string | null } | null;
  };
  /**
   * A board was made, redefined, or is gone: deleted, or reset, and then it comes once more as it is after the reset. Once in
   * every lane. What has a smaller `position` than a board that is gone was about that one, in whatever lane it comes.
   */
  'board-changed': { board: string; gone: boolean };
  /** The final standings of a window are written. */
  'window-closed': { board: string; window: string };
  /** Acts changed standings that were written; `frozen`: those that are shown from a freeze to the end. */
  'standings-revised': { board: string; window: string; edition: number; frozen: boolean };
  /** A pool has games that are not rated yet. */
  'game-recorded': { pool: string };
  /** The whole new rating of a player. Times in RFC 3339. */
  'rating-changed': {
    pool: string;
    playerId: string;
    rating: number;
    deviation: number | null;
    volatility: number | null;
    games: number;
    wins: number;
    draws: number;
    losses: number;
    peak: { rating: number; at: string; gameId: string } | null;
    lastPlayedAt: string | null;
  };
  /** A run was accepted on a board with `integrity`; once more when it was held and counts now. */
  'run-recorded': {
    board: string;
    playerId: string;
    submissionId: string;
    held: boolean;
    score: number;
    columns: Record<string, number>;
    /** Those that it counts in. */
    windows: string[];
    achievedAt: string;
    acceptedAt: string;
    metadata: Record<string, unknown> | null;
    proof: string | null;
    verified: boolean;
    sourceId: string | null;
  };
  /** A flag waits for a moderator; `playerId` null: it is about several players. */
  'flag-raised': {
    flagId: string;
    rule: string;
    severity: 'low' | 'medium' | 'high';
    board: string;
    playerId: string | null;
    summary: string;
  };
}

export type SagaTopic = keyof SagaNews;

/** An event as a {@link LogSaga} gets it: `topic` says which. */
export type SagaEvent<Topic extends SagaTopic = SagaTopic> = {
  [T in Topic]: {
    topic: T;
    /**
     * Its place in the order of all that was written: greater is later, also across lanes and logs. The same event always has
     * the same.
     */
    position: number;
    /** RFC 3339, by the database's clock. */
    writtenAt: string;
  } & SagaNews[T];
}[Topic];

/** Events of one lane, in order: what is about one player is in one lane. */
export interface SagaBatch<Topic extends SagaTopic = SagaTopic> {
  lane: number;
  /** Another text: the log is another, and comes from its beginning. Positions go on as they were. */
  incarnation: string;
  /** 1-1,000. */
  events: readonly SagaEvent<Topic>[];
}

/**
 * A consumer group of a team: events of the log in, work of its own out. Default: none.
 *
 * When {@link handle} resolves, the offset is committed: every event comes at least once. First deliveries of a lane come in
 * order, and a redelivery may come after newer events. So the work must change nothing the second time: keep the `position`
 * with what it wrote, and skip what is not greater.
 * A failure that can pass (`isRetriable`, or `retriable: true` on the error) has the batch come again, for ever, with growing
 * waits. Otherwise the batch is halved until the event that fails by itself is found; that one is parked in `dead_letters` of
 * the group, and the lane goes on.
 *
 * Events of boards, windows and pools that are gone when they are read are left out.
 */
export abstract class LogSaga<Topic extends SagaTopic = SagaTopic> {
  /** 1-64 of `a-z`, `0-9`, `.`, `_`, `-`, for good: its offsets are kept under it. Begin with the team's name. */
  abstract readonly group: string;
  abstract readonly topics: readonly Topic[];

  abstract handle(batch: SagaBatch<Topic>): Promise<void>;
}
