import { InSchema, MayBeAbsent } from '@laddercast/commands';
import {
  diffRows,
  firstPlaces,
  LadderError,
  mergeChanges,
  PUSH_TOP_MAX,
  validationFailed,
  type Board,
  type RankedEntry,
  type RankStyle,
  type Tiebreak,
} from '@laddercast/domain';
import { toTimestamp } from '@laddercast/platform';
import { entriesInStyle, type RankDelta, type RankSnapshot } from '@laddercast/projections';
import { IsInt, Max, Min } from 'class-validator';
import type { LiveChannel, LiveSubscription } from '../connection/live-subscription.js';
import { ChannelMessage } from '../protocol/client-messages.js';
import { isSameWorth, worthOf, type FrameWorth } from '../protocol/frame-worth.js';
import { SharedFrame } from '../protocol/shared-frame.js';
import type { ChannelKind } from './channel-kind.js';

const LIMIT_DEFAULT = 10;

/** The possible lengths of a top channel; a `limit` is rounded up to one of them. */
const TOP_LIMITS = [10, 25, 50, 100] as const;

export class TopMessage extends ChannelMessage {
  @MayBeAbsent()
  @IsInt()
  @Min(1)
  @Max(PUSH_TOP_MAX)
  @InSchema({ description: 'Rounded up to 10, 25, 50 or 100' })
  limit?: number;

  override asked(): object {
    return {};
  }

  /** The requested length, by default ten or the board's `push.top` if that is less; rounded up. */
  override topLimit({ definition }: Board): number {
    const { limit } = this;
    const { top } = definition.push;
    if (limit !== undefined && limit > top) {
      const message = `must be at most ${top}, what this board pushes (push.top)`;
      throw validationFailed([{ pointer: '/limit', message }]);
    }
    const asked = limit ?? Math.min(LIMIT_DEFAULT, top);
    return TOP_LIMITS.find((rounded) => rounded >= asked) ?? asked;
  }
}

export const topChannel: ChannelKind = { message: TopMessage, description: 'The first places' };

/** Clients choose where they resume, so what is kept for that is bounded to some megabytes. */
const RESUMED_KEPT_MAX = 32;

/**
 * The first places of one list, at one limit, in one rank style. Each frame is made once, for any number of
 * subscribers.
 */
export class TopChannel implements LiveChannel {
  readonly subscribers = new Set<LiveSubscription>();
  private state: RankSnapshot;
  private rows: RankedEntry[];
  /** The `seq`, the total and its accuracy, as every subscriber has heard them. */
  private told: FrameHead;
  private frame: SharedFrame | null = null;
  private readonly resumed = new Map<number, SharedFrame>();

  /** @throws PROJECTION_BEHIND while the snapshot does not say the ranks of the style */
  constructor(
    private readonly limit: number,
    private readonly style: RankStyle,
    private readonly tiebreak: Tiebreak,
    snapshot: RankSnapshot,
  ) {
    const rows = firstRows(snapshot, limit, style);
    if (rows === null) throw ranksAreReadAnew();
    this.state = snapshot;
    this.rows = rows;
    this.told = snapshot;
  }

  get seq(): number {
    return this.state.seq;
  }

  snapshot(): SharedFrame {
    this.frame ??= snapshotFrame(this.state, this.style, this.tiebreak, this.rows);
    return this.frame;
  }

  /** The changes for a reader of ordinal ranks that stands at `seq`; the history leads from there to now. */
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
   * @returns the frame for the subscribers; null when the first rows, the total and its accuracy are unchanged
   */
  advance(snapshot: RankSnapshot, deltas: readonly RankDelta[] | null): SharedFrame | null {
    const rows = firstRows(snapshot, this.limit, this.style);
    // The next frame carries the changes of this one, too.
    if (rows === null) return null;
    const before = this.rows;
    this.state = snapshot;
    this.rows = rows;
    this.frame = null;
    this.resumed.clear();
    const previous = this.told;
    if (deltas === null) {
      this.told = snapshot;
      return this.snapshot();
    }
    const changes = this.style === 'ordinal' ? changesOf(deltas, snapshot, this.limit) : diffRows(before, rows);
    if (changes.length === 0 && snapshot.total === previous.total && isSameWorth(snapshot, previous)) return null;
    this.told = snapshot;
    return deltaFrame(snapshot, previous.seq, changes);
  }

  leave(subscription: LiveSubscription): void {
    this.subscribers.delete(subscription);
  }
}

/** Why a snapshot has no rows in a style. */
export const ranksAreReadAnew = (): LadderError =>
  new LadderError('PROJECTION_BEHIND', 'The ranks of this list are read anew; try again shortly.', {
    retryAfterSeconds: 1,
  });

const changesOf = (deltas: readonly RankDelta[], { entries }: RankSnapshot, limit: number) =>
  mergeChanges(
    deltas.map((delta) => delta.changes),
    entries,
    limit,
  );

/** The rows of the first places, with ranks in a style; null where the snapshot does not know those. */
export function firstRows(snapshot: RankSnapshot, limit: number, style: RankStyle): RankedEntry[] | null {
  const shown = firstPlaces(snapshot.entries, limit).length;
  return entriesInStyle(snapshot, style)?.slice(0, shown) ?? null;
}

/** The fields of a channel's state in every frame. */
interface FrameHead extends FrameWorth {
  seq: number;
  asOfMs: number;
  total: number;
}

/** A whole channel, as every channel sends it. */
export function snapshotFrame(
  now: FrameHead,
  rankStyle: RankStyle,
  tiebreak: Tiebreak,
  entries: readonly RankedEntry[],
): SharedFrame {
  const { seq, asOfMs, total } = now;
  const body = { seq, asOf: toTimestamp(asOfMs), total, ...worthOf(now), rankStyle, tiebreak, entries };
  return new SharedFrame('snapshot', body);
}

/** A numbered difference, as every channel sends it; see {@link SharedFrame} for `copiesMax`. */
export function deltaFrame(
  now: FrameHead,
  previousSeq: number,
  changes: readonly object[],
  copiesMax?: number,
): SharedFrame {
  const { seq, asOfMs, total } = now;
  const body = { seq, previousSeq, asOf: toTimestamp(asOfMs), total, ...worthOf(now), changes };
  return new SharedFrame('delta', body, copiesMax);
}

/** Sends a channel's frame to each of its subscribers. */
export function sendToAll(subscribers: Iterable<LiveSubscription>, frame: SharedFrame): void {
  for (const subscription of subscribers) {
    if (frame.type === 'delta') subscription.sendDelta(frame);
    else subscription.sendSnapshot(frame);
  }
}
