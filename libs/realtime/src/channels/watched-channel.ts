import {
  diffRows,
  LadderError,
  type RankedEntry,
  type RankStyle,
  type RowChange,
  type Tiebreak,
} from '@laddercast/domain';
import { isSameWorth, type FrameWorth } from '../protocol/frame-worth.js';
import type { LiveChannel, LiveSubscription } from '../connection/live-subscription.js';
import type { SharedFrame } from '../protocol/shared-frame.js';
import { deltaFrame, sendToAll, snapshotFrame } from './top-channel.js';
import { beforeLoss } from './before-loss.js';

/** The rows of one channel, as read. */
export interface RowsReading extends FrameWorth {
  total: number;
  /** Best first. */
  entries: RankedEntry[];
  /** Players among them without a row, because they are not listed. */
  hidden: ReadonlySet<string>;
  /** The moment that the rows are of, Unix ms, if that is not the moment at which they were read. */
  asOfMs?: number;
}

/** How a channel shows its rows. */
export interface StyledWatch {
  style: RankStyle;
  /** Whether they show the faces of their players. */
  withPlayers: boolean;
}

/** Rows with the number under which they are told. */
interface NumberedRows extends RowsReading {
  seq: number;
  asOfMs: number;
}

/** One watched stretch of a list, for all who watch it in one process. A number stands for one state of the rows, everywhere. */
export class WatchedChannel<Watch extends StyledWatch> implements LiveChannel {
  readonly subscribers = new Set<LiveSubscription>();
  /** Joins that wait for the first reading. */
  joining = 0;
  opened: Promise<void> | null = null;
  /** The tick after which the rows were read last; null before the first reading. */
  tick: number | null = null;
  private frame: SharedFrame | null = null;
  private rows: NumberedRows | null = null;
  /** From here on every subscriber has heard what changed. */
  private toldSeq = 0;
  /** When its rows were last known to be those of the list, Unix ms. */
  private inStepAtMs = 0;

  constructor(
    readonly key: string,
    readonly watch: Watch,
    /** In whose name it is watched: who asked first. */
    readonly party: string | null,
    private readonly tiebreak: Tiebreak,
    private readonly onLeave: (channel: WatchedChannel<Watch>) => void,
  ) {}

  /** Of its rows; 0 before the first reading. */
  get seq(): number {
    return this.rows?.seq ?? 0;
  }

  get isEstimated(): boolean {
    return this.rows?.accuracy === 'estimated';
  }

  snapshot(): SharedFrame {
    this.frame ??= snapshotFrame(this.rows!, this.watch.style, this.tiebreak, this.rows!.entries);
    return this.frame;
  }

  /** See {@link beforeLoss}. */
  async beforeLoss(reading: RowsReading | LadderError): Promise<void> {
    if (this.rows !== null && !(reading instanceof LadderError)) await beforeLoss(this.subscribers, this.rows, reading);
  }

  /** How a reading differs from the rows as they were told; null: in nothing. */
  newsOf(reading: RowsReading): RowChange[] | null {
    const { rows } = this;
    if (rows === null) return [];
    const changes = diffRows(rows.entries, reading.entries);
    return changes.length === 0 && reading.total === rows.total && isSameWorth(reading, rows) ? null : changes;
  }

  /**
   * Takes a reading that was made after a tick, and sends what is new.
   * @param news what {@link newsOf} said of it; null: the rows keep their number
   */
  advance(reading: NumberedRows, tick: number, news: readonly RowChange[] | null): void {
    const before = this.rows;
    this.tick = tick;
    this.inStepAtMs = Math.max(this.inStepAtMs, reading.asOfMs);
    if (before !== null && news === null) {
      this.rows = { ...before, hidden: reading.hidden };
      return;
    }
    const { toldSeq } = this;
    this.rows = reading;
    this.toldSeq = reading.seq;
    this.frame = null;
    if (before !== null) sendToAll(this.subscribers, deltaFrame(reading, toldSeq, news!));
  }

  /** As its list; as long as its rows are of a tick before, and cannot be read anew, as of when they were last in step. */
  knownAsOfMs({ seq, asOfMs }: { seq: number; asOfMs: number }): number {
    if (this.tick !== null && this.tick >= seq) this.inStepAtMs = Math.max(this.inStepAtMs, asOfMs);
    return Math.min(this.inStepAtMs, asOfMs);
  }

  /** Gives the rows another number, for a reader who has heard greater ones. */
  renumber(seq: number): void {
    if (seq <= this.seq) return;
    this.rows = { ...this.rows!, seq };
    this.frame = null;
  }

  /** Whether a change of one of these players can show. */
  mayShow(playerIds: ReadonlySet<string>): boolean {
    return (
      this.rows !== null &&
      ([...this.rows.hidden].some((playerId) => playerIds.has(playerId)) ||
        this.rows.entries.some(({ playerId }) => playerIds.has(playerId)))
    );
  }

  leave(subscription: LiveSubscription): void {
    this.subscribers.delete(subscription);
    this.onLeave(this);
  }
}
