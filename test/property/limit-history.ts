import type { BoardLimits, BoardOrdering, Operator, SortOrder, Tiebreak } from '@laddercast/domain';
import { entryOfRuns, SortedArrayOracle } from '@laddercast/testing';

/** A board's rules, as far as the history needs them. */
export interface LimitRules {
  order: SortOrder;
  operator: Operator;
  tiebreak: Tiebreak;
  windows: string[];
  graceMs: number;
  limits: BoardLimits;
}

interface Run {
  score: number;
  atMs: number;
}

/** Absent from a window's entries: the player never had one, or it was removed. */
interface Entry {
  /** Since the player came, or came back. */
  runs: Run[];
  renewedAtMs: number;
}

interface Window {
  endsAtMs: number;
  entries: Map<string, Entry>;
  attempts: Map<string, number[]>;
}

export type Standing = [player: string, score: number, atMs: number];

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const hourOf = (ms: number): number => Math.floor(ms / HOUR_MS);
const rollingHoursOf = (windowId: string): number => Number(/^rolling:(\d+)h$/.exec(windowId)?.[1] ?? Infinity);

/** What a board with limits must hold, computed from everything that happened to it, as plainly as it can be said. */
export class LimitHistory {
  readonly windows = new Map<string, Window>();

  constructor(readonly rules: LimitRules) {}

  /** The windows that take the run, or the code that it is refused with. */
  submit(player: string, run: Run, nowMs: number): string[] | string {
    const { attemptsMax } = this.rules.limits;
    const open = this.open(run.atMs, nowMs);
    if (open.length === 0) return 'WINDOW_CLOSED';
    const taking = open.filter((id) => attemptsMax === null || this.attempts(id, player, nowMs) < attemptsMax);
    if (taking.length === 0) return 'ATTEMPTS_EXHAUSTED';
    for (const id of taking) {
      const window = this.window(id);
      const entry = window.entries.get(player) ?? { runs: [], renewedAtMs: nowMs };
      entry.runs.push(run);
      entry.renewedAtMs = nowMs;
      window.entries.set(player, entry);
      if (attemptsMax !== null) window.attempts.set(player, [...(window.attempts.get(player) ?? []), run.atMs]);
    }
    return taking;
  }

  override(player: string, score: number | null, nowMs: number): void {
    for (const id of this.open(nowMs, nowMs)) {
      if (score === null) this.window(id).entries.delete(player);
      else this.window(id).entries.set(player, { runs: [{ score, atMs: nowMs }], renewedAtMs: nowMs });
    }
  }

  redefine(limits: BoardLimits, nowMs: number): void {
    const begins = this.rules.limits.entryLifetimeSeconds === null && limits.entryLifetimeSeconds !== null;
    this.rules.limits = limits;
    if (!begins) return;
    for (const { entries } of this.windows.values()) for (const entry of entries.values()) entry.renewedAtMs = nowMs;
  }

  /** The hours that have left rolling windows take their runs with them. */
  roll(nowMs: number): void {
    for (const [id, { entries }] of this.windows) {
      for (const [player, entry] of entries) {
        entry.runs = entry.runs.filter(({ atMs }) => counts(id, atMs, nowMs));
        if (entry.runs.length === 0) entries.delete(player);
      }
    }
  }

  limit(nowMs: number): void {
    const { entriesMax, entryLifetimeSeconds } = this.rules.limits;
    for (const [id, { endsAtMs, entries }] of this.windows) {
      if (endsAtMs <= nowMs) continue;
      for (const [player, { renewedAtMs }] of entries) {
        if (renewedAtMs + 1000 * (entryLifetimeSeconds ?? Infinity) <= nowMs) entries.delete(player);
      }
      for (const [player] of this.standings(id).slice(entriesMax ?? Infinity)) entries.delete(player);
    }
  }

  standings(id: string): Standing[] {
    const ordering: BoardOrdering = { ...this.rules, columns: [] };
    const entries = [...(this.windows.get(id)?.entries ?? [])].map(([playerId, { runs }]) => ({
      ...entryOfRuns(
        ordering,
        runs.map(({ score, atMs }) => ({ score, columns: [], achievedAtMs: atMs })),
      ),
      playerId,
    }));
    return SortedArrayOracle.of(ordering, entries).entries.map(({ playerId, score, achievedAtMs }): Standing => [
      playerId,
      score,
      achievedAtMs,
    ]);
  }

  private attempts(id: string, player: string, nowMs: number): number {
    return (this.windows.get(id)?.attempts.get(player) ?? []).filter((atMs) => counts(id, atMs, nowMs)).length;
  }

  private open(atMs: number, nowMs: number): string[] {
    const day = `daily:${new Date(atMs).toISOString().slice(0, 10)}`;
    const endsAtMs = DAY_MS * (1 + Math.floor(atMs / DAY_MS));
    return this.rules.windows.flatMap((name) => {
      if (name !== 'daily') return counts(name, atMs, nowMs) ? [name] : [];
      return nowMs < endsAtMs + this.rules.graceMs ? [day] : [];
    });
  }

  private window(id: string): Window {
    const endsAtMs = id.startsWith('daily:') ? Date.parse(id.slice('daily:'.length)) + DAY_MS : Infinity;
    const window = this.windows.get(id) ?? { endsAtMs, entries: new Map(), attempts: new Map() };
    this.windows.set(id, window);
    return window;
  }
}

/** Whether a run of that time is within what a window still holds. */
const counts = (id: string, atMs: number, nowMs: number): boolean => hourOf(atMs) > hourOf(nowMs) - rollingHoursOf(id);
