import { RankSketch } from '@laddercast/domain';
import { monotonicMs, nowMs, sleep } from '@laddercast/platform';
import { LRUCache } from 'lru-cache';
import { Injectable, Optional } from '@nestjs/common';
import { AnsweredVersions } from '../ranks/answered-versions.js';
import type { RankList } from '../ranks/rank-projection.js';
import { NoReplica, ReplicaReads } from './replica-reads.js';
import { SketchBuilder } from './sketch-builder.js';
import { isSameVersion, type SketchStamp, SketchStore, type StoredSketch } from './sketch-store.js';
import { nameOfRef } from '../ranks/snapshot-store.js';

/** A list as it was sketched. */
export interface ListSketch extends SketchStamp {
  sketch: RankSketch;
}

/** Whether ranks can be told by a sketch: by that of an empty list everybody would be first, and nothing would say how wrong. */
export const saysRanks = ({ sketch }: { sketch: Pick<RankSketch, 'total'> }): boolean => sketch.total > 0;

/** The most lists kept, some 100 KB each; the one used longest ago makes room. */
const LISTS_MAX = 500;
/** A list that nobody used for this long is followed no more. */
const FOLLOWED_FOR_MS = 30_000;
/** A sketch that could not be confirmed for this long says nothing any more. */
const USABLE_FOR_MS = 30_000;
const LOOK_EVERY_MS = 1000;
/** Sketches that one look fetches or makes; the others wait for the next. */
const FETCHES_PER_LOOK_MAX = 64;
const FETCHES_AT_ONCE = 8;
/** A sketch that nobody published or confirmed for this long is made by this process. */
const OVERDUE_MS = 5000;
const MARK_EVERY_MS = 10_000;
/** A mark holds for the uses that come until the next one may be made, too. */
const MARK_FOR_MS = FOLLOWED_FOR_MS + MARK_EVERY_MS;
/** How long who asks first waits for the first sketch. */
const FIRST_WAIT_MS = 100;

interface CachedList {
  list: RankList;
  sketch: ListSketch | null;
  /** When the sketch was last heard to be the list's; monotonic milliseconds like all times here. */
  confirmedAtMs: number;
  usedAtMs: number;
  markedAtMs: number;
  fetchedAtMs: number;
  fetching: Promise<void> | null;
}

/**
 * Sketches of the lists in use, in this process's memory: asking them costs no I/O.
 *
 * How old one is: about two seconds at most, made once a second by whoever ticks the list and looked for once a second
 * here; where nobody does, this process makes it every five. While the store is away the last one serves for thirty
 * seconds, with its `asOfMs`.
 */
@Injectable()
export class SketchCache {
  private readonly lists = new LRUCache<string, CachedList>({ max: LISTS_MAX });
  /** Of estimates, also of lists that made room. */
  private readonly answered = new AnsweredVersions();
  private timer: NodeJS.Timeout | null = null;
  private looking: Promise<void> | null = null;

  constructor(
    private readonly store: SketchStore,
    private readonly builder: SketchBuilder,
    @Optional() private readonly replica: ReplicaReads = new NoReplica(),
  ) {}

  /** Follows the lists in use until {@link stop}. */
  start(): void {
    this.timer ??= setInterval(() => void this.look(), LOOK_EVERY_MS);
  }

  async stop(): Promise<void> {
    if (this.timer) clearInterval(this.timer);
    this.timer = null;
    await this.looking;
    await Promise.all([...this.lists.values()].map((one) => one.fetching));
    this.lists.clear();
  }

  /**
   * The list's sketch. Who asks first, or for the first time in a while, waits for it, a tenth of a second at most.
   * @returns null when there is none that is not too old; it never throws
   */
  async get(list: RankList): Promise<ListSketch | null> {
    const now = monotonicMs();
    const { cached, wasFollowed } = this.touch(list, now);
    const known = usable(cached, now);
    if (known && wasFollowed) return this.answer(list, known);
    if (cached.fetching === null && now - cached.fetchedAtMs >= LOOK_EVERY_MS) this.fetch(cached);
    const waitMs = cached.fetchedAtMs + FIRST_WAIT_MS - now;
    if (cached.fetching === null || waitMs <= 0) return this.answer(list, known);
    const over = new AbortController();
    await Promise.race([cached.fetching, sleep(waitMs, over.signal)]);
    over.abort();
    return this.answer(list, usable(cached, monotonicMs()));
  }

  /** None of an earlier version than one before, also where the list has made room since. */
  private answer(list: RankList, sketch: ListSketch | null): ListSketch | null {
    if (sketch === null || sketch.listVersion < this.answered.newest(list)) return null;
    this.answered.note(list, sketch.listVersion, nowMs());
    return sketch;
  }

  /** For metrics: the age of the oldest sketch among lists in use, in seconds; 0 when there is none. */
  oldestSeconds(): number {
    const now = monotonicMs();
    const followed = [...this.lists.values()].filter(({ usedAtMs }) => now - usedAtMs <= FOLLOWED_FOR_MS);
    const asOf = followed.flatMap(({ sketch }) => (sketch ? [sketch.asOfMs] : []));
    return asOf.reduce((oldest, asOfMs) => Math.max(oldest, (nowMs() - asOfMs) / 1000), 0);
  }

  /** @returns also whether it was looked for lately: what is known of a list that nobody used may be long past */
  private touch(list: RankList, now: number): { cached: CachedList; wasFollowed: boolean } {
    const name = nameOfRef(list);
    const known = this.lists.get(name);
    const cached = known ?? newList(list);
    if (!known) this.lists.set(name, cached);
    const wasFollowed = now - cached.usedAtMs <= FOLLOWED_FOR_MS;
    cached.list = list;
    cached.usedAtMs = now;
    return { cached, wasFollowed };
  }

