import { monotonicMs, nowMs } from '@laddercast/platform';
import { nameOfRef, type ListRef, type RankSnapshot, SnapshotStore } from '@laddercast/projections';
import { LRUCache } from 'lru-cache';
import { Injectable } from '@nestjs/common';
import type { ResolvedList } from '../lists/list-resolver.js';
import { advanceSnapshot } from './snapshot-follower.js';

/** The most lists kept; the one read longest ago makes room. */
const LISTS_MAX = 1000;
/** A list that nobody read for this long is followed no more. */
const FOLLOWED_AFTER_READ_MS = 30_000;
const MARK_EVERY_MS = 10_000;
/** A mark holds for the reads that come until the next one may be made, too. */
const MARK_FOR_MS = FOLLOWED_AFTER_READ_MS + MARK_EVERY_MS;
const MARK_BATCH_DELAY_MS = 5;
const CHECK_EVERY_MS = 5000;
/** What is left waits a second: 1,000 lists take four sweeps. */
const CHECKS_PER_SWEEP_MAX = 256;
const SWEEP_EVERY_MS = 1000;
/** Two checks may fail before a snapshot is no longer called current. */
const CURRENT_FOR_MS = 2 * CHECK_EVERY_MS;
/** How much later than its tick a snapshot may come before it counts as behind. */
const DELIVERY_ALLOWANCE_MS = 1000;

interface CachedList {
  ref: ListRef;
  resolved: ResolvedList;
  snapshot: RankSnapshot | null;
  /** When the snapshot was last known to be the newest; monotonic milliseconds like all times here. */
  currentAtMs: number;
  /** The last hint: the snapshot with this `seq` was the newest when it came. */
  hint: { seq: number; atMs: number } | null;
  /** Since when the projection is known to be ahead of the snapshot. */
  behindSinceMs: number | null;
  readAtMs: number;
  markedAtMs: number;
  checkedAtMs: number;
  following: Promise<void> | null;
  followAgain: boolean;
}

/**
 * The tops of lists in use, in this process's memory: reading them costs no I/O.
 *
 * How old an answer can be: one tick of its board (`push.intervalMs`) and the delivery of the hint, some milliseconds.
 * Where a hint was lost (a reconnect), at most 5 s more: then the projection's version is compared, and a snapshot
 * found behind is served no more. The first read of a list, and the first after 30 s without one, gives nothing and
 * starts the fetch.
 */
@Injectable()
export class SnapshotCache {
  private readonly lists = new LRUCache<string, CachedList>({ max: LISTS_MAX });
  private readonly toMark = new Set<CachedList>();
  private markTimer: NodeJS.Timeout | null = null;
  private sweepTimer: NodeJS.Timeout | null = null;
  private unfollow: (() => void) | null = null;
  private running = false;

  constructor(private readonly store: SnapshotStore) {}

  /** Follows hints until {@link stop}. */
  start(): void {
    if (this.running) return;
    this.running = true;
    this.sweepTimer = setInterval(() => this.sweep(), SWEEP_EVERY_MS);
    this.unfollow = this.store.onPublished((ref, seq) => this.hear(ref, seq));
  }

  async stop(): Promise<void> {
    this.running = false;
    for (const timer of [this.sweepTimer, this.markTimer]) if (timer) clearTimeout(timer);
    this.unfollow?.();
    this.unfollow = null;
    await Promise.all([...this.lists.values()].map((list) => list.following));
    this.lists.clear();
  }

  /** The list's top, when it is known to be no older than the class promises; else undefined: ask the shards. */
  latest(resolved: ResolvedList): RankSnapshot | undefined {
    if (!this.running) return undefined;
    const now = monotonicMs();
    const list = this.touch(resolved, now);
    if (now - list.markedAtMs >= MARK_EVERY_MS) this.mark(list, now);
    if (list.snapshot === null || now - list.currentAtMs > CURRENT_FOR_MS) return undefined;
    return list.snapshot;
  }

  /**
   * The last top that was seen, however old, for when the shards cannot be asked; its `asOfMs` says how old.
   * Undefined when this process never saw one, or forgot it for lists read later.
   */
  lastKnown(resolved: ResolvedList): RankSnapshot | undefined {
    return this.lists.peek(nameOfRef(refOf(resolved)))?.snapshot ?? undefined;
  }

