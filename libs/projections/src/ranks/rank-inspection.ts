import type { SortKey } from '@laddercast/domain';
import type { RankList } from './rank-projection.js';

/** What a list holds of a player. */
export interface HeldEntry {
  playerId: string;
  /** null: it knows nothing of the player. */
  version: number | null;
  /** null: there is no entry, or it was removed. */
  key: SortKey | null;
  /** Whether the entry stands in the order where its key says. */
  isStanding: boolean;
  /** A change of it is under way: what was read is of two moments. */
  isMoving: boolean;
  /** What the index says of the player, as the store keeps it. */
  seen: Buffer | null;
}

/** A place in the index of a list, where the next look goes on. */
export interface IndexPlace {
  shard: number;
  bucket: number;
  /** '0' at the beginning of a bucket. */
  scan: string;
}

/** How far a look at the shards of a list is, and what it put right. */
export interface ShardInspection {
  looked: number;
  repaired: number;
  /** Where the next look goes on; null at the end of the shard. */
  next: number | null;
}

/**
 * Looks into the lists of the projection as they are kept, to compare them with what they should hold, and puts right what
 * contradicts itself. Every method throws PROJECTION_UNAVAILABLE when the store does not answer, or has retired the list.
 */
export abstract class RankInspection {
  /** What the list holds of each player, in the order asked. */
  abstract held(list: RankList, playerIds: readonly string[]): Promise<HeldEntry[]>;

  /** Players whom the index of the list has an entry of, some hundred at a time, in no order; some may come twice. */
  abstract players(list: RankList, from: IndexPlace): Promise<{ playerIds: string[]; next: IndexPlace | null }>;

  /** A place in the index, chosen at random. */
  abstract somePlace(list: RankList): IndexPlace;

  /** How many entries a shard has. */
  abstract size(list: RankList, shard: number): Promise<number>;

  /** Takes entries out of the order that the index knows nothing of, among those from a 0-based index on. */
  abstract removeStrays(
    list: RankList,
    shard: number,
    from: number,
    keepUntilMs: number | null,
  ): Promise<ShardInspection>;

  /** Compares the distinct values with the entries, from a 0-based index on; nothing where they are not kept. */
  abstract restoreValues(list: RankList, shard: number, from: number): Promise<ShardInspection>;

  /**
   * Gives a shard its counter back where that is missing, or lower than it can be for lists made since `madeAtMs` (Unix ms).
   * @returns whether that was needed
   */
  abstract restoreCounter(
    list: RankList,
    shard: number,
    madeAtMs: number,
    keepUntilMs: number | null,
  ): Promise<boolean>;

  /**
   * Has the list know nothing of a player, unless it knows something newer than what was held: then any version may come.
   * It is certain only by looking once more: a change under the very next version may be lost with it.
   * @param comesBack whether an entry, or a removal, of the player is applied next: what is left of the old one is then
   * taken out by {@link removeStray}
   */
  abstract forget(list: RankList, held: HeldEntry, keepUntilMs: number | null, comesBack: boolean): Promise<void>;

  /** Takes out what was held of a player, where the index does not name it any more. */
  abstract removeStray(list: RankList, held: HeldEntry, keepUntilMs: number | null): Promise<void>;
}
