import { diffRows, type RankedEntry } from '@laddercast/domain';
import { nowMs } from '@laddercast/platform';
import type { ListRef, PageReading, RankProjection, RankSnapshot, SnapshotStore } from '@laddercast/projections';
import type { EntryDetails, ResolvedList } from '@laddercast/queries';

/** What a tick starts from. */
export interface TickState {
  /** The last snapshot that is known to be stored; null when none is, undefined when nobody looked yet. */
  last: RankSnapshot | null | undefined;
  /** No lower `seq` is published, even when Redis forgot what there was. */
  seqFloor: number;
}

/** One step of a list's history: reads the top, and publishes what changed since the snapshot before. */
export class SnapshotTick {
  constructor(
    private readonly projection: RankProjection,
    private readonly store: SnapshotStore,
    private readonly details: EntryDetails,
  ) {}

  /**
   * Publishes the list as it is, when its version is another than the last snapshot's (or `force` is set).
   * The page is always read after the snapshot that it is compared with, and published by compare-and-set:
   * whoever loses has published nothing, and goes on from the winner's snapshot.
   * @returns the newest snapshot in the store, this tick's own or another's
   * @throws PROJECTION_UNAVAILABLE and whatever the store throws; nothing was published then, or the next tick finds it
   */
  async run(resolved: ResolvedList, state: TickState, { force = false } = {}): Promise<RankSnapshot> {
    const ref = refOf(resolved);
    const last = state.last === undefined ? await this.store.read(ref) : state.last;
    if (last !== null && !force) {
      const { listVersion } = await this.projection.total(resolved.list);
      if (listVersion === last.listVersion) return last;
    }
    const asOfMs = nowMs();
    const page = await this.projection.page(resolved.list, 0, resolved.board.definition.push.top, 'ordinal');
    const entries = await this.details.complete(resolved, page.entries);
    const published = await this.publish(ref, last, nextSnapshot(last, page, entries, asOfMs, state.seqFloor));
    if (published !== null) return published;
    const winner = await this.store.read(ref);
    if (winner !== null) return winner;
    // Not another owner but a loss: the history begins anew, above every number there was.
    const floor = Math.max(state.seqFloor, last?.seq ?? 0);
    const first = await this.publish(ref, null, nextSnapshot(null, page, entries, asOfMs, floor));
    return first ?? this.stored(ref);
  }

  private async publish(ref: ListRef, last: RankSnapshot | null, next: RankSnapshot): Promise<RankSnapshot | null> {
    const { entries, ...head } = next;
    const delta = last === null ? null : { ...head, previousSeq: last.seq, changes: diffRows(last.entries, entries) };
    return (await this.store.publish(ref, last?.seq ?? null, next, delta)) ? next : null;
  }

  private async stored(ref: ListRef): Promise<RankSnapshot> {
    const snapshot = await this.store.read(ref);
    if (snapshot === null) throw new Error('The snapshot store lost the list twice within one tick.');
    return snapshot;
  }
}

/** Names the list of a resolved request. */
export const refOf = ({ list }: ResolvedList): ListRef => ({ boardUid: list.boardUid, windowUid: list.windowUid });

function nextSnapshot(
  last: RankSnapshot | null,
  page: PageReading,
  entries: RankedEntry[],
  asOfMs: number,
  seqFloor: number,
): RankSnapshot {
  const seq = Math.max(last?.seq ?? 0, seqFloor, nowMs() - 1) + 1;
  return { seq, asOfMs, total: page.total, listVersion: page.listVersion, entries };
}
