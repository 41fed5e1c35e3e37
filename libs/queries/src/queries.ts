import type { Readable } from 'node:stream';
import type { PlayerFace, RankAccuracy, RankedEntry, RankStyle, SanctionKind, WindowKind } from '@laddercast/domain';
import type { FriendLists, Guild, StoredPlayer } from '@laddercast/ledger';
import { Query } from '@nestjs/cqrs';
import type { ListNames } from './lists/list-resolver.js';
import type { ServedTax } from './lists/served-tax.js';
import type { UnlistedShown } from './shared/shown-player.js';
import type { Accuracy } from './lists/rank-estimates.js';

/** Some players who are ranked among themselves: a player with those it is friends with or follows, or a named circle. */
export type CircleName = { kind: 'friends' | 'follows'; playerId: string } | { kind: 'circle'; circleId: string };

/** What every list and rank answer carries. */
export interface ListEnvelope {
  board: string;
  window: {
    id: string;
    startsAt: string | null;
    endsAt: string | null;
    resetsAt: string | null;
    /** Of an ended window whose final standings are written: the number of those that the answer is of. */
    edition?: number;
    /** Whether acts are decided that the newest edition does not show yet. */
    revising?: boolean;
  };
  /** `global`, `region:EU`; `guilds` where the entries are guilds. */
  scope: string;
  total: number;
  /** Where each run is an entry, as of a minute ago at most; null: not known. */
  players?: number | null;
  boardVersion: number;
  asOf: string;
  rankStyle: RankStyle;
  /** Estimated while entries move between the shards of the list; `errorBound` says by how much it can be off. */
  accuracy: RankAccuracy;
  errorBound?: number;
  /** On boards with decay: the tax of its scores. */
  decay?: ServedTax;
}

/** Which list is read, and how. */
export interface ListSelection extends ListNames {
  /** undefined: the board's own. */
  rankStyle?: RankStyle | undefined;
  /** No answer older than this boardVersion. */
  minVersion?: number | undefined;
  /** Whether rows show the faces of their players; rows of guilds never do. */
  withPlayers?: boolean | undefined;
  /** Whether a page by offset may be read from a replica, and is of a moment ago then. */
  fromReplica?: boolean | undefined;
  /** The player whose token reads. */
  readerId?: string | undefined;
}

export interface EntriesPage extends ListEnvelope {
  entries: RankedEntry[];
  /** Paths of the pages before and after, null where there is none. */
  next: string | null;
  prev: string | null;
  /** Only of pages that hold still: until when, at the latest; null: as long as the standings are kept. */
  cursorExpiresAt?: string | null;
}

/** What is to stand in the middle of a page. */
export type EntriesAround =
  | { rank: number }
  /** The first entry that is not better. */
  | { score: number }
  | { playerId: string; unlistedShown: UnlistedShown };

/** A page of a list as it is now, with a place in its middle; a player without entry is ENTRY_NOT_FOUND. */
export class GetEntriesAroundQuery extends Query<EntriesPage> {
  constructor(
    readonly selection: ListSelection,
    readonly around: EntriesAround,
    readonly limit: number,
  ) {
    super();
  }
}

/** The first page of a list that holds still: the best, or those around a place. */
export class OpenEntriesQuery extends Query<EntriesPage> {
  constructor(
    readonly selection: ListSelection,
    readonly around: EntriesAround | null,
    readonly limit: number,
  ) {
    super();
  }
}

/**
 * A further page of a list that holds still; CURSOR_EXPIRED when it is not kept any more, VALIDATION_FAILED for a cursor
 * that no page of the list gave.
 */
