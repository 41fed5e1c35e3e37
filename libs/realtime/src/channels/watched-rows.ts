import { diffRows, LadderError, type RankedEntry, type RankStyle } from '@laddercast/domain';
import { nowMs } from '@laddercast/platform';
import type { ResolvedList } from '@laddercast/queries';
import { isSameWorth, type FrameWorth } from '../protocol/frame-worth.js';
import type { LiveChannel, LiveSubscription } from '../connection/live-subscription.js';
import { RateLimitedLog } from '../rate-limited-log.js';
import type { SharedFrame } from '../protocol/shared-frame.js';
import { deltaFrame, sendToAll, snapshotFrame } from './top-channel.js';
import type { WatchBudget } from './watch-budget.js';
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

/** What keys of channels begin with: who asks for it in another way is served by another channel. */
export const viewOf = ({ style, withPlayers }: StyledWatch): string => (withPlayers ? `${style}+player` : style);

/** How the rows of one kind of channel are read. */
export interface RowsReader<Watch> {
  /** How many channels are read at once. */
  readonly atOnce: number;

  /** Who asks for the same is served by the same channel. */
  keyOf(watch: Watch): string;

  /** The rows of each watch, or why nobody may see them (any more). */
  read(resolved: ResolvedList, watches: readonly Watch[]): Promise<(RowsReading | LadderError)[]>;

  /** Called before a channel is read for the first time, in the name of a party. @throws SUBSCRIPTION_LIMIT */
  open?(watch: Watch, party: string | null): Promise<void>;

  /** Called when a channel ends, whether it was opened or not. */
  close?(watch: Watch): void;

  /** Looks whether the rows changed for another reason than the list, such as members of circles. */
  lookAgain?(): Promise<boolean>;

  /**
   * Of rows that are read from a sketch: whether there is a newer one, and no tick to come that would have them read again.
   * @param listVersion of the last tick
   */
  isBehind?(resolved: ResolvedList, listVersion: number): Promise<boolean>;
}

/** The list whose rows are watched, as its feed knows it. */
export interface WatchedList {
  readonly resolved: ResolvedList;
  /** The newest tick. */
  readonly seq: number;
  /** Whether the list must be resolved anew before it is read. */
  readonly isHeld: boolean;
}

class WatchedChannel<Watch extends StyledWatch> implements LiveChannel {
  readonly subscribers = new Set<LiveSubscription>();
  /** Joins that wait for the first reading. */
  joining = 0;
  opened: Promise<void> | null = null;
  private toldSeq = 0;
  private frame: SharedFrame | null = null;
  private rows: (RowsReading & { seq: number; asOfMs: number }) | null = null;

  constructor(
    readonly key: string,
    readonly watch: Watch,
    /** In whose name it is watched: who asked first. */
    readonly party: string | null,
    private readonly onLeave: (channel: WatchedChannel<Watch>) => void,
  ) {}

  /** The tick that the rows belong to; null before the first reading. */
  get seq(): number | null {
    return this.rows?.seq ?? null;
  }

  get isEstimated(): boolean {
    return this.rows?.accuracy === 'estimated';
  }

  snapshot(): SharedFrame {
    this.frame ??= snapshotFrame(this.rows!, this.watch.style, this.rows!.entries);
    return this.frame;
  }

  /** See {@link beforeLoss}. */
  async beforeLoss(reading: RowsReading | LadderError): Promise<void> {
    if (this.rows !== null && !(reading instanceof LadderError)) await beforeLoss(this.subscribers, this.rows, reading);
  }

