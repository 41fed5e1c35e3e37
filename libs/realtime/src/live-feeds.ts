import { monotonicMs, nowMs } from '@laddercast/platform';
import type { ListRef } from '@laddercast/projections';
import type { ResolvedList } from '@laddercast/queries';
import { ListFeed, type FeedSources } from './list-feed.js';
import { RateLimitedLog } from './rate-limited-log.js';
import { refOf } from './snapshot-tick.js';

/** Also how long a list can go without ticks after Redis lost its marks. */
const MARK_EVERY_MS = 5000;
const MARK_FOR_MS = 30_000;
const SUBSCRIBE_AGAIN_MS = 1000;

const keyOf = (list: ListRef): string => `${list.boardUid}.${list.windowUid}`;

/**
 * The lists that this process follows, each once: keeps them in use while anybody subscribes, and brings them the hints.
 * Hints can be lost: every feed also looks by itself, every `pollEveryMs`.
 */
export class LiveFeeds {
  private readonly feeds = new Map<string, ListFeed>();
  private readonly failures = new RateLimitedLog(LiveFeeds.name);
  private unsubscribe: (() => Promise<void>) | null = null;
  private timers: NodeJS.Timeout[] = [];
  private subscribeTimer: NodeJS.Timeout | null = null;
  private running = false;

  constructor(
    private readonly sources: FeedSources,
    private readonly pollEveryMs: number,
  ) {}

  /** Follows hints until {@link stop}; a store that is away is tried again every second. */
  start(): void {
    if (this.running) return;
    this.running = true;
    this.timers = [
      setInterval(() => void this.mark([...this.feeds.values()]), MARK_EVERY_MS),
      setInterval(() => this.all().forEach((feed) => feed.advance()), this.pollEveryMs),
    ];
    void this.subscribe();
  }

  async stop(): Promise<void> {
    this.running = false;
    for (const timer of this.timers) clearInterval(timer);
    if (this.subscribeTimer) clearTimeout(this.subscribeTimer);
    await this.unsubscribe?.().catch(() => undefined);
    this.unsubscribe = null;
    this.feeds.clear();
  }

  all(): ListFeed[] {
    return [...this.feeds.values()];
  }

  /** The feeds of one board. */
  ofBoard(boardUid: number): ListFeed[] {
    return this.all().filter((feed) => feed.resolved.board.uid === boardUid);
  }

  /**
   * The list's feed, with its present snapshot; the caller gives it back with {@link release}.
   * @throws PROJECTION_UNAVAILABLE
   */
  async acquire(resolved: ResolvedList, seqFloor = 0): Promise<ListFeed> {
    const key = keyOf(refOf(resolved));
    let feed = this.feeds.get(key);
    if (!feed) {
      feed = new ListFeed(resolved, this.sources);
      this.feeds.set(key, feed);
      void this.mark([feed]);
    }
    feed.holders += 1;
    try {
      await feed.open(seqFloor);
      return feed;
    } catch (error) {
      this.release(feed);
      throw error;
    }
  }

  release(feed: ListFeed): void {
    feed.holders -= 1;
    const key = keyOf(refOf(feed.resolved));
    if (feed.holders === 0 && this.feeds.get(key) === feed) this.feeds.delete(key);
  }

  private async mark(feeds: ListFeed[]): Promise<void> {
    if (feeds.length === 0) return;
    const refs = feeds.map((feed) => refOf(feed.resolved));
    try {
      await this.sources.store.markInUse(refs, nowMs() + MARK_FOR_MS);
    } catch (error) {
      this.failures.warn('Lists cannot be kept in use', error);
    }
  }

  private async subscribe(): Promise<void> {
    const startedAtMs = monotonicMs();
    try {
      const unsubscribe = await this.sources.store.onPublished((list, seq) => this.feeds.get(keyOf(list))?.hint(seq));
      if (this.running) this.unsubscribe = unsubscribe;
      else await unsubscribe();
    } catch (error) {
      this.failures.warn('Hints cannot be followed yet', error);
      const waitMs = Math.max(0, SUBSCRIBE_AGAIN_MS - (monotonicMs() - startedAtMs));
      if (this.running) this.subscribeTimer = setTimeout(() => void this.subscribe(), waitMs);
    }
  }
}
