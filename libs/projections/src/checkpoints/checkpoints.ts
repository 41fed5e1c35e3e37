import { LadderError, type RankStyle, type SortKey } from '@laddercast/domain';
import type { ProjectedEntry, RankList, Reading } from '../ranks/rank-projection.js';

/** Which checkpoint of a list is meant; what a reader carries from page to page. */
export interface CheckpointName {
  id: string;
  /** 0-based, below {@link CHECKPOINT_SLOTS}. */
  slot: number;
  /** The version of the list as of the checkpoint: proof that every shard still shows what it showed then. */
  listVersion: number;
}

/** A list as it was at one moment: each shard when the checkpoint was opened there. */
export interface Checkpoint extends CheckpointName, Reading {
  openedAtMs: number;
  /** It can be read until then (Unix ms), unless too much changes before. */
  closesAtMs: number;
}

/** Where a page stands: beside a row, which is not on it. */
export interface CheckpointPlace {
  /** The row: by its sort key, or by its 0-based index; null: before the first. */
  beside: SortKey | number | null;
  direction: 'after' | 'before';
  /** The dense rank of the row; wanted for pages with dense ranks only, and there of every row. */
  denseRank: number | null;
}

export interface CheckpointPage {
  checkpoint: Checkpoint;
  /** 0-based, of the first entry. */
  index: number;
  entries: ProjectedEntry[];
  /** The entries' sort keys, in the same order. */
  keys: SortKey[];
}

/**
 * Running lists that hold still for who reads them page by page, without a copy: while a checkpoint is open, what
 * changes is saved as it was. A checkpoint is of one generation, and is read from the shards of that one.
 *
 * All methods throw PROJECTION_UNAVAILABLE (a LadderError) when the store cannot answer in time; all but {@link open}
 * throw CURSOR_EXPIRED when some shard does not have the checkpoint any more.
 */
export abstract class Checkpoints {
  /**
   * Opens a checkpoint of the list as it is now. Who asks within 10 s of an opening shares it; where as many are open as
   * may be, the newest is shared, which can be as old as a checkpoint gets.
   * @param isShared false: only one that is opened now will do, as long as there is room for it, or one that nobody has
   * opened or read for a minute: the oldest of these is replaced
   */
  abstract open(list: RankList, isShared?: boolean): Promise<Checkpoint>;

  /** Up to `limit` entries from the place on, best first, with exact ranks in the style. */
  abstract page(
    list: RankList,
    name: CheckpointName,
    place: CheckpointPlace,
    limit: number,
    style: RankStyle,
  ): Promise<CheckpointPage>;

  /**
   * `limit` entries with the first that is not before `at` (a sort key, or a 0-based index) in their middle, as far as
   * the list reaches on both sides.
   * @returns null when too much has changed since the opening to count dense ranks
   */
  abstract around(
    list: RankList,
    name: CheckpointName,
    at: SortKey | number,
    limit: number,
    style: RankStyle,
  ): Promise<CheckpointPage | null>;

  /** Where a player's entry stood, null when it had none. */
  abstract keyOf(list: RankList, name: CheckpointName, playerId: string): Promise<SortKey | null>;
}

/** What a reader is told whose checkpoint, or whose standings, are there no more. */
export const cursorExpired = (): LadderError =>
  new LadderError(
    'CURSOR_EXPIRED',
    'The list is not kept as this cursor shows it any more; begin again with cursor=start.',
  );
