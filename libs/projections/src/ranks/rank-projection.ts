import {
  denseNotKept,
  fillingOf,
  GLOBAL_SCOPE,
  GUILDS_SCOPE,
  isPatchScope,
  rankBoundariesOf,
  shardCountOf,
  taxOrderOf,
  versionsOf,
  type ShardMarks,
  type Board,
  type Layout,
  type ListOrdering,
  type ListVersions,
  type PatchOrder,
  type RankStyle,
  type SortKey,
  type StoredWindow,
  type TaxedFrom,
} from '@laddercast/domain';

/** One ranked list: a board's window in one scope, as one generation of shards keeps it. */
export interface RankList {
  boardUid: number;
  windowUid: number;
  /** The number of the scope; 0: everybody. */
  scope: number;
  ordering: ListOrdering;
  /** Of the filling that it is of: see `fillingOf`. */
  generation: number;
  /** Number of shards. */
  shards: number;
  /** Where one shard ends and the next begins, as scores of sort keys, ascending; null: shards are by player. */
  boundaries: readonly number[] | null;
  /** Whether distinct values are kept. */
  dense: boolean;
  /** How many hashes the index of each shard is cut into. */
  indexBuckets: number;
  versions: ListVersions;
  /** By which order of patches its scores are taxed, where they are. */
  tax?: PatchOrder;
  /** The standings that the list is read from, where it is not read from the projection. */
  edition?: number;
}

/** What is needed of a board to find its lists. */
export type BoardOfLists = Pick<Board, 'uid' | 'definition' | 'layouts' | 'patches'>;

/**
 * Index buckets of the lists beside that of everybody. There are many of them, and most are small: with 16 a guild of 20
 * takes 138 bytes a member (190 with 1024), one of 100 takes 83 (175), and a region of 200,000 players takes 145 (116).
 */
const INDEX_BUCKETS_OF_SCOPES = 16;

/** Where a board's list is kept. Only the list of everybody is sharded; that of guilds has no columns. */
export function rankListOf(
  board: BoardOfLists,
  windowUid: number,
  scope: number,
  layout: Layout = board.layouts.serving,
): RankList {
  const { order, operator, tiebreak, columns, decay } = board.definition;
  const isSharded = scope === GLOBAL_SCOPE;
  const isTaxed = decay !== null && !isPatchScope(scope);
  const { generation, versions } = fillingOf(layout, scope);
  return {
    boardUid: board.uid,
    windowUid,
    scope,
    ordering: {
      order,
      operator,
      tiebreak,
      columns: scope === GUILDS_SCOPE ? [] : columns,
      ...(isTaxed && { isTaxed }),
    },
    generation,
    shards: isSharded ? shardCountOf(layout.sharding) : 1,
    boundaries: isSharded ? rankBoundariesOf(layout.sharding, order) : null,
    dense: layout.dense,
    indexBuckets: isSharded ? layout.indexBuckets : INDEX_BUCKETS_OF_SCOPES,
    versions,
  };
}

/**
 * As {@link rankListOf}, with the versions that the window's list has, and its tax: what reads or answers them, writes
 * entries, or begins counters.
 */
export function listOfWindow(
  board: BoardOfLists,
  window: Pick<StoredWindow, 'uid' | 'startsAtMs' | 'endsAtMs'>,
  scope: number,
  layout: Layout = board.layouts.serving,
): RankList {
  const list = rankListOf(board, window.uid, scope, layout);
  const tax = board.definition.decay && taxOrderOf(board, layout, window);
  return { ...list, versions: versionsOf(list, window.startsAtMs), ...(tax && { tax }) };
}

/**
 * The ranks of the projection are in every style where each value lies in one shard that keeps its distinct values.
 * @throws RANK_STYLE_NOT_KEPT
 */
export function assertStyleKept({ dense, shards, boundaries }: RankList, style: RankStyle): void {
  if (style !== 'dense' || (dense && (shards === 1 || boundaries !== null))) return;
  throw denseNotKept();
}

/** A list of a first generation, by player, without distinct values. */
export const FIRST_GENERATION = {
  generation: 1,
  boundaries: null,
  dense: false,
  indexBuckets: 256,
  versions: { base: 0, floor: 0 },
} as const satisfies Partial<RankList>;

