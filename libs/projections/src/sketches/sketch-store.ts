import type { ShardMarks } from '@laddercast/domain';
import type { ListRef } from '../ranks/snapshot-store.js';

/** What a sketch is of: a version of a list, in one of its generations. */
export interface SketchStamp {
  generation: number;
  listVersion: number;
  /** When the list was last known to have that version, Unix ms. */
  asOfMs: number;
}

export interface StoredSketch extends SketchStamp {
  shards: ShardMarks[];
  /** How many entries may be in none of the shards, or in two: they moved while the marks were read. Absent: 0. */
  doubt?: number;
}

/** Whether both are of the very same entries. */
export const isSameVersion = (a: SketchStamp, b: SketchStamp): boolean =>
  a.generation === b.generation && a.listVersion === b.listVersion;

/** Where sketches of lists are published, and every process finds them. A newer one is never replaced by an older. */
export abstract class SketchStore {
  /** Says that ranks of the lists are estimated: they are sketched until `untilMs` (Unix ms). May be repeated. */
  abstract markInUse(lists: readonly ListRef[], untilMs: number): Promise<void>;

  /** Lists whose use has not run out at `nowMs`, at most `limit`; those that have are forgotten. */
  abstract listsInUse(nowMs: number, limit: number): Promise<ListRef[]>;

  /** What is published of each list, null where nothing is. */
  abstract stamps(lists: readonly ListRef[]): Promise<(SketchStamp | null)[]>;

  abstract read(list: ListRef): Promise<StoredSketch | null>;

  /** @returns false when a newer one is there */
  abstract publish(list: ListRef, sketch: StoredSketch): Promise<boolean>;

  /**
   * Says that the sketch there is still that of the list.
   * @returns false when there is another, or none
   */
  abstract confirm(list: ListRef, stamp: SketchStamp): Promise<boolean>;
}
