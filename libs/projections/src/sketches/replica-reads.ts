import type { RankList, RankProjection, RankReadings } from '../ranks/rank-projection.js';
import type { SketchStore } from './sketch-store.js';

/** What may be read from a replica: what an answer goes back in, if it does, is of one of these kinds. */
export type ReplicaKind = 'page' | 'sketch' | 'key';

/** What a replica is asked for. */
export interface ReplicaStores {
  ranks: RankReadings & Pick<RankProjection, 'sortKeys'>;
  sketches: Pick<SketchStore, 'read' | 'stamps'>;
}

/**
 * Where that is read which says its own worth: pages by offset for who asks for it, sketches, and the sort keys that ranks are
 * estimated from. Exact answers, and those who waited for a version, are not asked here: theirs come from the master.
 */
export abstract class ReplicaReads {
  /**
   * Reads from the replica where that is whole and shows nothing older of the list than it did, nor older keys than were read from
   * the master; else, and where `near` finds nothing that is enough (null), from the master.
   * @param near is told as of when the replica shows the list at least, Unix ms
   */
  abstract read<T>(
    kind: ReplicaKind,
    list: RankList,
    near: (replica: ReplicaStores, asOfMs: number) => Promise<T | null>,
    far: () => Promise<T>,
  ): Promise<T>;

  /** Reads from the master for who waited for a version; whoever asks after that is shown nothing older in the kind. */
  abstract ofMaster<T>(kind: ReplicaKind, list: RankList, far: () => Promise<T>): Promise<T>;

  /** Follows the replica until {@link close}. One that is away is tried again for ever. */
  start(): void {
    return undefined;
  }

  async close(): Promise<void> {
    return undefined;
  }
}

/** Where there is none: everything is read from the master. */
export class NoReplica extends ReplicaReads {
  override read<T>(_kind: ReplicaKind, _list: RankList, _near: unknown, far: () => Promise<T>): Promise<T> {
    return far();
  }

  override ofMaster<T>(_kind: ReplicaKind, _list: RankList, far: () => Promise<T>): Promise<T> {
    return far();
  }
}
