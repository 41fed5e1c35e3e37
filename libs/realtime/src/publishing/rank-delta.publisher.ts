import { GUILDS_SCOPE, LadderError } from '@laddercast/domain';
import { metrics, monotonicMs, nowMs, RateLimitedLog, sleep } from '@laddercast/platform';
import { nameOfRef, type Announcement, Announcements, type ListRef, SnapshotStore } from '@laddercast/projections';
import { ListResolver, type ResolvedList } from '@laddercast/queries';
import { Injectable } from '@nestjs/common';
import { readableUntilMs } from './readable-until.js';
import { RenamedPlayers, type Renamed } from './renamed-players.js';
import { SnapshotTick, type TickedSnapshot } from './snapshot-tick.js';
import { slotOf, TickSlots } from './tick-slots.js';

/** The most lists that are ticked; more than that wait until others fall out of use. */
export const TICKED_LISTS_MAX = 10_000;

const STEP_MS = 10;
const LOOK_UP_EVERY_MS = 250;
/** How long a list waits after a tick that failed, or that could not complete its rows. */
const TRY_AGAIN_MS = 250;
/** How long a board's definition and existence are taken as known. */
const RESOLVED_FOR_MS = 1000;
const TICKS_AT_ONCE = 32;
/** A tick that takes longer frees its place for another list; its own list still waits for it. */
const TICK_PLACE_MS = 2000;
const STOP_WAIT_MS = 5000;

interface TickedList {
  ref: ListRef;
  slot: number;
  resolved: ResolvedList | null;
  resolvedAtMs: number;
  /** Until when `resolved` holds, by the ledger's time, Unix ms. */
  readableUntilMs: number;
  /** The board's revision at the last tick: a new definition may show other rows. */
  revision: number | null;
  /** Whether names in it may have changed. */
  readAnew: boolean;
  last: TickedSnapshot | null | undefined;
  dueAtMs: number;
  running: Promise<void> | null;
  startedAtMs: number;
  /** When the last successful tick began; before the first, when the list came into use. */
  confirmedAtMs: number;
}

/**
 * Ticks every list in use at its board's `push.intervalMs`, and publishes a snapshot, a numbered delta and one hint
 * when the list or a name in it changed, also when the change is below its top (watched rows hang on the hint).
 * Runs in any number of processes: they share the lists by slots, and where two tick one list only one can publish.
 * A failing tick is logged and tried at the next; ticks of one list never overlap.
 */
@Injectable()
export class RankDeltaPublisher {
  private readonly lists = new Map<string, TickedList>();
  private readonly failures = new RateLimitedLog(RankDeltaPublisher.name);
  private loop: { done: Promise<void>; stop: AbortController } | null = null;
  private lookedUpAtMs = -Infinity;
  private lookingUp: Promise<void> | null = null;
  private advanced = 0;
  private readonly renamed = new RenamedPlayers();
  private unfollow: (() => void) | null = null;

  constructor(
    private readonly store: SnapshotStore,
    private readonly resolver: ListResolver,
    private readonly tick: SnapshotTick,
    private readonly slots: TickSlots,
    private readonly announcements: Announcements,
  ) {}

  start(): void {
    if (this.loop) return;
    const stop = new AbortController();
    this.loop = { stop, done: this.run(stop.signal) };
    this.unfollow = this.announcements.onAnnounced((announcement) => this.hear(announcement));
  }

  /** Ends the loop, and waits (at most five seconds) for the ticks that are under way. */
  async stop(): Promise<void> {
    const loop = this.loop;
    if (!loop) return;
    this.loop = null;
    loop.stop.abort();
    this.unfollow?.();
    await loop.done;
    const running = [...this.lists.values()].map((list) => list.running);
    await Promise.race([Promise.all([...running, this.lookingUp]), sleep(STOP_WAIT_MS)]);
    this.lists.clear();
    this.lookedUpAtMs = -Infinity;
  }

  /**
   * For metrics: lists in use, ticks since the start that found the list changed, and for how many seconds at most a list
   * that is ticked here has waited for a tick to confirm its snapshot.
   */
  stats(): { lists: number; advanced: number; unconfirmedSeconds: number } {
    const now = monotonicMs();
    let waited = 0;
    for (const { slot, confirmedAtMs } of this.lists.values()) {
      if (this.slots.holds(slot)) waited = Math.max(waited, now - confirmedAtMs);
    }
    return { lists: this.lists.size, advanced: this.advanced, unconfirmedSeconds: waited / 1000 };
  }

  private async run(stopped: AbortSignal): Promise<void> {
    while (!stopped.aborted) {
      const now = monotonicMs();
      if (now - this.lookedUpAtMs >= LOOK_UP_EVERY_MS && !this.lookingUp) {
        this.lookedUpAtMs = now;
        this.markRenamed(now);
        this.lookingUp = this.lookUp().finally(() => (this.lookingUp = null));
      }
      this.startDueTicks(now);
      await sleep(this.restMs(now), stopped);
    }
  }

  /** Until there may be something to do again; while lists are looked up no longer than it must: a new one is ticked at once. */
  private restMs(now: number): number {
    let restMs = this.lookingUp ? 0 : this.lookedUpAtMs + LOOK_UP_EVERY_MS - now;
    for (const { dueAtMs, running, slot } of this.lists.values()) {
      if (restMs <= STEP_MS) break;
      if (running || this.slots.holds(slot)) restMs = Math.min(restMs, dueAtMs - now);
    }
    return Math.max(STEP_MS, restMs);
  }

  private hear(announcement: Announcement | null): void {
    this.tick.hear(announcement);
    this.renamed.add(announcement);
  }