export class ReadCursorQuery extends Query<EntriesPage> {
  constructor(
    /** Of the list what the cursor says, too, or nothing. */
    readonly selection: ListSelection,
    readonly cursor: string,
    readonly limit: number,
  ) {
    super();
  }
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

/** A run that is kept of a player, with its score under the tax that is shown. */
export interface RunOfPatch {
  score: number;
  rawScore: number;
  patch: string;
  patchesBehind: number;
  columns: Record<string, number>;
  achievedAt: string;
  metadata: unknown;
}

export interface PlayerRank extends ListEnvelope {
  entry: (RankedEntry & { percentile: number } & Accuracy) | null;
  /** Where each run is an entry: all those of the player, the best first. */
  entries?: RankedEntry[];
  neighbours: RankedEntry[];
  /** On boards with decay, where they are asked for: the runs that stand or can stand again, the standing one first. */
  runs?: RunOfPatch[];
  /** For moderators alone, where there is one. */
  sanction?: ShownSanction;
}

/** What an answer says of the sanction of the player that was asked for. */
export interface ShownSanction {
  kind: SanctionKind;
  until: string | null;
  publicReason: string | null;
}

/** A player's rank with neighbours, of which estimated ranks have none; without an entry ENTRY_NOT_FOUND, or the end of the list with `fallbackToLast`. */
export class GetPlayerQuery extends Query<PlayerRank> {
  constructor(
    readonly selection: ListSelection,
    readonly playerId: string,
    readonly above: number,
    readonly below: number,
    readonly fallbackToLast: boolean,
    /** Players whom the reader sees although they are not listed. */
    readonly unlistedShown: UnlistedShown,
    /** `estimated`: counted all the same where there is no sketch. */
    readonly accuracy: RankAccuracy = 'exact',
    /** On boards with decay: with the player's runs. */
    readonly withRuns = false,
  ) {
    super();
  }
}

export type RankOfScore = ListEnvelope & { rank: number };

/** The rank that a score nobody has submitted would get now; COLUMNS_MISMATCH for columns that the board does not have. */
export class GetRankOfScoreQuery extends Query<RankOfScore> {
  constructor(
    readonly selection: ListSelection,
    readonly score: number,
    /** Extra columns by name; those left out are taken as the worst there are. */
    readonly columns: Readonly<Record<string, number>>,
    /** As with {@link GetPlayerQuery}. */
    readonly accuracy: RankAccuracy = 'exact',
    /** On boards with decay: of which patch the run is; absent: the score is taken as a taxed one. */
    readonly patch?: string,
  ) {
    super();
  }
}

/** An entry near a percentile: `errorBound` says how many ranks its own is from `rank` at most. */
export interface Percentile {
  percentile: number;
  /** The rank that is nearest to the percentile; null where there are no entries. */
  rank: number | null;
  score: number | null;
  errorBound: number;
}

export interface Percentiles extends ListEnvelope {
  accuracy: RankAccuracy;
  /** In the order asked. */
  percentiles: Percentile[];
}

/** The scores at some percentiles (0-100), by ordinal ranks. */
export class GetPercentilesQuery extends Query<Percentiles> {
  constructor(
    readonly selection: ListSelection,
    readonly at: readonly number[],
    /** As with {@link GetPlayerQuery}. */
    readonly accuracy: RankAccuracy,
  ) {
    super();
  }
}

/** Ranges of scores for the shards of a board, from how its entries are spread. */
export interface BoundariesProposal {
  board: string;
  window: string;
  total: number;
  /** What the board's definition would say. */
  sharding: { by: 'range'; boundaries: number[] };
  /** How many entries each shard would hold, the best first. */
  entries: number[];
  /** Whether there are fewer shards than were asked for, because equal scores lie in one. */
  isLimitedByTies: boolean;
}

/** Boundaries for a number of shards, by equal frequencies; BOUNDARIES_IMPOSSIBLE where all scores are equal. */
export class ProposeBoundariesQuery extends Query<BoundariesProposal> {
  constructor(
    readonly boardId: string,
    readonly window: string | undefined,
    readonly shards: number,
  ) {
    super();
  }
}

export interface PlayersLookup extends ListEnvelope {
  accuracy: RankAccuracy;
  /** Estimated ranks say how far off each is at most. */
  entries: ((RankedEntry & { errorBound?: number }) | null)[];
}

/** Up to 500 players at once: in the order asked, or ranked among themselves. */
export class LookupPlayersQuery extends Query<PlayersLookup> {
  constructor(
    readonly selection: ListSelection,
    readonly playerIds: string[],
    readonly ranked: boolean,
    /** Players whom the reader sees although they are not listed. */
    readonly unlistedShown: UnlistedShown,
    /** As with {@link GetPlayerQuery}. */
    readonly accuracy: RankAccuracy = 'exact',
  ) {
    super();
  }
}

/** A row of a circle's board: `rank` is among the circle, `globalRank` in the list it was found in. */
export type CircleRow = RankedEntry & { globalRank: number };

/** Of a circle's board `total` counts the players who have an entry. */
export interface CirclePage extends ListEnvelope {
  /** How many players the circle has, with or without an entry; of friends and follows the player is one of them. */
  members: number;
  entries: CircleRow[];
  /** Paths of the pages before and after, null where there is none. */
  next: string | null;
  prev: string | null;
}

/** Some players ranked among themselves, from a 0-based offset. */
export class GetCircleQuery extends Query<CirclePage> {
  constructor(
    readonly selection: ListSelection,
    readonly circle: CircleName,
    readonly offset: number,
    readonly limit: number,
    /** Who reads: shown to itself also where it is not listed. */
    readonly readerId: string | null,
  ) {
    super();
  }
}

/** A player's friends and the requests that are open, each in the order of the ids' bytes. */
export class GetFriendsQuery extends Query<FriendLists> {
  constructor(readonly playerId: string) {
    super();
  }
}

/** Whom a player follows, in the order of the ids' bytes. */
export class GetFollowsQuery extends Query<string[]> {
  constructor(readonly playerId: string) {
    super();
  }
}

/** Who is in a named circle, in the order of the ids' bytes. */
export class GetCircleMembersQuery extends Query<string[]> {
  constructor(
    readonly circleId: string,
    /** The player who reads, to whom others are shown only where they are listed; null: everyone is shown. */
    readonly readerId: string | null,
  ) {
    super();
  }
}

/** What is known of a player; PLAYER_NOT_FOUND for one who is not listed, unless the reader sees those too. */
export class GetPlayerProfileQuery extends Query<StoredPlayer> {
  constructor(
    readonly playerId: string,
    readonly seesUnlisted: boolean,
    /** Whether it is the player itself, or a moderator: others do not see who is sanctioned on all boards. */
    readonly seesSanctioned: boolean,
  ) {
    super();
  }
}

export class GetGuildQuery extends Query<Guild> {
  constructor(
    readonly guildId: string,
    /** null: a key. */
    readonly readerId: string | null,
  ) {
    super();
  }
}

export interface GuildMembersPage {
  guildId: string;
  members: { playerId: string; displayName: string | null; player?: PlayerFace; joinedAt: string }[];
  /** The cursor of the page after this one, null where there is none. */
  next: string | null;
}

/** A guild's members in the order of the ids' bytes, after a given one. */
export class GetGuildMembersQuery extends Query<GuildMembersPage> {
  constructor(
    readonly guildId: string,
    readonly limit: number,
    readonly after: string,
    /** Everybody sees those who are listed, players themselves, too; `key`, with the scope read, sees everyone. */
    readonly reader: 'key' | { playerId: string | null },
    /** Whether each comes with its face. */
    readonly withPlayers = false,
  ) {
    super();
  }
}

/** `ended`: its standings are not written yet, and late runs may still enter; `settled`: they are. */
export const LISTED_WINDOW_STATES = ['running', 'upcoming', 'ended', 'settled'] as const;
export type ListedWindowState = (typeof LISTED_WINDOW_STATES)[number];

export interface ListedWindow {
  id: string;
  kind: WindowKind;
  state: ListedWindowState;
  startsAt: string | null;
  endsAt: string | null;
  resetsAt: string | null;
  freezeAt: string | null;
  /** Whether everyone but admins sees it as it stood at `freezeAt`. */
  isFrozen: boolean;
  /** Of the final standings; null while, or when, there are none. */
  version: number | null;
  entries: number | null;
}

export interface WindowsPage {
  board: string;
  windows: ListedWindow[];
  /** The cursor of the page after this one, null where there is none. */
  next: string | null;
}

/** A board's windows: running, to come, ended; VALIDATION_FAILED for a cursor that no page gave. */
export class GetWindowsQuery extends Query<WindowsPage> {
  constructor(
    readonly boardId: string,
    readonly limit: number,
    readonly cursor: string | undefined,
    /** undefined: of all states. */
    readonly state: ListedWindowState | undefined,
    /** The player whose token reads. */
    readonly readerId: string | undefined,
  ) {
    super();
  }
}

/** An edition of a window's final standings. */
export interface ShownEdition {
  /** 1 for the first. */
  edition: number;
  /** When it was written. */
  at: string;
  /** Why its acts were done; null for the first, and for whoever may not see it. */
  reason: string | null;
  /** The records of its acts in the audit log; none for the first, and for whoever may not see them. */
  acts: number[];
}

export interface EditionsPage {
  board: string;
  window: ListEnvelope['window'];
  /** The newest first. */
  editions: ShownEdition[];
  next: string | null;
}

/** The editions of an ended window's final standings. */
export class GetEditionsQuery extends Query<EditionsPage> {
  constructor(
    readonly boardId: string,
    readonly windowName: string,
    readonly limit: number,
    /** Only editions before this one. */
    readonly before: number | null,
    /** Whether the reader may see why, and by which acts. */
    readonly seesActs: boolean,
  ) {
    super();
  }
}

export const EXPORT_FORMATS = ['csv', 'ndjson'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

/** What guards those who open a file: `formulas`, text that a spreadsheet would take for one. */
export const EXPORT_GUARDS = ['formulas'] as const;
export type ExportGuard = (typeof EXPORT_GUARDS)[number];

/** A whole list as a file. */
export interface WindowExport {
  fileName: string;
  mediaType: string;
  /** Whether it may have a row that only its reader has. */
  isOwn: boolean;
  /**
   * Begins to read the rows; destroying the stream, or aborting, ends that. What fails with the first of them is thrown,
   * what fails later destroys the stream.
   * @throws OVERLOADED while this process writes as many exports as it may
   */
  open(signal: AbortSignal): Promise<Readable>;
}

/** A whole list, row by row; nothing is read until it is opened. */
export class ExportWindowQuery extends Query<WindowExport> {
  constructor(
    readonly selection: ListSelection,
    readonly format: ExportFormat,
    /** Those without identity are written to one at a time. */
    readonly isAnonymous = false,
    /** Of CSV. */
    readonly guard?: ExportGuard,
  ) {
    super();
  }
}