  /** Takes a new reading, and sends the difference. */
  advance(rows: RowsReading, seq: number, asOfMs: number): void {
    const before = this.rows;
    this.rows = { asOfMs, ...rows, seq };
    this.frame = null;
    if (before === null) {
      this.toldSeq = seq;
      return;
    }
    const changes = diffRows(before.entries, rows.entries);
    if (changes.length === 0 && rows.total === before.total && isSameWorth(rows, before)) return;
    const frame = deltaFrame(this.rows, this.toldSeq, changes);
    this.toldSeq = seq;
    sendToAll(this.subscribers, frame);
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

/** The watched channels of one kind of one list: each is read once on every tick, for any number of subscribers. */
export class WatchedRows<Watch extends StyledWatch> {
  private readonly channels = new Map<string, WatchedChannel<Watch>>();
  private readonly failures = new RateLimitedLog(WatchedRows.name);
  private refreshing: Promise<void> | null = null;
  private refreshAgain = false;

  constructor(
    private readonly list: WatchedList,
    private readonly reader: RowsReader<Watch>,
    private readonly budget: WatchBudget,
  ) {}

  /**
   * Serves a subscription: its snapshot first, then what changes.
   * @param isWanted whether the subscriber is still there once the first reading is done
   * @throws SUBSCRIPTION_LIMIT, PROJECTION_UNAVAILABLE, PROJECTION_BEHIND, and why the rows may not be seen
   */
  async join(subscription: LiveSubscription, watch: Watch, isWanted: () => boolean): Promise<void> {
    const channel = this.channelOf(watch, subscription.socket.party);
    channel.joining += 1;
    try {
      channel.opened ??= this.open(channel);
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
    // A tick that came during the first reading has missed this channel.
    if (channel.seq !== this.list.seq) void this.refresh();
  }

  /** What is watched, each once. */
  watches(): Watch[] {
    return [...this.channels.values()].map(({ watch }) => watch);
  }

  *subscribers(): Iterable<LiveSubscription> {
    for (const channel of this.channels.values()) yield* channel.subscribers;
  }

  /** Whether the watch is served already, or the party may have one more. */
  hasRoomFor(watch: Watch, party: string | null): boolean {
    return this.channels.has(this.reader.keyOf(watch)) || this.budget.has(party);
  }

  get isEmpty(): boolean {
    return this.channels.size === 0;
  }

  /** Whether some channel shows rows of that tick, or of one before. */
  hasRowsOf(seq: number): boolean {
    return [...this.channels.values()].some((channel) => channel.seq !== null && channel.seq <= seq);
  }

  /** Whether some channel, since that tick or a later one, shows estimated ranks that should be counted exactly. */
  isDoubtedSince(seq: number): boolean {
    if (this.reader.isBehind) return false;
    return [...this.channels.values()].some((channel) => channel.isEstimated && channel.seq! >= seq);
  }

  /** Whether the sketch that the rows are read from is newer than they are. */
  async isBehind(listVersion: number): Promise<boolean> {
    return !this.isEmpty && (await this.reader.isBehind?.(this.list.resolved, listVersion)) === true;
  }

  /** Whether the rows changed for another reason than the list. */
  async isChanged(): Promise<boolean> {
    return !this.isEmpty && (await this.reader.lookAgain?.()) === true;
  }

  /** Whether a change of one of these players can show somewhere. */
  mayShow(playerIds: ReadonlySet<string>): boolean {
    return [...this.channels.values()].some((channel) => channel.mayShow(playerIds));
  }

  /** Reads every channel whose rows are older than the newest tick; a call during a reading makes one more. */
  refresh(): Promise<void> {
    this.refreshAgain = true;
    this.refreshing ??= this.refreshUntilQuiet().finally(() => (this.refreshing = null));
    return this.refreshing;
  }

  private async open(channel: WatchedChannel<Watch>): Promise<void> {
    await this.reader.open?.(channel.watch, channel.party);
    const [fault] = await this.read([channel]);
    if (fault) throw fault.error;
  }

  private channelOf(watch: Watch, party: string | null): WatchedChannel<Watch> {
    const key = this.reader.keyOf(watch);
    const known = this.channels.get(key);
    if (known) return known;
    this.budget.take(party);
    const channel = new WatchedChannel(key, watch, party, (left) => this.dropUnused(left));
    this.channels.set(key, channel);
    return channel;
  }

  private dropUnused(channel: WatchedChannel<Watch>): void {
    if (channel.subscribers.size > 0 || channel.joining > 0) return;
    if (this.channels.get(channel.key) !== channel) return;
    this.channels.delete(channel.key);
    this.budget.give(channel.party);
    this.reader.close?.(channel.watch);
  }

  private async refreshUntilQuiet(): Promise<void> {
    while (this.refreshAgain) {
      this.refreshAgain = false;
      const { seq, isHeld } = this.list;
      const behind = [...this.channels.values()].filter((channel) => channel.seq !== null && channel.seq < seq);
      if (isHeld || behind.length === 0) continue;
      try {
        for (const { channel, error } of await this.read(behind)) {
          for (const subscription of [...channel.subscribers]) subscription.refuse(error);
        }
      } catch (error) {
        // Channels that were not read are read by the next tick or poll.
        if (!this.list.isHeld) this.failures.warn('Watched rows cannot be read', error);
      }
    }
  }

  /** @returns the channels that nobody may see */
  private async read(channels: readonly WatchedChannel<Watch>[]) {
    const faults: { channel: WatchedChannel<Watch>; error: LadderError }[] = [];
    for (let start = 0; start < channels.length; start += this.reader.atOnce) {
      faults.push(...(await this.readSome(channels.slice(start, start + this.reader.atOnce))));
    }
    return faults;
  }

  /** Those with the faces of players are read apart: the others cost what they cost without. */
  private async readWatches(resolved: ResolvedList, watches: readonly Watch[]): Promise<(RowsReading | LadderError)[]> {
    const faced = watches.filter(({ withPlayers }) => withPlayers);
    if (faced.length === 0) return this.reader.read(resolved, watches);
    const plain = watches.filter(({ withPlayers }) => !withPlayers);
    const [ofPlain, ofFaced] = await Promise.all([
      plain.length === 0 ? [] : this.reader.read(resolved, plain),
      this.reader.read({ ...resolved, withPlayers: true }, faced),
    ]);
    const [nextPlain, nextFaced] = [ofPlain.values(), ofFaced.values()];
    return watches.map(({ withPlayers }) => (withPlayers ? nextFaced : nextPlain).next().value!);
  }

  private async readSome(channels: readonly WatchedChannel<Watch>[]) {
    // Taken before the reading: what comes after this tick belongs to the next.
    const { resolved, seq } = this.list;
    const asOfMs = nowMs();
    const readings = await this.readWatches(
      resolved,
      channels.map(({ watch }) => watch),
    );
    if (this.list.isHeld || this.list.resolved.edition?.uid !== resolved.edition?.uid) {
      // Nobody may see what was read if the window froze, or ended, in the meantime.
      throw new LadderError('PROJECTION_BEHIND', 'The standings change over; try again shortly.', {
        retryAfterSeconds: 1,
      });
    }
    const faults: { channel: WatchedChannel<Watch>; error: LadderError }[] = [];
    await Promise.all(channels.map((channel, index) => channel.beforeLoss(readings[index]!)));
    for (const [index, channel] of channels.entries()) {
      const reading = readings[index]!;
      if (reading instanceof LadderError) faults.push({ channel, error: reading });
      // Two states with one number could not be told apart.
      else if (channel.seq === null || channel.seq < seq) channel.advance(reading, seq, asOfMs);
    }
    return faults;
  }
}
