import { dueAtMs, GUILDS_SCOPE, type Board, type RankStyle } from '@laddercast/domain';
import type { LedgerClock } from '@laddercast/ledger';
import { isTracing, nowMs, RateLimitedLog, startSpan } from '@laddercast/platform';
import type { RankSnapshot, SnapshotStore } from '@laddercast/projections';
import { advanceSnapshot, type ResolvedList } from '@laddercast/queries';
import { beforeLoss } from '../channels/before-loss.js';
import type { Viewed } from '../channels/channel-kind.js';
import { CHANNELS } from '../channels/channel-table.js';
import { readableUntilMs } from '../publishing/readable-until.js';
import type { LiveSubscription } from '../connection/live-subscription.js';
import type { SharedFrame } from '../protocol/shared-frame.js';
import { refOf, type SnapshotTick } from '../publishing/snapshot-tick.js';
import { FacedTopRows } from '../channels/faced-top-rows.js';
import { sendToAll, TopChannel } from '../channels/top-channel.js';
import { WatchBudget } from '../channels/watch-budget.js';
import { WatchedRows, type WatchedList } from '../channels/watched-rows.js';
import { ListWorlds, TOP, type WorldSources, type WorldWatch } from './list-worlds.js';

/** What feeds, and the channels of their lists, read from. */
export interface FeedSources extends WorldSources {
  clock: LedgerClock;
  store: SnapshotStore;
  tick: SnapshotTick;
}

/** A list that was ticked since needs no look of its own whether it changed. */
const CONFIRM_AFTER_MS = 1000;

/**
 * One list as this process follows it for all its subscribers: it holds the present rows, takes each tick once,
 * and hands every channel its frame.
 */
export class ListFeed implements WatchedList {
  /** Subscriptions that hold the feed; it ends with the last one. */
  holders = 0;
  private state: RankSnapshot | null = null;
  private hintedSeq = 0;
  /** Where the list stood at the last look at estimated ranks. */
  private seqOfLastLook = 0;
  private readonly tops = new Map<string, TopChannel>();
  /** By channel; of the first places those that show faces. */
  private readonly rowsOf = new Map<string, WatchedRows<Viewed>[]>();
  /** What shadowed players see of it. */
  readonly worlds: ListWorlds;
  private readonly watched: readonly (WatchedRows<Viewed> | WatchedRows<WorldWatch>)[];
  private readonly failures = new RateLimitedLog(ListFeed.name);
  /** Changes of the state run one after another. */
  private turn: Promise<void> = Promise.resolve();
  private advanceWaits = false;
  private opening: Promise<void> | null = null;
  private isWindowClosed: boolean;
  private knownAsOfMs = 0;
  /** The edition of the final standings that subscribers know of: who subscribes gets a snapshot of the newest. */
  private editionTold: number;
  private readableUntilMs: number;
  /** The next one, as long as it has not begun. */
  private renumbering: Promise<void> | null = null;
  /** Whether the last one failed: nobody tells again of what changed. */
  private isRenumberDue = false;

  /** @param askedAtMs when the list was asked for, by the monotonic clock */
  constructor(
    public resolved: ResolvedList,
    private readonly sources: FeedSources,
    private askedAtMs: number,
  ) {
    this.readableUntilMs = readableUntilMs(resolved);
    this.isWindowClosed = resolved.window.state === 'settled';
    this.editionTold = resolved.final?.number ?? 1;
    for (const [channel, { rows }] of Object.entries(CHANNELS)) {
      const watchedBy = rows?.(sources) ?? [];
      this.rowsOf.set(
        channel,
        watchedBy.map(({ reader, budget }) => new WatchedRows(this, reader, budget)),
      );
    }
    this.rowsOf.set(TOP, [
      new WatchedRows<Viewed>(
        this,
        new FacedTopRows(() => this.snapshot, sources.details),
        new WatchBudget(Infinity, 'first places'),
      ),
    ]);
    this.worlds = new ListWorlds(this, sources);
    this.watched = [...[...this.rowsOf.values()].flat(), ...this.worlds.rows];
  }

  /** Whether the list must be resolved anew before it is read: its board changed, or its window froze or ended. */
  get isHeld(): boolean {
    return this.isHeldWithin(0);
  }

