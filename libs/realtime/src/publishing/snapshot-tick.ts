import { isDeepStrictEqual } from 'node:util';
import { diffRows, LadderError } from '@laddercast/domain';
import { nowMs } from '@laddercast/platform';
import {
  sharedRanksOf,
  type ListRef,
  type RankDelta,
  type RankSnapshot,
  SnapshotStore,
  TraceNotes,
  type Announcement,
} from '@laddercast/projections';
import { styleToRead, EntryDetails, type ResolvedList } from '@laddercast/queries';
import { Inject, Injectable, Optional } from '@nestjs/common';
import { isSameWorth, worthOf } from '../protocol/frame-worth.js';
import { publishTraced, tracesInto, type TickTraces } from './tick-traces.js';

/** A snapshot as it is stored. */
export interface TickedSnapshot extends RankSnapshot {
  /** Names or metadata could not be looked up in time: the next tick, in any process, completes the rows. */
  isPartial?: true;
}

/** What a tick starts from. */
export interface TickState {
  /** The last snapshot that is known to be stored; null when none is, undefined when nobody looked yet. */
  last: TickedSnapshot | null | undefined;
  /** No lower `seq` is published, even if Redis has lost the snapshot. */
  seqFloor: number;
}

/** Options of a tick. */
export interface TickOptions {
  /** The rows are read although the list's version is that of the last snapshot: names may have changed. */
  readAnew?: boolean;
  /** The list is published even without a change, because its watched rows need a new number. */
  force?: boolean;
  /** Whether the list has to be read from elsewhere by now. */
  isHeld?: () => boolean;
}

/** One step of a list's history: reads the top, and publishes the difference to the last snapshot. */
@Injectable()
export class SnapshotTick {
  /** @param traceNotes where traced changes are noted; without it no trace continues to a delta */
  constructor(
    private readonly store: SnapshotStore,
    private readonly details: EntryDetails,
    @Optional() @Inject(TraceNotes) private readonly traceNotes: TraceNotes | null = null,
  ) {}

  /** Takes announcements of changed names and listings, which are remembered here; null: any may have changed. */
  hear(announcement: Announcement | null): void {
    this.details.hear(announcement);
  }

  /**
   * Publishes the list as it is, when its version, its length or where it is read from is not the last snapshot's, when
   * that one's rows were not complete, or as the options say. The page is always read after the snapshot that it is
   * compared with, and published by compare-and-set: a process that loses has published nothing, and continues from the
   * winner's snapshot.
   * @returns the newest snapshot in the store, this tick's own or another's
   * @throws PROJECTION_UNAVAILABLE, PROJECTION_BEHIND and whatever the store throws; nothing was published then, or the
   * next tick finds it
   */
  async run(resolved: ResolvedList, state: TickState, options: TickOptions = {}): Promise<TickedSnapshot> {
    const { readAnew = false, force = false, isHeld } = options;
    const ref = refOf(resolved);
    const last: TickedSnapshot | null = state.last === undefined ? await this.store.read(ref) : state.last;
    // This process would read something older than what was published, with a lower version: it will hear of the change
    // in a moment.
    if (last !== null && isOfLaterGeneration(last, resolved)) return last;
    if (last !== null && !readAnew && !force && isComplete(last, resolved)) {
      // Standings stay as they were written.
      if (resolved.edition !== null) return last;
      const { listVersion } = await resolved.ranks.total(resolved.list);
      if (listVersion === last.listVersion) return last;
    }
    const traces = await tracesInto(ref, this.traceNotes);
    const rows = await this.read(resolved);
    if (isHeld?.()) {
      const detail = 'The standings change over; try again shortly.';
      throw new LadderError('PROJECTION_BEHIND', detail, { retryAfterSeconds: 1 });
    }
    if (last !== null && !force && isSame(last, rows)) return last;
    const published = await this.publish(ref, last, nextSnapshot(last, rows, state.seqFloor), traces);
    if (published !== null) return published;
    const winner = await this.store.read(ref);
    if (winner !== null) return winner;
    // The snapshot was lost: the history begins anew, above every number there was.
    const floor = Math.max(state.seqFloor, last?.seq ?? 0);
    const first = await this.publish(ref, null, nextSnapshot(null, rows, floor));
    return first ?? this.stored(ref);
  }

