import { diffRows, LadderError, type RankedEntry } from '@laddercast/domain';
import { nowMs, toTimestamp } from '@laddercast/platform';
import type { PlayerReading, RankProjection } from '@laddercast/projections';
import type { EntryDetails, ResolvedList } from '@laddercast/queries';
import type { LiveChannel, LiveSubscription } from './live-subscription.js';
import { RateLimitedLog } from './rate-limited-log.js';
import { SharedFrame } from './shared-frame.js';
import { deltaFrame, sendToAll } from './top-channel.js';

const READS_AT_ONCE = 128;
/** Rows whose details are asked for at once. */
const DETAILS_AT_ONCE = 500;

/** What is left of a process's watched players. */
export class WatchBudget {
  constructor(private left: number) {}

  /** @throws SUBSCRIPTION_LIMIT when as many players are watched as can be kept exact */
  take(): void {
    if (this.left === 0) {
      const detail =
        'This gateway watches as many players as it can keep exact; ask for the top, or connect to another.';
      throw new LadderError('SUBSCRIPTION_LIMIT', detail);
    }
    this.left -= 1;
  }

  give(): void {
    this.left += 1;
  }
}

/** A player and the rows around, as last read. */
interface PlayerRows {
  seq: number;
  asOfMs: number;
  total: number;
  entries: RankedEntry[];
}

class PlayerChannel implements LiveChannel {
  readonly subscribers = new Set<LiveSubscription>();
  /** Joins that wait for the first reading. */
  joining = 0;
  opened: Promise<void> | null = null;
  private toldSeq = 0;
  private frame: SharedFrame | null = null;
  private rows: PlayerRows | null = null;

  constructor(
    readonly key: string,
    readonly playerId: string,
    readonly around: number,
    private readonly onLeave: (channel: PlayerChannel) => void,
  ) {}

  /** The tick that the rows belong to; null before the first reading. */
  get seq(): number | null {
    return this.rows?.seq ?? null;
  }

  snapshot(): SharedFrame {
    const { seq, asOfMs, total, entries } = this.rows!;
    this.frame ??= new SharedFrame('snapshot', { seq, asOf: toTimestamp(asOfMs), total, entries });
    return this.frame;
  }

  /** Takes a new reading, and sends what is different. */
  advance(rows: PlayerRows): void {
    const before = this.rows;
    this.rows = rows;
    this.frame = null;
    if (before === null) {
      this.toldSeq = rows.seq;
      return;
    }
    const changes = diffRows(before.entries, rows.entries);
    if (changes.length === 0 && rows.total === before.total) return;
    const frame = deltaFrame(rows, this.toldSeq, changes);
    this.toldSeq = rows.seq;
    sendToAll(this.subscribers, frame);
  }

  leave(subscription: LiveSubscription): void {
    this.subscribers.delete(subscription);
    this.onLeave(this);
  }
}

/** The watched players of one list: read anew on every tick, each once, however many subscribe. */
export class WatchedPlayers {
  private readonly channels = new Map<string, PlayerChannel>();
  private readonly failures = new RateLimitedLog(WatchedPlayers.name);
  private refreshing: Promise<void> | null = null;
  private refreshAgain = false;

  /** @param seq the list's newest tick, as the feed knows it */
  constructor(
    private readonly list: () => ResolvedList,
    private readonly seq: () => number,
    private readonly projection: RankProjection,
    private readonly details: EntryDetails,
    private readonly budget: WatchBudget,
  ) {}

  /**
   * Serves a subscription: its snapshot first, then what changes.
   * @param isWanted whether the subscriber is still there once the first reading is done
   * @throws SUBSCRIPTION_LIMIT, PROJECTION_UNAVAILABLE
   */
  async join(subscription: LiveSubscription, playerId: string, around: number, isWanted: () => boolean): Promise<void> {
    const channel = this.channelOf(playerId, around);
    channel.joining += 1;
    try {
      channel.opened ??= this.read([channel]);
      await channel.opened;
      if (!isWanted()) return;
      channel.subscribers.add(subscription);
      subscription.channel = channel;
      subscription.sendSnapshot(channel.snapshot());
    } finally {
      channel.joining -= 1;
      if (channel.seq === null) channel.opened = null;
      this.dropUnused(channel);
    }
    // A tick that came during the first reading passed this player by.
    if (channel.seq !== this.seq()) void this.refresh();
  }

  *subscribers(): Iterable<LiveSubscription> {
    for (const channel of this.channels.values()) yield* channel.subscribers;
  }

  /** Reads every player whose rows are older than the newest tick; a call during a reading makes one more. */
  refresh(): Promise<void> {
    this.refreshAgain = true;
    this.refreshing ??= this.refreshUntilQuiet().finally(() => (this.refreshing = null));
    return this.refreshing;
  }

  private channelOf(playerId: string, around: number): PlayerChannel {
    const key = `${around}:${playerId}`;
    const known = this.channels.get(key);
    if (known) return known;
    this.budget.take();
    const channel = new PlayerChannel(key, playerId, around, (left) => this.dropUnused(left));
    this.channels.set(key, channel);
    return channel;
  }

  private dropUnused(channel: PlayerChannel): void {
    if (channel.subscribers.size > 0 || channel.joining > 0) return;
    if (this.channels.get(channel.key) !== channel) return;
    this.channels.delete(channel.key);
    this.budget.give();
  }

  private async refreshUntilQuiet(): Promise<void> {
    while (this.refreshAgain) {
      this.refreshAgain = false;
      const seq = this.seq();
      const behind = [...this.channels.values()].filter((channel) => channel.seq !== null && channel.seq < seq);
      try {
        await this.read(behind);
      } catch (error) {
        // Those that were not read stay behind, and the next tick or poll reads them.
        this.failures.warn('Watched players cannot be read', error);
      }
    }
  }

  private async read(channels: readonly PlayerChannel[]): Promise<void> {
    for (let start = 0; start < channels.length; start += READS_AT_ONCE) {
      await this.readSome(channels.slice(start, start + READS_AT_ONCE));
    }
  }

  private async readSome(channels: readonly PlayerChannel[]): Promise<void> {
    const resolved = this.list();
    // Asked before the reading: what comes later than this tick belongs to the next.
    const seq = this.seq();
    const asOfMs = nowMs();
    const readings = await Promise.all(
      channels.map(({ playerId, around }) =>
        this.projection.player(resolved.list, playerId, around, around, 'ordinal'),
      ),
    );
    const rows = await this.complete(resolved, readings);
    for (const [index, channel] of channels.entries()) {
      // Two states under one number could not be told apart.
      if (channel.seq !== null && channel.seq >= seq) continue;
      channel.advance({ seq, asOfMs, total: readings[index]!.total, entries: rows[index]! });
    }
  }

  private async complete(resolved: ResolvedList, readings: readonly PlayerReading[]): Promise<RankedEntry[][]> {
    const flat = readings.flatMap((reading) => reading.neighbours);
    const completed: RankedEntry[] = [];
    for (let start = 0; start < flat.length; start += DETAILS_AT_ONCE) {
      completed.push(...(await this.details.complete(resolved, flat.slice(start, start + DETAILS_AT_ONCE))));
    }
    let next = 0;
    return readings.map(({ neighbours }) => completed.slice(next, (next += neighbours.length)));
  }
}
