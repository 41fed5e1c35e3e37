import type { RankProjection, RankSnapshot, SnapshotStore } from '@laddercast/projections';
import { advanceSnapshot, type EntryDetails, type ResolvedList } from '@laddercast/queries';
import type { LiveSubscription } from './live-subscription.js';
import { RateLimitedLog } from './rate-limited-log.js';
import { refOf, type SnapshotTick } from './snapshot-tick.js';
import { sendToAll, TopChannel } from './top-channel.js';
import { WatchedPlayers, type WatchBudget } from './watched-players.js';

/** What feeds read from. */
export interface FeedSources {
  store: SnapshotStore;
  projection: RankProjection;
  details: EntryDetails;
  tick: SnapshotTick;
  budget: WatchBudget;
}

/**
 * One list as this process follows it for all its subscribers: it holds the present rows, takes each tick once,
 * and hands every channel its frame.
 */
export class ListFeed {
  /** Subscriptions that hold the feed; it ends with the last one. */
  holders = 0;
  private state: RankSnapshot | null = null;
  private hintedSeq = 0;
  private readonly tops = new Map<number, TopChannel>();
  private readonly players: WatchedPlayers;
  private readonly failures = new RateLimitedLog(ListFeed.name);
  /** What changes the state runs one after another. */
  private turn: Promise<void> = Promise.resolve();
  private advanceWaits = false;
  private opening: Promise<void> | null = null;
  private isWindowClosed = false;

  constructor(
    public resolved: ResolvedList,
    private readonly sources: FeedSources,
  ) {
    const { projection, details, budget } = sources;
    this.players = new WatchedPlayers(
      () => this.resolved,
      () => this.snapshot.seq,
      projection,
      details,
      budget,
    );
  }

  /**
   * Has the present snapshot when it resolves. A list that was not in use until now has an old one, or none:
   * then this process makes its first tick, and waits for no publisher.
   * @param seqFloor a number that the first snapshot should exceed
   * @throws PROJECTION_UNAVAILABLE
   */
  open(seqFloor: number): Promise<void> {
    this.opening ??= this.sources.tick.run(this.resolved, { last: undefined, seqFloor }).then(
      (snapshot) => {
        this.state = snapshot;
        this.hint(this.hintedSeq);
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

  *subscribers(): Iterable<LiveSubscription> {
    for (const channel of this.tops.values()) yield* channel.subscribers;
    yield* this.players.subscribers();
  }

  /** A snapshot was published: takes it, unless it is known already. */
  hint(seq: number): void {
    this.hintedSeq = Math.max(this.hintedSeq, seq);
    if (seq > this.seq) this.advance();
  }

  /** Looks whether anything was published; a look that is still to come is enough for several calls. */
  advance(): void {
    if (this.state === null || this.advanceWaits) return;
    this.advanceWaits = true;
    void this.inTurn(async () => {
      this.advanceWaits = false;
      await this.takePublished();
    }).catch((error: unknown) => this.failures.warn('A list cannot be followed', error));
  }

  /** Serves the first rows, beginning with the snapshot. */
  joinTop(subscription: LiveSubscription, limit: number): void {
    const channel = this.topChannel(limit);
    channel.subscribers.add(subscription);
    subscription.channel = channel;
    subscription.sendSnapshot(channel.snapshot());
    this.tellIfClosed(subscription);
  }

  /**
   * Serves the first rows to a reader that stands at `seq`: with what changed since when that is still known,
   * else beginning with the snapshot.
   */
  async resumeTop(subscription: LiveSubscription, limit: number, seq: number, isWanted: () => boolean): Promise<void> {
    await this.inTurn(async () => {
      if (seq !== this.seq) await this.takePublished();
      const deltas = seq < this.seq ? await this.sources.store.deltasSince(refOf(this.resolved), seq) : null;
      const history = deltas?.filter((delta) => delta.seq <= this.seq) ?? [];
      if (!isWanted()) return;
      // Only a history that ends where this feed stands leads the reader here.
      if (history.at(-1)?.seq !== this.seq) return this.joinTop(subscription, limit);
      const channel = this.topChannel(limit);
      channel.subscribers.add(subscription);
      subscription.channel = channel;
      subscription.sendDelta(channel.deltaSince(seq, history));
      this.tellIfClosed(subscription);
    });
  }

  /** Serves a player and the rows around. @throws SUBSCRIPTION_LIMIT, PROJECTION_UNAVAILABLE */
  async joinPlayer(
    subscription: LiveSubscription,
    playerId: string,
    around: number,
    isWanted: () => boolean,
  ): Promise<void> {
    await this.players.join(subscription, playerId, around, isWanted);
    if (isWanted()) this.tellIfClosed(subscription);
  }

  /** Tells the subscribers that the window takes no more runs, once; those who come after that hear it as they come. */
  sweep(nowMs: number): void {
    const { window, board } = this.resolved;
    if (this.isWindowClosed || window.endsAtMs === null) return;
    if (nowMs < window.endsAtMs + board.definition.graceSeconds * 1000) return;
    this.isWindowClosed = true;
    for (const subscription of this.subscribers()) this.tellIfClosed(subscription);
  }

  private tellIfClosed(subscription: LiveSubscription): void {
    if (this.isWindowClosed) subscription.windowClosed(this.resolved.window.id);
  }

  private get snapshot(): RankSnapshot {
    if (this.state === null) throw new Error('The feed was not opened.');
    return this.state;
  }

  private topChannel(limit: number): TopChannel {
    const known = this.tops.get(limit);
    if (known) return known;
    const channel = new TopChannel(limit, this.snapshot);
    this.tops.set(limit, channel);
    return channel;
  }

  private async takePublished(): Promise<void> {
    const advance = await advanceSnapshot(this.sources.store, refOf(this.resolved), this.snapshot);
    if (advance !== null && advance.snapshot.seq > this.seq) {
      this.state = advance.snapshot;
      // First every channel, then the sending: a reader that catches up in between is given one state of all.
      const frames = [...this.tops.values()].map((channel) => channel.advance(advance.snapshot, advance.deltas));
      for (const [index, channel] of [...this.tops.values()].entries()) {
        const frame = frames[index];
        if (frame) sendToAll(channel.subscribers, frame);
      }
    }
    // Also without news: players whose last reading failed are still behind.
    void this.players.refresh();
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