/** The newest state of one entry, or its removal; older versions than what is there change nothing. */
export interface ProjectedChange {
  /** The player's id, or the key of a run's entry. */
  playerId: string;
  version: number;
  /** null: removed. */
  key: SortKey | null;
}

/** An entry as the projection knows it. `rank` is 1-based, in the style that was asked for. */
export interface ProjectedEntry {
  rank: number;
  /** Of what reads by keys: the key, where each run is an entry. */
  playerId: string;
  /** The run, where each is an entry and the player is known apart from it. */
  entryId?: string;
  score: number;
  columns: number[];
  /** null where the board's tie-break keeps no time. */
  achievedAtMs: number | null;
  /** Of a taxed score: what it is made of. */
  taxedFrom?: TaxedFrom;
}

/** What every reading says of the list as it was read. */
export interface Reading {
  total: number;
  /** The sum of the shards' apply counters: it never falls. */
  listVersion: number;
  /** Absent: each entry was counted once, by its own shard, at a moment within the call. */
  accuracy?: 'estimated';
  /** How far off ranks and `total` can be, with `accuracy`. */
  errorBound?: number;
}

export interface PageReading extends Reading {
  entries: ProjectedEntry[];
}

export interface PlayerReading extends Reading {
  /** null when the player has no entry. */
  entry: (ProjectedEntry & { version: number }) | null;
  /** Up to `above` before and `below` after the entry, the entry included, best first. */
  neighbours: ProjectedEntry[];
  /** Where each run is an entry, all those of the player, the best first; `entry` is the first of them. */
  entries?: ProjectedEntry[];
}

/** A list seen through some of its entries. */
export interface MarksReading extends Reading {
  /** In the order of the shards. */
  shards: ShardMarks[];
}

/** The sort keys of players. */
export interface SortKeysReading {
  /** In the order asked, null where there is no entry. */
  keys: (SortKey | null)[];
  /** null where not every shard was read. */
  listVersion: number | null;
}

/** Where a new key stands now, and where the one before it would stand in the same reading; 1-based, ordinal. */
export interface PlacementReading extends Reading {
  before: number | null;
  after: number;
  /** The version of the player's entry in the projection, null when it has none. */
  version: number | null;
}

/**
 * What can be asked of a ranked list: of a running one the projection, of one that was kept its standings.
 * Every method throws PROJECTION_UNAVAILABLE (a LadderError) when the store cannot answer in time, and
 * RANK_STYLE_NOT_KEPT for a style that the list is not kept for.
 */
export abstract class RankReadings {
  /** `limit` entries from the 0-based `offset`; deep offsets cost O(log n) rounds, not O(offset). */
  abstract page(list: RankList, offset: number, limit: number, style: RankStyle): Promise<PageReading>;

  abstract player(
    list: RankList,
    playerId: string,
    above: number,
    below: number,
    style: RankStyle,
  ): Promise<PlayerReading>;

  /** Each player's entry in the order asked, null where there is none. */
  abstract lookup(
    list: RankList,
    playerIds: readonly string[],
    style: RankStyle,
  ): Promise<Reading & { entries: (ProjectedEntry | null)[] }>;

  /** The 1-based rank that an entry with this key would get; styles other than ordinal look at its score and columns. */
  abstract rankOfKey(list: RankList, key: SortKey, style: RankStyle): Promise<Reading & { rank: number }>;

  abstract total(list: RankList): Promise<Reading>;
}

/** One run of bringing back what the store has lost. */
export class RecoveryRun {
  /** For the store: lists that are prepared for it, or are being prepared. */
  readonly prepared = new Map<string, Promise<void>>();
}

/**
 * The ranks: sharded sorted lists, fed by the log and read by queries. What is called a player here is the key of an entry:
 * where each run is one, `keyOfEntry` of the run and its player.
 * Exact over any number of shards: each entry is counted once, by its own shard, at a moment within the call. Where
 * shards are by score and entries are moving between them, a reading says that it is estimated.
 */
export abstract class RankProjection extends RankReadings {
  /**
   * Applies changes of one shard, in one atomic step per chunk; repeating or reordering them changes nothing.
   * @param keepUntilMs when the list's keys may go (Unix ms); null for ever
   * @param recovery when lost changes are brought back, the run that does so: the list's version then begins anew, beyond
   * the lost one; whoever begins a run and fails has to run it once more
   * @returns how many were newer than what was there
   */
  abstract apply(
    list: RankList,
    shard: number,
    changes: ProjectedChange[],
    keepUntilMs: number | null,
    recovery?: RecoveryRun,
  ): Promise<number>;

