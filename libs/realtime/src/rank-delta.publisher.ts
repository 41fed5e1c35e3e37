import { keptAfterEndMs } from '@laddercast/ledger';
import { monotonicMs, nowMs, sleep } from '@laddercast/platform';
import type { ListRef, SnapshotStore } from '@laddercast/projections';
import type { ListResolver, ResolvedList } from '@laddercast/queries';
import { RateLimitedLog } from './rate-limited-log.js';
import type { SnapshotTick, TickedSnapshot } from './snapshot-tick.js';
import { slotOf, type TickSlots } from './tick-slots.js';

/** The most lists that are ticked; more than that wait until others fall out of use. */
export const TICKED_LISTS_MAX = 10_000;

const STEP_MS = 10;
const LOOK_UP_EVERY_MS = 250;
/** How long a list waits after a tick that failed, or that could not complete its rows. */
const TRY_AGAIN_MS = 250;
/** How long a board's definition and existence are taken as known. */
const RESOLVED_FOR_MS = 1000;
const TICKS_AT_ONCE = 32;
/** A tick that takes longer gives its place to another list; its own list still waits for it. */
const TICK_PLACE_MS = 2000;
const STOP_WAIT_MS = 5000;

interface TickedList {
  ref: ListRef;
  slot: number;
  resolved: ResolvedList | null;
  resolvedAtMs: number;
  /** The board's revision at the last tick: a new definition may show more or fewer rows. */
  revision: number | null;
  last: TickedSnapshot | null | undefined;
  dueAtMs: number;
  running: Promise<void> | null;
  startedAtMs: number;
}

/**
 * Ticks every list in use at its board's `push.intervalMs`, and publishes a snapshot, a numbered delta and one hint
 * when the list changed, also when the change is below its top (player channels hang on the hint).
 * Runs in any number of processes: they share the lists by slots, and where two tick one list only one can publish.
 * A failing tick is logged and tried at the next; ticks of one list never overlap.
 */
export class RankDeltaPublisher {
  private readonly lists = new Map<string, TickedList>();
  private readonly failures = new RateLimitedLog(RankDeltaPublisher.name);
  private loop: { done: Promise<void>; stop: AbortController } | null = null;
  private lookedUpAtMs = -Infinity;
  private lookingUp: Promise<void> | null = null;
  private advanced = 0;

  constructor(
    private readonly store: SnapshotStore,
    private readonly resolver: ListResolver,
    private readonly tick: SnapshotTick,
    private readonly slots: TickSlots,
  ) {}

  start(): void {
    if (this.loop) return;
    const stop = new AbortController();
    this.loop = { stop, done: this.run(stop.signal) };
  }

  /** Ends the loop, and waits (at most five seconds) for the ticks that are under way. */
  async stop(): Promise<void> {
    const loop = this.loop;
    if (!loop) return;
    this.loop = null;
    loop.stop.abort();
    await loop.done;
    const running = [...this.lists.values()].map((list) => list.running);
    await Promise.race([Promise.all([...running, this.lookingUp]), sleep(STOP_WAIT_MS)]);
    this.lists.clear();
    this.lookedUpAtMs = -Infinity;
  }

  /** For metrics: lists in use, and ticks since the start that found the list changed. */
  stats(): { lists: number; advanced: number } {
    return { lists: this.lists.size, advanced: this.advanced };
  }

  private async run(stopped: AbortSignal): Promise<void> {
    while (!stopped.aborted) {
      const now = monotonicMs();
      if (now - this.lookedUpAtMs >= LOOK_UP_EVERY_MS && !this.lookingUp) {
        this.lookedUpAtMs = now;
        this.lookingUp = this.lookUp().finally(() => (this.lookingUp = null));
      }
      this.startDueTicks(now);
      await sleep(STEP_MS, stopped);
    }
  }

  private async lookUp(): Promise<void> {
    try {
      const refs = await this.store.listsInUse(nowMs(), TICKED_LISTS_MAX);
      const inUse = new Set<string>();
      for (const ref of refs) {
        const key = `${ref.boardUid}.${ref.windowUid}`;
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
    try {
      const resolved = await this.resolve(list);
      if (resolved === null) return;
      const { revision, definition } = resolved.board;
      const { intervalMs } = definition.push;
      // At a fixed rate, without making up for ticks that were missed.
      list.dueAtMs = Math.max(list.dueAtMs, list.startedAtMs - intervalMs / 2) + intervalMs;
      const before = list.last;
      const state = { last: before, seqFloor: before?.seq ?? 0 };
      const force = list.revision !== null && list.revision !== revision;
      list.last = await this.tick.run(resolved, state, { force });
      list.revision = revision;
      if (list.last !== before) this.advanced += 1;
      else if (list.last.isPartial) list.dueAtMs = Math.max(list.dueAtMs, monotonicMs() + TRY_AGAIN_MS);
    } catch (error) {
      list.dueAtMs = Math.max(list.dueAtMs, monotonicMs() + TRY_AGAIN_MS);
      this.failures.warn('A tick failed', error);
    }
  }

  /** The list with its board as it is now; null when it is not ticked: its board is gone, or its window's keys may be. */
  private async resolve(list: TickedList): Promise<ResolvedList | null> {
    const now = monotonicMs();
    if (list.resolved && now - list.resolvedAtMs < RESOLVED_FOR_MS) return list.resolved;
    try {
      const resolved = await this.resolver.byRef(list.ref);
      list.resolved = resolved && isKept(resolved) ? resolved : null;
      list.resolvedAtMs = now;
    } catch (error) {
      // PostgreSQL is away: what was known of the board is still true, and nothing new can have been stored.
      if (!list.resolved) throw error;
    }
    if (list.resolved === null) list.dueAtMs = now + RESOLVED_FOR_MS;
    return list.resolved;
  }
}

/** Whether the projection still has the window; without this its last snapshot would be followed by an empty one. */
const isKept = ({ window, board }: ResolvedList): boolean =>
  window.endsAtMs === null || nowMs() < window.endsAtMs + keptAfterEndMs(board.definition) - RESOLVED_FOR_MS;

const newTickedList = (ref: ListRef): TickedList => ({
  ref,
  slot: slotOf(ref),
  resolved: null,
  resolvedAtMs: -Infinity,
  revision: null,
  last: undefined,
  dueAtMs: -Infinity,
  running: null,
  startedAtMs: -Infinity,
});
