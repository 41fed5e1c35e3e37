import { LadderError } from '@laddercast/domain';
import { nowMs, RateLimitedLog } from '@laddercast/platform';
import type { ResolvedList } from '@laddercast/queries';
import type { LiveSubscription } from '../connection/live-subscription.js';
import type { WatchBudget } from './watch-budget.js';
import { WatchedChannel, type RowsReading, type StyledWatch } from './watched-channel.js';

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
  /** The number of the newest tick. */
  readonly seq: number;
  /** Whether the list must be resolved anew before it is read. */
  readonly isHeld: boolean;

  /** A number above another, for rows that were read just now: in no process there are others of this list with it. */
  takeNumber(above: number): Promise<number>;
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
      if (channel.seq < subscription.heardSeq) channel.renumber(await this.list.takeNumber(channel.seq));
      if (!isWanted()) return;
      channel.subscribers.add(subscription);
      subscription.channel = channel;
      subscription.sendSnapshot(channel.snapshot());
    } finally {
      channel.joining -= 1;
      if (channel.tick === null) channel.opened = null;
      this.dropUnused(channel);
    }
    // A tick that came during the first reading has missed this channel.
    if (channel.tick !== this.list.seq) void this.refresh();
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
  hasRowsOf(tick: number): boolean {
    return [...this.channels.values()].some((channel) => channel.tick !== null && channel.tick <= tick);
  }

  /** Whether some channel, since that tick or a later one, shows estimated ranks that should be counted exactly. */
  isDoubtedSince(tick: number): boolean {
    if (this.reader.isBehind) return false;
    return [...this.channels.values()].some((channel) => channel.isEstimated && channel.tick! >= tick);
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
    this.refreshing ??= this.refreshUntilQuiet();
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
    const { tiebreak } = this.list.resolved.list.ordering;
    const channel = new WatchedChannel(key, watch, party, tiebreak, (left) => this.dropUnused(left));
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
    // Whoever called has it noted by then.
    await null;
    while (this.refreshAgain) {
      this.refreshAgain = false;
      const { seq: tick, isHeld } = this.list;
      const behind = [...this.channels.values()].filter((channel) => channel.tick !== null && channel.tick < tick);
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
    // In the same turn as the last look, or a tick could slip in between and be missed.
    this.refreshing = null;
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
    const { resolved, seq: tick } = this.list;
    const asOfMs = nowMs();
    const readings = await this.readWatches(
      resolved,
      channels.map(({ watch }) => watch),
    );
    const news = readings.map((reading, index) =>
      reading instanceof LadderError ? null : channels[index]!.newsOf(reading),
    );
    await Promise.all(channels.map((channel, index) => channel.beforeLoss(readings[index]!)));
    // Not the number of the tick: rows are read after it, and may be others where another process reads them, or this one later.
    // Nothing may run between the last look and the taking: who joins can have the rows numbered anew.
    let seq = 0;
    if (news.some((one) => one !== null)) {
      do seq = await this.list.takeNumber(newestOf(channels));
      while (seq <= newestOf(channels));
    }
    if (this.list.isHeld || this.list.resolved.edition?.uid !== resolved.edition?.uid) {
      // Nobody may see what was read if the window froze, or ended, in the meantime.
      throw new LadderError('PROJECTION_BEHIND', 'The standings change over; try again shortly.', {
        retryAfterSeconds: 1,
      });
    }
    const faults: { channel: WatchedChannel<Watch>; error: LadderError }[] = [];
    for (const [index, channel] of channels.entries()) {
      const reading = readings[index]!;
      if (reading instanceof LadderError) faults.push({ channel, error: reading });
      else channel.advance({ asOfMs, ...reading, seq }, tick, news[index]!);
    }
    return faults;
  }
}

const newestOf = (channels: readonly { seq: number }[]): number => Math.max(...channels.map(({ seq }) => seq));
