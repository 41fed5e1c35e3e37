import type { WindowCatalog } from '@laddercast/ledger';
import { nowMs, RateLimitedLog } from '@laddercast/platform';
import { nameOfRef } from '@laddercast/projections';
import { isUnused, type ResolvedList } from '@laddercast/queries';
import { ListFeed, type FeedSources } from './list-feed.js';
import { refOf } from '../publishing/snapshot-tick.js';

/** Also the longest that a list goes without ticks after Redis lost its marks. */
const MARK_EVERY_MS = 5000;
const MARK_FOR_MS = 30_000;
const LOOK_AT_CIRCLES_EVERY_MS = 1000;
/** How late a shadowed player's socket shows what its player scored. */
const LOOK_AT_WORLDS_EVERY_MS = 250;
const LOOK_AT_ESTIMATES_EVERY_MS = 1000;
/** How late a window's closing shows if its announcement was lost. */
const LOOK_FOR_CLOSED_EVERY_MS = 5000;

/**
 * The lists that this process follows, each once. It keeps them in use while anybody subscribes, and passes hints on to
 * them. Hints can be lost: every feed also looks by itself, every `pollEveryMs`.
 */
export class LiveFeeds {
  private readonly feeds = new Map<string, ListFeed>();
  private readonly failures = new RateLimitedLog(LiveFeeds.name);
  private unfollow: (() => void) | null = null;
  private timers: NodeJS.Timeout[] = [];
  private isLookingAtCircles = false;
  private isLookingAtWorlds = false;

  constructor(
    private readonly sources: FeedSources,
    private readonly windows: Pick<WindowCatalog, 'refresh'>,
    private readonly pollEveryMs: number,
  ) {}

  /** Follows hints until {@link stop}. */
  start(): void {
    if (this.timers.length > 0) return;
    this.timers = [
      setInterval(() => void this.mark([...this.feeds.values()]), MARK_EVERY_MS),
      setInterval(() => this.all().forEach((feed) => void feed.confirm()), this.pollEveryMs),
      setInterval(() => void this.lookAtCircles(), LOOK_AT_CIRCLES_EVERY_MS),
      setInterval(() => void this.lookAtWorlds(), LOOK_AT_WORLDS_EVERY_MS),
      setInterval(() => this.all().forEach((feed) => void feed.lookAtEstimates()), LOOK_AT_ESTIMATES_EVERY_MS),
      setInterval(() => void this.lookForClosed(), LOOK_FOR_CLOSED_EVERY_MS),
    ];
    this.unfollow = this.sources.store.onPublished((list, seq) => this.feeds.get(nameOfRef(list))?.hint(seq));
  }

  stop(): void {
    for (const timer of this.timers) clearInterval(timer);
    this.timers = [];
    this.unfollow?.();
    this.unfollow = null;
    this.feeds.clear();
  }

  all(): ListFeed[] {
    return [...this.feeds.values()];
  }

  /** The feeds of one board. */
  ofBoard(boardUid: number): ListFeed[] {
    return this.all().filter((feed) => feed.resolved.board.uid === boardUid);
  }

  /** The feeds of one window. */
  ofWindow(windowUid: number): ListFeed[] {
    return this.all().filter((feed) => feed.resolved.window.uid === windowUid);
  }

  /**
   * The list's feed, with its present snapshot; the caller gives it back with {@link release}.
   * @param askedAtMs when the list was asked for, by the monotonic clock
   * @throws PROJECTION_UNAVAILABLE, PROJECTION_BEHIND
   */
  async acquire(resolved: ResolvedList, askedAtMs: number, seqFloor = 0): Promise<ListFeed> {
    const key = keyOf(resolved);
    let feed = this.feeds.get(key);
    if (feed) {
      feed.follow(resolved, askedAtMs);
    } else {
      feed = new ListFeed(resolved, this.sources, askedAtMs);
      this.feeds.set(key, feed);
      void this.mark([feed]);
    }
    feed.holders += 1;
    try {
      await Promise.all([feed.open(seqFloor), this.lookForClosed([feed])]);
      return feed;
    } catch (error) {
      this.release(feed);
      throw error;
    }
  }

  release(feed: ListFeed): void {
    feed.holders -= 1;
    const key = keyOf(feed.resolved);
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

  /** Tells subscribers about windows whose closing was missed. While the database is away they hear it later. */
  async lookForClosed(feeds: readonly ListFeed[] = this.all()): Promise<void> {
    const latestMs = this.sources.clock.latestMs();
    const uids = new Set(
      feeds.filter((feed) => feed.mayHaveClosed(latestMs)).map(({ resolved }) => resolved.window.uid),
    );
    try {
      for (const { uid, state } of await this.windows.refresh([...uids]))
        if (state === 'settled') this.windowClosed(uid);
    } catch (error) {
      this.failures.warn('Closed windows cannot be looked up', error);
    }
  }

  /** The window takes no more runs, and its final standings are written. */
  windowClosed(windowUid: number): void {
    for (const feed of this.ofWindow(windowUid)) feed.windowClosed();
  }

  /** The window has another edition of its standings: its lists are resolved anew with the next sweep. */
  standingsRevised(windowUid: number): void {
    for (const feed of this.ofWindow(windowUid)) feed.standingsRevised();
  }

  /** Looks up the entries of shadowed players that somebody watches, of all lists together. */
  private async lookAtWorlds(): Promise<void> {
    const watched = this.all()
      .map((feed) => ({ feed, asked: feed.worlds.asked() }))
      .filter(({ asked }) => asked.length > 0);
    if (this.isLookingAtWorlds || watched.length === 0) return;
    this.isLookingAtWorlds = true;
    try {
      const entries = await this.sources.worlds.entries(watched.flatMap(({ asked }) => asked));
      for (const { feed, asked } of watched) void feed.takeOwnEntries(asked, entries.splice(0, asked.length));
    } catch (error) {
      this.failures.warn('The entries of shadowed players cannot be looked up', error);
    } finally {
      this.isLookingAtWorlds = false;
    }
  }

  private async lookAtCircles(): Promise<void> {
    if (this.isLookingAtCircles) return;
    this.isLookingAtCircles = true;
    await Promise.all(this.all().map((feed) => feed.lookAtCircles()));
    this.isLookingAtCircles = false;
  }
}

/** Windows that were over before anybody used them have no number of their own. */
const keyOf = (resolved: ResolvedList): string =>
  isUnused(resolved.window) ? `${nameOfRef(refOf(resolved))} ${resolved.window.id}` : nameOfRef(refOf(resolved));