  /** Whether it must be resolved anew within so many milliseconds. */
  isHeldWithin(ms: number): boolean {
    return this.sources.clock.latestMs() + ms >= this.readableUntilMs;
  }

  /** Its board or its windows changed: nothing more is read until the list is resolved anew. */
  boardChanged(board: Board): void {
    this.resolved = { ...this.resolved, board };
    this.readableUntilMs = -Infinity;
  }

  /** Its standings were revised: nothing more is read until the list is resolved anew. */
  standingsRevised(): void {
    this.readableUntilMs = -Infinity;
  }

  /** Takes the list as it was resolved anew, asked for at `askedAtMs`; an older answer changes nothing. */
  follow(resolved: ResolvedList, askedAtMs: number): void {
    if (resolved.board.revision < this.resolved.board.revision || askedAtMs < this.askedAtMs) return;
    this.resolved = resolved;
    this.askedAtMs = askedAtMs;
    this.readableUntilMs = readableUntilMs(resolved);
    this.tellIfRevised();
    this.refreshWatched();
  }

  /**
   * Has the present snapshot when it resolves. A list that was not in use until now has an old one, or none:
   * then this process makes its first tick, and waits for no publisher.
   * @param seqFloor a number that the first snapshot should exceed
   * @throws PROJECTION_UNAVAILABLE
   */
  open(seqFloor: number): Promise<void> {
    this.opening ??= this.tick(seqFloor).then(
      async (snapshot) => {
        this.state = snapshot;
        this.hint(this.hintedSeq);
        // A quiet list was published long ago: without a look, pings would say that it is known as of then.
        if (nowMs() - this.asOfMs >= CONFIRM_AFTER_MS) await this.confirm();
      },
      (error: unknown) => {
        this.opening = null;
        throw error;
      },
    );
    return this.opening;
  }

  get seq(): number {
    return this.state?.seq ?? 0;
  }

  /** @throws PROJECTION_UNAVAILABLE */
  takeNumber(above: number): Promise<number> {
    return this.sources.store.takeNumber(refOf(this.resolved), Math.max(nowMs(), this.seq + 1, above + 1));
  }

  /** The moment as of which the list is known here, Unix ms: of its last tick, or when it was last found unchanged. It never falls. */
  get asOfMs(): number {
    this.knownAsOfMs = Math.max(this.knownAsOfMs, this.state?.asOfMs ?? 0);
    return this.knownAsOfMs;
  }

  *subscribers(): Iterable<LiveSubscription> {
    yield* subscribersOf(this.tops.values());
    for (const watched of this.watched) yield* watched.subscribers();
  }

  /** A snapshot was published: takes it, unless it is known already. */
  hint(seq: number): void {
    this.hintedSeq = Math.max(this.hintedSeq, seq);
    if (seq > this.seq) this.advance();
  }

  /** Looks whether anything was published; calls before a look begins share it. */
  advance(): void {
    if (this.state === null || this.advanceWaits) return;
    this.advanceWaits = true;
    void this.inTurn(async () => {
      this.advanceWaits = false;
      await this.takePublished();
    }).catch((error: unknown) => this.failures.warn('A list cannot be followed', error));
  }

  /**
   * Looks whether anything was published, and whether the list is still what was published last: a tick that stopped, or a
   * store that is away, is no news that nothing changed.
   */
  async confirm(): Promise<void> {
    this.advance();
    if (this.state === null || this.isHeld || nowMs() - this.asOfMs < CONFIRM_AFTER_MS) return;
    const { resolved, state } = this;
    const askedAtMs = nowMs();
    try {
      const { listVersion } = await resolved.ranks.total(resolved.list);
      if (listVersion === state.listVersion && this.state === state) this.knownAsOfMs = askedAtMs;
    } catch {
      // What is away is logged by who reads rows. Here nothing is known, and so nothing is said.
    }
  }

  /** Serves the first rows, beginning with the snapshot. */
  joinTop(subscription: LiveSubscription, limit: number): void {
    const channel = this.topChannel(limit, subscription.style);
    channel.subscribers.add(subscription);
    subscription.channel = channel;
    subscription.sendSnapshot(channel.snapshot());
    this.tellIfClosed(subscription);
  }