  private async read(resolved: ResolvedList): Promise<ReadRows> {
    const asOfMs = nowMs();
    const page = await resolved.ranks.page(resolved.list, 0, resolved.board.definition.push.top, 'ordinal');
    const { entries, partial } = await this.details.completeOrPartial(resolved, page.entries, { areLasting: true });
    const { total, listVersion } = page;
    const {
      edition,
      list: { tax },
    } = resolved;
    const ownStyle = styleToRead(resolved, undefined);
    return {
      asOfMs,
      total,
      listVersion,
      depth: page.entries.length,
      ...(edition ? { edition: edition.uid } : generationOf(resolved)),
      ...worthOf(page),
      shared: sharedRanksOf(page.entries, entries),
      ...(ownStyle !== 'ordinal' && { ownStyle }),
      ...(tax && { taxOrder: tax.number }),
      entries,
      ...(partial && { isPartial: true }),
    };
  }

  private async publish(
    ref: ListRef,
    last: RankSnapshot | null,
    next: TickedSnapshot,
    traces: TickTraces | null = null,
  ): Promise<TickedSnapshot | null> {
    const { entries, isPartial: _isPartial, ...head } = next;
    // Readers without a style of their own now have other ranks: no difference leads there.
    // Under another tax everything moved.
    const isContinued = last !== null && last.ownStyle === next.ownStyle && last.taxOrder === next.taxOrder;
    const delta = isContinued ? { ...head, previousSeq: last.seq, changes: diffRows(last.entries, entries) } : null;
    const publish = (one: RankDelta | null): Promise<boolean> => this.store.publish(ref, last?.seq ?? null, next, one);
    const isWritten =
      delta !== null && traces !== null && this.traceNotes !== null
        ? await publishTraced(ref, delta, traces, this.traceNotes, publish)
        : await publish(delta);
    return isWritten ? next : null;
  }

  private async stored(ref: ListRef): Promise<TickedSnapshot> {
    const snapshot = await this.store.read(ref);
    if (snapshot === null) throw new Error('The snapshot store lost the list twice within one tick.');
    return snapshot;
  }
}

/** Names the list of a resolved request. */
export const refOf = ({ list: { boardUid, windowUid, scope } }: ResolvedList): ListRef => ({
  boardUid,
  windowUid,
  scope,
});

type ReadRows = Omit<TickedSnapshot, 'seq'>;

/** The first is left out, as in what an earlier release published. */
const generationOf = ({ list: { generation } }: ResolvedList): { generation?: number } =>
  generation > 1 ? { generation } : {};

/** Whether another process has heard already that the board is served from a later generation. */
const isOfLaterGeneration = ({ generation = 1 }: TickedSnapshot, { edition, list }: ResolvedList): boolean =>
  edition === null && generation > list.generation;

/** Whether the snapshot is complete for this version of the list, and read from where it is read now. */
const isComplete = (last: TickedSnapshot, { board, edition }: ResolvedList): boolean =>
  !last.isPartial &&
  !last.accuracy &&
  last.shared !== undefined &&
  last.edition === edition?.uid &&
  last.depth === Math.min(last.total, board.definition.push.top);

/** Whether nothing is new; what both lack may still be missing. */
const isSame = (last: TickedSnapshot, rows: ReadRows): boolean =>
  last.isPartial === rows.isPartial &&
  last.edition === rows.edition &&
  isSameWorth(last, rows) &&
  last.depth === rows.depth &&
  last.total === rows.total &&
  last.listVersion === rows.listVersion &&
  last.ownStyle === rows.ownStyle &&
  last.taxOrder === rows.taxOrder &&
  isDeepStrictEqual(last.shared, rows.shared) &&
  diffRows(last.entries, rows.entries).length === 0;

function nextSnapshot(last: RankSnapshot | null, rows: ReadRows, seqFloor: number): TickedSnapshot {
  return { seq: Math.max(last?.seq ?? 0, seqFloor, nowMs() - 1) + 1, ...rows };
}
