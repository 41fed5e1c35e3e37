import { isTracing, nowMs, startSpan, traced } from '@laddercast/platform';
import type { ListRef, RankDelta, TraceNote, TraceNotes } from '@laddercast/projections';

/** The traces of changes that one tick may publish. */
export interface TickTraces {
  startedAtMs: number;
  notes: readonly TraceNote[];
}

/** To be called before the list is read; null when no traced change is on its way. */
export async function tracesInto(list: ListRef, source: TraceNotes | null): Promise<TickTraces | null> {
  if (source === null || !isTracing()) return null;
  const startedAtMs = nowMs();
  const notes = await source.waiting(list).catch(() => []);
  return notes.length > 0 ? { startedAtMs, notes } : null;
}

/**
 * Publishes a delta inside the traces of the changes that it shows, and passes their context on in it.
 * @param publish says whether it was written
 */
export async function publishTraced(
  list: ListRef,
  delta: RankDelta,
  { startedAtMs, notes }: TickTraces,
  source: TraceNotes,
  publish: (delta: RankDelta) => Promise<boolean>,
): Promise<boolean> {
  const shown = new Set(delta.changes.map(({ playerId }) => playerId));
  const reached = notes.filter(({ playerId }) => shown.has(playerId));
  const parents = reached.map(({ traceparent }) => traceparent);
  const attributes = { 'laddercast.seq': delta.seq, 'laddercast.changes': delta.changes.length };
  const tick = startSpan('snapshot tick', { parents, startMs: startedAtMs, attributes });
  if (tick === null) return publish(delta);
  try {
    const isWritten = await tick.around(() =>
      traced('delta published', {}, (span) => publish({ ...delta, traces: [...(span ?? tick).traceparents] })),
    );
    if (isWritten) await source.forget(list, reached).catch(() => undefined);
    return isWritten;
  } finally {
    tick.end();
  }
}
