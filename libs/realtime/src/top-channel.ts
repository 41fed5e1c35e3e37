import { firstPlaces, mergeChanges } from '@laddercast/domain';
import { toTimestamp } from '@laddercast/platform';
import type { RankDelta, RankSnapshot } from '@laddercast/projections';
import type { LiveChannel, LiveSubscription } from './live-subscription.js';
import { SharedFrame } from './shared-frame.js';

/** The lengths of a top channel; a `limit` is rounded up to one of them. */
export const TOP_LIMITS = [10, 25, 50, 100] as const;

/** Clients choose where they resume: what is kept for that stays within some megabytes. */
const RESUMED_KEPT_MAX = 32;

/** The first places of one list, at one limit: everything it sends is made once, however many subscribe. */
export class TopChannel implements LiveChannel {
  readonly subscribers = new Set<LiveSubscription>();
  private state: RankSnapshot;
  /** The `seq` and total that every subscriber has heard of. */
  private told: { seq: number; total: number };
  private frame: SharedFrame | null = null;
  private readonly resumed = new Map<number, SharedFrame>();

  constructor(
    private readonly limit: number,
    snapshot: RankSnapshot,
  ) {
    this.state = snapshot;
    this.told = snapshot;
  }

  snapshot(): SharedFrame {
    const { seq, asOfMs, total, entries } = this.state;
    this.frame ??= new SharedFrame('snapshot', {
      seq,
      asOf: toTimestamp(asOfMs),
      total,
      entries: firstPlaces(entries, this.limit),
    });
    return this.frame;
  }

  /** What a reader that stands at `seq` must hear; the history leads from there to now. */
  deltaSince(seq: number, history: readonly RankDelta[]): SharedFrame {
    const known = this.resumed.get(seq);
    if (known) return known;
    const frame = deltaFrame(this.state, seq, changesOf(history, this.state, this.limit), 0);
    if (this.resumed.size < RESUMED_KEPT_MAX) this.resumed.set(seq, frame);
    return frame;
  }

  /**
   * Takes the list's new state.
   * @param deltas what led to it; null when the connection to the old one is lost
   * @returns what the subscribers must be sent, null when the first rows and the total are as they were
   */
  advance(snapshot: RankSnapshot, deltas: readonly RankDelta[] | null): SharedFrame | null {
    this.state = snapshot;
    this.frame = null;
    this.resumed.clear();
    const previous = this.told;
    if (deltas === null) {
      this.told = snapshot;
      return this.snapshot();
    }
    const changes = changesOf(deltas, snapshot, this.limit);
    if (changes.length === 0 && snapshot.total === previous.total) return null;
    this.told = snapshot;
    return deltaFrame(snapshot, previous.seq, changes);
  }

  leave(subscription: LiveSubscription): void {
    this.subscribers.delete(subscription);
  }
}

const changesOf = (deltas: readonly RankDelta[], { entries }: RankSnapshot, limit: number) =>
  mergeChanges(
    deltas.map((delta) => delta.changes),
    entries,
    limit,
  );

/** A numbered difference, as every channel sends it; see {@link SharedFrame} for `copiesMax`. */
export function deltaFrame(
  now: { seq: number; asOfMs: number; total: number },
  previousSeq: number,
  changes: readonly object[],
  copiesMax?: number,
): SharedFrame {
  const { seq, asOfMs, total } = now;
  return new SharedFrame('delta', { seq, previousSeq, asOf: toTimestamp(asOfMs), total, changes }, copiesMax);
}

/** Sends a channel's frame to each of its subscribers. */
export function sendToAll(subscribers: Iterable<LiveSubscription>, frame: SharedFrame): void {
  for (const subscription of subscribers) {
    if (frame.type === 'delta') subscription.sendDelta(frame);
    else subscription.sendSnapshot(frame);
  }
}
