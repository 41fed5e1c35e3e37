import { diffRows } from '@laddercast/domain';
import { nowMs } from '@laddercast/platform';
import type { ListRef, RankProjection, RankSnapshot, SnapshotStore } from '@laddercast/projections';
import type { EntryDetails, ResolvedList } from '@laddercast/queries';

/** A snapshot as it is stored. */
export interface TickedSnapshot extends RankSnapshot {
  /** Names or metadata could not be looked up in time: the next tick, by whichever process, completes the rows. */
  isPartial?: true;
}

/** What a tick starts from. */
export interface TickState {
  /** The last snapshot that is known to be stored; null when none is, undefined when nobody looked yet. */
  last: TickedSnapshot | null | undefined;
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
   * Publishes the list as it is, when its version or length is another than the last snapshot's, when that one's rows
   * were not complete, or when `force` is set.
   * The page is always read after the snapshot that it is compared with, and published by compare-and-set:
   * whoever loses has published nothing, and goes on from the winner's snapshot.
   * @returns the newest snapshot in the store, this tick's own or another's
   * @throws PROJECTION_UNAVAILABLE and whatever the store throws; nothing was published then, or the next tick finds it
   */
  async run(resolved: ResolvedList, state: TickState, { force = false } = {}): Promise<TickedSnapshot> {
    const ref = refOf(resolved);
    const last: TickedSnapshot | null = state.last === undefined ? await this.store.read(ref) : state.last;
    if (last !== null && !force && isComplete(last, resolved)) {
      const { listVersion } = await this.projection.total(resolved.list);
      if (listVersion === last.listVersion) return last;
    }
    const rows = await this.read(resolved);
    if (last !== null && !force && isStillPartial(last, rows)) return last;
    const published = await this.publish(ref, last, nextSnapshot(last, rows, state.seqFloor));
    if (published !== null) return published;
    const winner = await this.store.read(ref);
    if (winner !== null) return winner;
    // Not another owner but a loss: the history begins anew, above every number there was.
    const floor = Math.max(state.seqFloor, last?.seq ?? 0);
    const first = await this.publish(ref, null, nextSnapshot(null, rows, floor));
    return first ?? this.stored(ref);
  }

  private async read(resolved: ResolvedList): Promise<ReadRows> {
    const asOfMs = nowMs();
    const page = await this.projection.page(resolved.list, 0, resolved.board.definition.push.top, 'ordinal');
    const { entries, partial } = await this.details.completeOrPartial(resolved, page.entries);
    const { total, listVersion } = page;
    return { asOfMs, total, listVersion, entries, ...(partial && { isPartial: true }) };
  }

  private async publish(ref: ListRef, last: RankSnapshot | null, next: TickedSnapshot): Promise<TickedSnapshot | null> {
    const { entries, isPartial: _isPartial, ...head } = next;
    const delta = last === null ? null : { ...head, previousSeq: last.seq, changes: diffRows(last.entries, entries) };
    return (await this.store.publish(ref, last?.seq ?? null, next, delta)) ? next : null;
  }

  private async stored(ref: ListRef): Promise<TickedSnapshot> {
    const snapshot = await this.store.read(ref);
    if (snapshot === null) throw new Error('The snapshot store lost the list twice within one tick.');
    return snapshot;
  }
}

/** Names the list of a resolved request. */
export const refOf = ({ list }: ResolvedList): ListRef => ({ boardUid: list.boardUid, windowUid: list.windowUid });

type ReadRows = Omit<TickedSnapshot, 'seq'>;

/** Whether the snapshot shows all that it should of the list's version: `push.top` may have changed since. */
const isComplete = (last: TickedSnapshot, { board }: ResolvedList): boolean =>
  !last.isPartial && last.entries.length === Math.min(last.total, board.definition.push.top);

/** Whether what was missing is missing still, and nothing else is new. */
const isStillPartial = (last: TickedSnapshot, rows: ReadRows): boolean =>
  last.isPartial === true &&
  rows.isPartial === true &&
  last.listVersion === rows.listVersion &&
  diffRows(last.entries, rows.entries).length === 0;

function nextSnapshot(last: RankSnapshot | null, rows: ReadRows, seqFloor: number): TickedSnapshot {
  return { seq: Math.max(last?.seq ?? 0, seqFloor, nowMs() - 1) + 1, ...rows };
}