  /**
   * Serves the first rows to a reader that stands at `seq`: with the changes since then, if they are known in its
   * style, else beginning with the snapshot.
   */
  async resumeTop(subscription: LiveSubscription, limit: number, seq: number, isWanted: () => boolean): Promise<void> {
    await this.inTurn(async () => {
      if (seq !== this.seq) await this.takePublished();
      const deltas = seq < this.seq ? await this.sources.store.deltasSince(refOf(this.resolved), seq) : null;
      const history = deltas?.filter((delta) => delta.seq <= this.seq) ?? [];
      if (!isWanted()) return;
      // Only a history that ends where this feed stands leads the reader here.
      const isKnown = subscription.style === 'ordinal' && history.at(-1)?.seq === this.seq;
      if (!isKnown) return this.joinTop(subscription, limit);
      const channel = this.topChannel(limit, subscription.style);
      channel.subscribers.add(subscription);
      subscription.channel = channel;
      subscription.sendDelta(channel.deltaSince(seq, history));
      this.tellIfClosed(subscription);
    });
  }

  /** Serves a channel with rows of its own. @throws as {@link WatchedRows.join} */
  async joinRows(subscription: LiveSubscription, watch: Viewed, isWanted: () => boolean): Promise<void> {
    const rows = this.rowsOf.get(subscription.request.channel)!;
    const withRoom = rows.find((some) => some.hasRoomFor(watch, subscription.socket.party));
    await (withRoom ?? rows.at(-1)!).join(subscription, watch, isWanted);
    if (isWanted()) this.tellIfClosed(subscription);
  }

  /** As {@link joinRows}, in the world of the subscription's player. */
  async joinWorld(subscription: LiveSubscription, watch: WorldWatch, isWanted: () => boolean): Promise<void> {
    await this.worlds.join(subscription, watch, isWanted);
    if (isWanted()) this.tellIfClosed(subscription);
  }

  /** Takes entries of shadowed players as the ledger has them now, and has those served who are shadowed no more. */
  async takeOwnEntries(...looked: Parameters<ListWorlds['take']>): Promise<void> {
    if (this.worlds.take(...looked)) await this.renumber();
    const { leaving } = this.worlds;
    const waiting = [...leaving];
    leaving.clear();
    await Promise.all(waiting.map((subscription) => subscription.lookAtWorld()));
  }

  /** Looks up the members of the watched circles. */
  async lookAtCircles(): Promise<void> {
    if (await anyOf(this.watched, (rows) => rows.isChanged())) await this.renumber();
  }

  /** Looks whether estimated ranks, or rows that could not be read anew, need one more reading although the list became quiet. */
  async lookAtEstimates(): Promise<void> {
    if (this.state === null || this.isHeld) return;
    const seqBefore = this.seqOfLastLook;
    this.seqOfLastLook = this.seq;
    // Ranks were uncertain while entries crossed between shards; if ticks go on, they read them again.
    const isDoubted = this.seq === seqBefore && this.watched.some((rows) => rows.isDoubtedSince(this.seq));
    const { listVersion } = this.state;
    const isDue = this.isRenumberDue || isDoubted;
    if (isDue || (await anyOf(this.watched, (rows) => rows.isBehind(listVersion)))) await this.renumber();
  }

  /**
   * Has watched rows read anew that may show a player whose name, listing or sanction changed, and its own subscriptions
   * served in its world where it has one; null: it is not known whose.
   */
  async playersChanged(playerIds: ReadonlySet<string> | null): Promise<void> {
    const own = this.isOfGuilds ? [] : [...this.subscribers()].filter(({ ownPlayer }) => isAmong(ownPlayer, playerIds));
    await Promise.all(own.map((subscription) => subscription.lookAtWorld()));
    const mayShow = this.watched.some((rows) => (playerIds === null ? !rows.isEmpty : rows.mayShow(playerIds)));
    if (mayShow) await this.renumber();
  }

  /** Whether the rows are guilds. */
  get isOfGuilds(): boolean {
    return this.resolved.list.scope === GUILDS_SCOPE;
  }

  /** Whether the window may have closed without this process hearing of it. */
  mayHaveClosed(atMs: number): boolean {
    const { window, board } = this.resolved;
    if (this.isWindowClosed || window.endsAtMs === null) return false;
    // One that was ended by an act waits for no grace.
    return window.state === 'closed' || atMs >= dueAtMs(window, board.definition.graceSeconds);
  }

