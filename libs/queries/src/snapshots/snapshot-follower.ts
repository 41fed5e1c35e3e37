import { applyChanges } from '@laddercast/domain';
import type { ListRef, RankDelta, RankSnapshot, SnapshotStore } from '@laddercast/projections';

/** Where a follower of a list stands now, and how it came there. */
export interface SnapshotAdvance {
  snapshot: RankSnapshot;
  /** What led from the follower's snapshot to this one, oldest first; null when this is a fresh start instead. */
  deltas: RankDelta[] | null;
}

/** The snapshot after a delta that follows it. */
export function applyDelta(snapshot: RankSnapshot, delta: RankDelta): RankSnapshot {
  const { previousSeq: _previousSeq, traces: _traces, changes, ...head } = delta;
  return { ...head, entries: applyChanges(snapshot.entries, changes) };
}

/**
 * Brings a follower up to what was published last: by the deltas since, or by the whole snapshot where they do not
 * reach back. Nothing is published any more (Redis lost it): null, and the follower keeps what it has.
 */
export async function advanceSnapshot(
  store: SnapshotStore,
  list: ListRef,
  current: RankSnapshot | null,
): Promise<SnapshotAdvance | null> {
  if (current !== null) {
    const deltas = await store.deltasSince(list, current.seq);
    if (deltas !== null) return { snapshot: deltas.reduce(applyDelta, current), deltas };
  }
  const snapshot = await store.read(list);
  if (snapshot === null) return null;
  // A store that was set back to an older dump: what is known is newer, and the next tick continues above it.
  if (current !== null && snapshot.seq <= current.seq) return { snapshot: current, deltas: [] };
  return { snapshot, deltas: null };
}