  private touch(resolved: ResolvedList, now: number): CachedList {
    const ref = refOf(resolved);
    const key = nameOfRef(ref);
    const known = this.lists.get(key);
    const list = known ?? newList(ref, resolved);
    if (!known) this.lists.set(key, list);
    if (now - list.readAtMs > FOLLOWED_AFTER_READ_MS) {
      list.currentAtMs = -Infinity;
      list.hint = null;
      // What lies there was not ticked for long, and names change without a version: a tick comes first.
      list.checkedAtMs = now - CHECK_EVERY_MS + DELIVERY_ALLOWANCE_MS;
      void this.follow(list);
    }
    list.resolved = resolved;
    list.readAtMs = now;
    return list;
  }

  private mark(list: CachedList, now: number): void {
    list.markedAtMs = now;
    this.toMark.add(list);
    this.markTimer ??= setTimeout(() => void this.flushMarks(), MARK_BATCH_DELAY_MS);
  }

  private async flushMarks(): Promise<void> {
    this.markTimer = null;
    const lists = [...this.toMark];
    this.toMark.clear();
    try {
      await this.store.markInUse(
        lists.map((list) => list.ref),
        nowMs() + MARK_FOR_MS,
      );
    } catch {
      // Nothing is lost: the next read marks again, and an unmarked list is found behind and not served.
      for (const list of lists) list.markedAtMs = -Infinity;
    }
  }

  private hear(ref: ListRef, seq: number): void {
    const list = this.lists.peek(nameOfRef(ref));
    const now = monotonicMs();
    if (!list || !this.isFollowed(list, now)) return;
    list.hint = { seq, atMs: now };
    void this.follow(list);
  }

  private isFollowed(list: CachedList, now: number): boolean {
    return now - list.readAtMs <= FOLLOWED_AFTER_READ_MS;
  }

  private sweep(): void {
    const now = monotonicMs();
    let checks = 0;
    for (const list of this.lists.values()) {
      if (!this.isFollowed(list, now)) continue;
      if (list.readAtMs > list.markedAtMs && now - list.markedAtMs >= MARK_EVERY_MS) this.mark(list, now);
      if (now - list.checkedAtMs < CHECK_EVERY_MS || checks === CHECKS_PER_SWEEP_MAX) continue;
      checks += 1;
      list.checkedAtMs = now;
      void this.check(list);
    }
  }

  /** Takes what was published, one fetch at a time for each list; calls made meanwhile make it look once more. */
  private follow(list: CachedList): Promise<void> {
    list.followAgain = true;
    list.following ??= this.followUntilQuiet(list);
    return list.following;
  }

  private async followUntilQuiet(list: CachedList): Promise<void> {
    // Whoever called has it noted by then.
    await null;
    while (list.followAgain && this.running) {
      list.followAgain = false;
      try {
        await this.take(list);
      } catch {
        // The next hint or check tries again; until then the snapshot grows old and is served no more.
        break;
      }
    }
    // In the same turn as the last look, or a hint could slip in between and be missed.
    list.following = null;
  }

  private async take(list: CachedList): Promise<void> {
    const advance = await advanceSnapshot(this.store, list.ref, list.snapshot);
    if (advance !== null) list.snapshot = advance.snapshot;
    const { hint, snapshot } = list;
    // A snapshot without a hint may have lain there since the list was last in use: only a check calls it current.
    if (hint === null || snapshot === null || snapshot.seq < hint.seq) return;
    list.currentAtMs = Math.max(list.currentAtMs, hint.atMs);
    list.behindSinceMs = null;
    list.hint = null;
  }

  /** Compares the snapshot with the projection's version, the one proof that needs no hint. */
  private async check(list: CachedList): Promise<void> {
    await this.follow(list);
    try {
      const askedAtMs = monotonicMs();
      const { listVersion } = await list.resolved.ranks.total(list.resolved.list);
      if (list.snapshot?.listVersion === listVersion) {
        list.currentAtMs = askedAtMs;
        list.behindSinceMs = null;
        return;
      }
      list.behindSinceMs ??= askedAtMs;
      const patienceMs = list.resolved.board.definition.push.intervalMs + DELIVERY_ALLOWANCE_MS;
      if (askedAtMs - list.behindSinceMs > patienceMs) list.currentAtMs = -Infinity;
    } catch {
      // The store is away: see CURRENT_FOR_MS.
    }
  }
}

const refOf = ({ list: { boardUid, windowUid, scope } }: ResolvedList): ListRef => ({ boardUid, windowUid, scope });

const newList = (ref: ListRef, resolved: ResolvedList): CachedList => ({
  ref,
  resolved,
  snapshot: null,
  currentAtMs: -Infinity,
  hint: null,
  behindSinceMs: null,
  readAtMs: -Infinity,
  markedAtMs: -Infinity,
  checkedAtMs: -Infinity,
  following: null,
  followAgain: false,
});