  private markRenamed(now: number): void {
    const renamed = this.renamed.take();
    if (renamed === null) return;
    for (const list of this.lists.values()) {
      if (!mayShow(list, renamed)) continue;
      list.readAnew = true;
      list.dueAtMs = Math.min(list.dueAtMs, now);
    }
  }

  private async lookUp(): Promise<void> {
    try {
      const refs = await this.store.listsInUse(nowMs(), TICKED_LISTS_MAX);
      const inUse = new Set<string>();
      for (const ref of refs) {
        const key = nameOfRef(ref);
        inUse.add(key);
        if (!this.lists.has(key)) this.lists.set(key, newTickedList(ref));
      }
      for (const [key, list] of this.lists) if (!inUse.has(key) && !list.running) this.lists.delete(key);
      if (refs.length === TICKED_LISTS_MAX) {
        this.failures.warn('Too many lists are in use', `only ${TICKED_LISTS_MAX} of them are ticked`);
      }
    } catch (error) {
      this.failures.warn('Lists in use cannot be looked up', error);
    }
  }

  private startDueTicks(now: number): void {
    let free = TICKS_AT_ONCE;
    const due: TickedList[] = [];
    for (const list of this.lists.values()) {
      if (list.running) free -= now - list.startedAtMs < TICK_PLACE_MS ? 1 : 0;
      else if (list.dueAtMs <= now && this.slots.holds(list.slot)) due.push(list);
    }
    if (due.length > free) due.sort((a, b) => a.dueAtMs - b.dueAtMs);
    for (const list of due.slice(0, Math.max(0, free))) {
      list.startedAtMs = now;
      list.running = this.runTick(list).finally(() => (list.running = null));
    }
  }

  private async runTick(list: TickedList): Promise<void> {
    let renamed = false;
    try {
      const resolved = await this.resolve(list);
      if (resolved === null) return void (list.confirmedAtMs = list.startedAtMs);
      const { revision, definition } = resolved.board;
      const { intervalMs } = definition.push;
      const lateMs = list.startedAtMs - list.dueAtMs;
      // At a fixed rate; missed ticks are not made up for.
      list.dueAtMs = Math.max(list.dueAtMs, list.startedAtMs - intervalMs / 2) + intervalMs;
      const before = list.last;
      const state = { last: before, seqFloor: before?.seq ?? 0 };
      // Names that change from here on are for the next tick.
      renamed = list.readAnew;
      list.readAnew = false;
      const readAnew = renamed || (list.revision !== null && list.revision !== revision);
      list.last = await this.tick.run(resolved, state, { readAnew, isHeld: () => this.isHeld(list) });
      list.revision = revision;
      noteTick(list, lateMs, intervalMs);
      if (list.last !== before) this.advanced += 1;
      else if (list.last.isPartial) list.dueAtMs = Math.max(list.dueAtMs, monotonicMs() + TRY_AGAIN_MS);
    } catch (error) {
      list.readAnew ||= renamed;
      list.dueAtMs = Math.max(list.dueAtMs, monotonicMs() + TRY_AGAIN_MS);
      // Waiting for standings to be written is no failure.
      if (isBehind(error)) return;
      metrics.tickFailures.inc();
      this.failures.warn('A tick failed', error);
    }
  }

  /** Whether the list may have to be read from elsewhere by now. */
  private isHeld(list: TickedList): boolean {
    return this.resolver.clock.latestMs() >= list.readableUntilMs;
  }

  /** The list with its board as it is now; null when it is not ticked: its board is gone. */
  private async resolve(list: TickedList): Promise<ResolvedList | null> {
    const now = monotonicMs();
    if (list.resolved && !this.isHeld(list) && now - list.resolvedAtMs < RESOLVED_FOR_MS) return list.resolved;
    try {
      list.resolved = (await this.resolver.byRef(list.ref)) ?? null;
      list.readableUntilMs = list.resolved ? readableUntilMs(list.resolved) : Infinity;
      list.resolvedAtMs = now;
    } catch (error) {
      // PostgreSQL is away: until the window freezes or ends the known list still holds, and nothing new can have been
      // stored.
      if (!list.resolved || this.isHeld(list)) throw error;
    }
    if (list.resolved === null) list.dueAtMs = now + RESOLVED_FOR_MS;
    return list.resolved;
  }
}

/** @param lateMs how much later than due it began; endless for the first, which was never due */
function noteTick(list: TickedList, lateMs: number, intervalMs: number): void {
  const tookMs = monotonicMs() - list.startedAtMs;
  metrics.tickSeconds.observe(tookMs / 1000);
  if (tookMs > intervalMs || (lateMs > intervalMs && lateMs !== Infinity)) metrics.tickOverruns.inc();
  list.confirmedAtMs = list.startedAtMs;
}

const isBehind = (error: unknown): boolean => error instanceof LadderError && error.code === 'PROJECTION_BEHIND';

/** Whether the list's top may show one of those whose name or listing changed. */
function mayShow({ ref, last }: TickedList, { players, guilds }: Renamed): boolean {
  const ids = ref.scope === GUILDS_SCOPE ? guilds : players;
  if (ids === null || last === undefined || last === null) return true;
  if (ids.size === 0) return false;
  // A place without a row belongs to a player who was not listed, and may be now.
  return last.entries.length < last.depth || last.entries.some(({ playerId }) => ids.has(playerId));
}

const newTickedList = (ref: ListRef): TickedList => ({
  ref,
  slot: slotOf(ref),
  resolved: null,
  resolvedAtMs: -Infinity,
  readableUntilMs: Infinity,
  revision: null,
  // Names may have changed while nobody looked.
  readAnew: true,
  last: undefined,
  dueAtMs: -Infinity,
  running: null,
  startedAtMs: -Infinity,
  confirmedAtMs: monotonicMs(),
});