  /**
   * Ranks of a player's key after and before a change, counted without the player's own entry in the projection;
   * `total` includes the player.
   */
  abstract placement(
    list: RankList,
    playerId: string,
    after: SortKey,
    before: SortKey | null,
  ): Promise<PlacementReading>;

  /**
   * The players' entries in the order asked, null where there is none: ordinal ranks, each with the version of the very
   * state that it is the rank of.
   */
  abstract lookupStates(
    list: RankList,
    playerIds: readonly string[],
  ): Promise<Reading & { states: ({ rank: number; version: number } | null)[] }>;

  /**
   * The list seen through about `marksMax` of its entries (at most twice as many, and the last of each shard), each shard
   * at one moment: see `RankSketch`. It costs as much as some thousand reads, so it is not for every request.
   */
  abstract readMarks(list: RankList, marksMax: number): Promise<MarksReading>;

  /** Where players' entries stand in the order: one look-up each, and no rank. */
  abstract sortKeys(list: RankList, playerIds: readonly string[]): Promise<SortKeysReading>;

  /** The projected version of a player's entry, null when it has none (a removal counts as a version). */
  abstract entryVersion(list: RankList, playerId: string): Promise<number | null>;

  /**
   * Numbers what may have lost writes: every new connection to the store, or another master, starts a session.
   * Changes are proven by a mark only when both were written in one session.
   */
  abstract session(): number;

  /** Puts the mark 0 (nothing is proven) on every master that has none for the lane. */
  abstract openMark(lane: number): Promise<void>;

  /**
   * Records on every master that each change of the lane up to `to` was written.
   * @param from what the mark must have reached: the position up to which the lane was committed before these changes
   * @param session the session in which the changes were applied
   * @throws PROJECTION_UNAVAILABLE when a mark is missing or behind `from`, or the session is over: changes may have
   * been lost, and recovery must look first
   */
  abstract advanceMark(lane: number, from: number, to: number, session: number): Promise<void>;

  /** Forgets a lane's mark: everything of the lane is applied again from PostgreSQL. */
  abstract dropMark(lane: number): Promise<void>;

  /** The lowest mark of a lane over all masters, null when one has none. */
  abstract readMark(lane: number): Promise<number | null>;

  /**
   * Leaves a word beside what was written in the session: whoever finds it later finds all that was written before it.
   * @returns whether it stands; not when the session is over, or where the store cannot prove that
   */
  async leaveProof(_name: string, _proof: string, _session: number): Promise<boolean> {
    return false;
  }

  /** The word that every part of the store has under the name; null when one has none, or another. */
  async findProof(_name: string): Promise<string | null> {
    return null;
  }

  /** Lets the list's keys live until `keepUntilMs` (Unix ms); never shortens their life. */
  abstract keep(list: RankList, keepUntilMs: number): Promise<void>;

  /**
   * Finishes moves of entries between the shards of a list that whoever began them has left for `olderThanMs`.
   * @param keepUntilMs see `apply`
   * @returns how many entries were left; a bounded number is looked at
   */
  async finishMoves(_list: RankList, _keepUntilMs: number | null, _olderThanMs: number): Promise<number> {
    return 0;
  }

  /**
   * Takes out entries that were removed already, where a part of the store has forgotten that and another has not: the
   * last step of bringing back lost changes. It may read the whole list.
   * @param keepUntilMs see `apply`
   * @returns how many there were
   */
  async removeStrays(_list: RankList, _keepUntilMs: number | null): Promise<number> {
    return 0;
  }

  /**
   * Ends a list of a generation that serves no more: for a day every reading of it throws PROJECTION_UNAVAILABLE, and no
   * apply changes it. What it holds stays, for those who read a checkpoint of it, until it is dropped.
   */
  abstract retire(list: RankList): Promise<void>;

  /** Whether somebody may still read a checkpoint of the list at `atMs` (Unix ms). */
  abstract hasOpenCheckpoints(list: RankList, atMs: number): Promise<boolean>;

  /** Removes every key of the list, in chunks; that it was retired stays known. */
  abstract drop(list: RankList): Promise<void>;
}