  private look(): Promise<void> {
    this.looking ??= this.lookOnce()
      // The store is away: see USABLE_FOR_MS.
      .catch(() => undefined)
      .finally(() => (this.looking = null));
    return this.looking;
  }

  private async lookOnce(): Promise<void> {
    const now = monotonicMs();
    const followed = [...this.lists.values()].filter(({ usedAtMs }) => now - usedAtMs <= FOLLOWED_FOR_MS);
    await this.mark(followed, now);
    const stamps = await Promise.all(followed.map(({ list }) => this.stampOf(list)));
    const changed = followed.filter((cached, at) => !confirm(cached, stamps[at]!, now));
    changed.sort((a, b) => a.fetchedAtMs - b.fetchedAtMs);
    const fetched = changed.slice(0, FETCHES_PER_LOOK_MAX);
    const fetchNext = async (): Promise<void> => {
      for (let next = fetched.pop(); next !== undefined; next = fetched.pop()) await this.fetch(next);
    };
    await Promise.all(Array.from({ length: FETCHES_AT_ONCE }, fetchNext));
  }

  /** They travel together, of however many lists. */
  private stampOf(list: RankList): Promise<SketchStamp | null> {
    const first = async (stamps: Promise<(SketchStamp | null)[]>): Promise<SketchStamp | null> => (await stamps)[0]!;
    return this.replica.read(
      'sketch',
      list,
      ({ sketches }) => first(sketches.stamps([list])),
      () => first(this.store.stamps([list])),
    );
  }

  private async mark(lists: readonly CachedList[], now: number): Promise<void> {
    const due = lists.filter(({ markedAtMs }) => now - markedAtMs >= MARK_EVERY_MS);
    await this.store.markInUse(
      due.map(({ list }) => list),
      nowMs() + MARK_FOR_MS,
    );
    for (const cached of due) cached.markedAtMs = now;
  }

  /** Takes what is published, or makes it where that is too old; one at a time for each list. */
  private fetch(cached: CachedList): Promise<void> {
    cached.fetchedAtMs = monotonicMs();
    cached.fetching ??= this.fetchOnce(cached)
      // The next look tries again.
      .catch(() => undefined)
      .finally(() => (cached.fetching = null));
    return cached.fetching;
  }

  private async fetchOnce(cached: CachedList): Promise<void> {
    const { list } = cached;
    const published = await this.replica.read(
      'sketch',
      list,
      async ({ sketches }) => this.notBehind(list, inTime(await sketches.read(list))),
      () => this.ofMaster(list),
    );
    if (published) take(cached, published);
  }

  /** A replica may show what was published before what was answered, or of lists that serve no more. */
  private notBehind(list: RankList, stored: StoredSketch | null): StoredSketch | null {
    const isBehind = stored?.generation !== list.generation || stored.listVersion < this.answered.newest(list);
    return isBehind ? null : stored;
  }

  /** What is published, or what this process makes where that is too old. */
  private async ofMaster(list: RankList): Promise<StoredSketch | null> {
    const stored = await this.store.read(list);
    if (inTime(stored)) return stored;
    const askedAtMs = nowMs();
    const made = await this.builder.renew(list, stored);
    return made ?? (stored && { ...stored, asOfMs: askedAtMs });
  }
}

/** A sketch that somebody published or confirmed of late; null: it is to be made. */
const inTime = (stored: StoredSketch | null): StoredSketch | null =>
  stored !== null && nowMs() - stored.asOfMs <= OVERDUE_MS ? stored : null;

/** The cached sketch where it may be used still. */
const usable = ({ sketch, confirmedAtMs }: CachedList, now: number): ListSketch | null =>
  now - confirmedAtMs <= USABLE_FOR_MS ? sketch : null;

/** Notes that what is published is what is cached, however often it was confirmed; false when it must be fetched. */
function confirm(cached: CachedList, stamp: SketchStamp | null, now: number): boolean {
  const { sketch } = cached;
  if (sketch === null || stamp === null || !isSameVersion(sketch, stamp)) return false;
  if (stamp.asOfMs > sketch.asOfMs) {
    cached.sketch = { ...sketch, asOfMs: stamp.asOfMs };
    cached.confirmedAtMs = now;
  }
  return now - cached.confirmedAtMs < OVERDUE_MS;
}

/** Takes a sketch, unless it is older than what is known. */
function take(cached: CachedList, { shards, doubt = 0, ...stamp }: StoredSketch): void {
  const known = cached.sketch;
  if (known && !isNewer(stamp, known)) return;
  if (known && isSameVersion(known, stamp)) {
    cached.sketch = { ...known, asOfMs: stamp.asOfMs };
  } else {
    cached.sketch = { ...stamp, sketch: new RankSketch(shards, doubt) };
  }
  cached.confirmedAtMs = monotonicMs();
}

/** By versions first, as where they are published: the clocks of who makes them differ. */
function isNewer(stamp: SketchStamp, known: SketchStamp): boolean {
  if (stamp.generation !== known.generation) return stamp.generation > known.generation;
  if (stamp.listVersion !== known.listVersion) return stamp.listVersion > known.listVersion;
  return stamp.asOfMs > known.asOfMs;
}

const newList = (list: RankList): CachedList => ({
  list,
  sketch: null,
  confirmedAtMs: -Infinity,
  usedAtMs: -Infinity,
  markedAtMs: -Infinity,
  fetchedAtMs: -Infinity,
  fetching: null,
});