  /** Tells the subscribers, once, that the window takes no more runs; later subscribers are told when they come. */
  windowClosed(): void {
    if (this.isWindowClosed) return;
    this.isWindowClosed = true;
    for (const subscription of this.subscribers()) this.tellIfClosed(subscription);
  }

  /** Tells the subscribers, once an edition, that the final standings of the window were revised. */
  private tellIfRevised(): void {
    const { final, window } = this.resolved;
    const isNews = final !== undefined && final.number > this.editionTold;
    if (final !== undefined) this.editionTold = Math.max(this.editionTold, final.number);
    if (isNews) for (const subscription of this.subscribers()) subscription.standingsRevised(window.id, final.number);
  }

  private refreshWatched(): void {
    for (const rows of this.watched) void rows.refresh();
  }

  /**
   * Has watched rows read anew although the list did not change. Their new rows need a `seq` of their own, so the list
   * is published once more: all numbers come from its one history.
   */
  async renumber(): Promise<void> {
    if (this.state === null) return;
    this.renumbering ??= this.inTurn(async () => {
      this.renumbering = null;
      this.isRenumberDue = false;
      await this.tick(this.seq, true);
      await this.takePublished();
    }).catch((error: unknown) => {
      this.isRenumberDue = true;
      this.failures.warn('Watched rows cannot be read anew', error);
    });
    await this.renumbering;
  }

  private tellIfClosed(subscription: LiveSubscription): void {
    if (this.isWindowClosed) subscription.windowClosed(this.resolved.window.id);
  }

  private get snapshot(): RankSnapshot {
    if (this.state === null) throw new Error('The feed was not opened.');
    return this.state;
  }

  private topChannel(limit: number, style: RankStyle): TopChannel {
    const key = `${style}:${limit}`;
    const known = this.tops.get(key);
    if (known) return known;
    const channel = new TopChannel(limit, style, this.resolved.list.ordering.tiebreak, this.snapshot);
    this.tops.set(key, channel);
    return channel;
  }

  private async takePublished(): Promise<void> {
    const advance = await advanceSnapshot(this.sources.store, refOf(this.resolved), this.snapshot);
    if (advance !== null && advance.snapshot.seq > this.seq) {
      await beforeLoss(subscribersOf(this.tops.values()), this.snapshot, advance.snapshot);
      this.state = advance.snapshot;
      // First all channels take the state, then it is sent: a reader that catches up in between gets one state of all.
      const frames = [...this.tops.values()].map((channel) => channel.advance(advance.snapshot, advance.deltas));
      const traces = isTracing() ? (advance.deltas ?? []).flatMap((delta) => delta.traces ?? []) : [];
      for (const [index, channel] of [...this.tops.values()].entries()) {
        const frame = frames[index];
        if (frame) sendTraced(channel, frame, traces);
      }
    }
    // Even without news: channels whose last reading failed are still behind.
    this.refreshWatched();
  }

  private tick(seqFloor: number, force = false): Promise<RankSnapshot> {
    const isHeld = (): boolean => this.isHeld;
    return this.sources.tick.run(this.resolved, { last: undefined, seqFloor }, { readAnew: true, force, isHeld });
  }

  private inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.turn.then(work);
    this.turn = result.then(
      () => undefined,
      () => undefined,
    );
    return result;
  }
}

function* subscribersOf(channels: Iterable<TopChannel>): Iterable<LiveSubscription> {
  for (const { subscribers } of channels) yield* subscribers;
}

/** Whether a player is one of those; null: they may be anybody. */
const isAmong = (playerId: string | null, playerIds: ReadonlySet<string> | null): boolean =>
  playerId !== null && (playerIds === null || playerIds.has(playerId));

/** Sends a channel's frame to its subscribers, inside the traces of the changes that it shows. */
function sendTraced({ subscribers }: TopChannel, frame: SharedFrame, parents: readonly string[]): void {
  const span = parents.length === 0 || subscribers.size === 0 ? null : startSpan('socket frame', { parents });
  sendToAll(subscribers, frame);
  span?.set({ 'laddercast.subscribers': subscribers.size, 'laddercast.frame': frame.type });
  span?.end();
}

/** Whether the condition holds for any; they are checked in parallel. */
async function anyOf<T>(items: readonly T[], isSo: (item: T) => Promise<boolean>): Promise<boolean> {
  return (await Promise.all(items.map(isSo))).includes(true);
}
