import type { BoardOrdering } from '@laddercast/domain';
import {
  entryOfRuns,
  guildScoreOf,
  naiveDailyStroke,
  naiveWindow,
  SortedArrayOracle,
  type NaiveWindow,
  type OracleRun as Run,
} from '@laddercast/testing';

/** A board's rules, as far as the history needs them. */
export interface HistoryRules {
  operator: 'best' | 'latest' | 'sum';
  zone: string;
  graceMs: number;
  season: { id: string; startsAtMs: number; endsAtMs: number };
  rollingHours: number;
  aggregate: { kind: 'sum' | 'average' | 'top'; k: number | null; onLeave: 'keep' | 'takeAway' };
}

export interface HistoryProfile {
  region: string | null;
  country: string | null;
  guild: string | null;
}

interface HistoryEntry {
  runs: Run[];
  scopes: string[];
}

interface HistoryWindow extends NaiveWindow {
  entries: Map<string, HistoryEntry>;
  /** `guild/player` → what the player had when it left. */
  kept: Map<string, Run>;
}

/** A row as a list shows it: whose, and how much. */
export type HistoryRow = [name: string, score: number];

const HOUR_MS = 3_600_000;
const ROLLING = 'rolling';
const hourOf = (atMs: number): number => Math.floor(atMs / HOUR_MS);

/** Higher is better, then earlier. */
const ORDERING: BoardOrdering = { order: 'desc', operator: 'best', tiebreak: 'earliest', columns: [] };

/** What a board must show, computed from everything that happened to it, as plainly as it can be said. */
export class BoardHistory {
  readonly windows = new Map<string, HistoryWindow>();
  private readonly profiles = new Map<string, HistoryProfile>();

  constructor(readonly rules: HistoryRules) {}

  /** The full ids of the windows that take a run, in no order. */
  submit(playerId: string, score: number, atMs: number, nowMs: number, isSet = false): string[] {
    const open = this.windowsAt(atMs).filter(({ endsAtMs }) => nowMs < endsAtMs + this.rules.graceMs);
    const rolls = Math.floor(atMs / HOUR_MS) > Math.floor(nowMs / HOUR_MS) - this.rules.rollingHours;
    if (rolls) open.push({ id: `${ROLLING}:${this.rules.rollingHours}h`, startsAtMs: 0, endsAtMs: Infinity });
    for (const bounds of open) {
      const window = this.windows.get(bounds.id) ?? { ...bounds, entries: new Map(), kept: new Map() };
      this.windows.set(bounds.id, window);
      const entry = window.entries.get(playerId) ?? { runs: [], scopes: this.scopesOf(playerId) };
      // What came before a set matters no more, whatever its time.
      if (isSet) entry.runs = [];
      entry.runs.push({ score, columns: [], achievedAtMs: atMs });
      if (nowMs < window.endsAtMs) entry.scopes = this.scopesOf(playerId);
      window.entries.set(playerId, entry);
    }
    return open.map(({ id }) => id);
  }

  change(playerId: string, profile: HistoryProfile, nowMs: number): void {
    const before = this.profileOf(playerId);
    for (const window of this.windows.values()) {
      const entry = window.entries.get(playerId);
      if (nowMs >= window.endsAtMs) continue;
      // What has left a rolling window is nobody's any more.
      const value = entry && !window.id.startsWith(ROLLING) && this.valueOf(window, entry, nowMs);
      if (before.guild !== profile.guild && this.rules.aggregate.onLeave === 'keep') {
        if (before.guild !== null && value) window.kept.set(`${before.guild}/${playerId}`, value);
        if (profile.guild !== null) window.kept.delete(`${profile.guild}/${playerId}`);
      }
    }
    this.profiles.set(playerId, profile);
    for (const window of this.windows.values()) {
      const entry = window.entries.get(playerId);
      if (entry && nowMs < window.endsAtMs) entry.scopes = this.scopesOf(playerId);
    }
  }

  profileOf(playerId: string): HistoryProfile {
    return this.profiles.get(playerId) ?? { region: null, country: null, guild: null };
  }

  /** The rows of a window in a scope (`global`, `region:EU`), best first. */
  rows(windowId: string, scope: string, nowMs: number): HistoryRow[] {
    const window = this.windows.get(windowId);
    if (!window) return [];
    return inOrder(
      [...window.entries].flatMap(([playerId, entry]): [string, Run][] => {
        const value = scope === 'global' || entry.scopes.includes(scope) ? this.valueOf(window, entry, nowMs) : null;
        return value ? [[playerId, value]] : [];
      }),
    );
  }

  /** The rows of the list of guilds. */
  guilds(windowId: string, nowMs: number): HistoryRow[] {
    const window = this.windows.get(windowId);
    if (!window) return [];
    const parts = new Map<string, Run[]>();
    const add = (guild: string, part: Run): void => void parts.set(guild, [...(parts.get(guild) ?? []), part]);
    for (const entry of window.entries.values()) {
      const guild = entry.scopes.find((scope) => scope.startsWith('guild:'))?.slice(6);
      const value = this.valueOf(window, entry, nowMs);
      if (guild !== undefined && value) add(guild, value);
    }
    for (const [key, part] of window.kept) add(key.split('/')[0]!, part);
    return inOrder([...parts].map(([guild, of]) => [guild, this.aggregate(of)]));
  }

  private aggregate(parts: Run[]): Run {
    const score = guildScoreOf(
      this.rules.aggregate,
      ORDERING.order,
      parts.map((part) => part.score),
    );
    return { score, columns: [], achievedAtMs: Math.max(...parts.map((part) => part.achievedAtMs)) };
  }

  private valueOf(window: NaiveWindow, { runs }: HistoryEntry, nowMs: number): Run | null {
    const first = Math.floor(nowMs / HOUR_MS) - this.rules.rollingHours + 1;
    const isRolling = window.id.startsWith(ROLLING);
    const counted = isRolling ? runs.filter(({ achievedAtMs }) => hourOf(achievedAtMs) >= first) : runs;
    if (counted.length === 0) return null;
    const ordering = { ...ORDERING, operator: this.rules.operator };
    const isAddedByHour = isRolling && ordering.operator === 'sum';
    return entryOfRuns(ordering, isAddedByHour ? hoursOf(counted).map((of) => entryOfRuns(ordering, of)) : counted);
  }

  private windowsAt(atMs: number): NaiveWindow[] {
    const { zone, season } = this.rules;
    const kinds = (['daily', 'weekly', 'monthly'] as const).map((kind) => naiveWindow(kind, zone, atMs));
    const isSeason = season.startsAtMs <= atMs && atMs < season.endsAtMs;
    return [
      { id: 'alltime', startsAtMs: 0, endsAtMs: Infinity },
      ...kinds,
      naiveDailyStroke('02:30', zone, atMs),
      ...(isSeason ? [season] : []),
    ];
  }

  private scopesOf(playerId: string): string[] {
    const { region, country, guild } = this.profileOf(playerId);
    return [
      ...(region === null ? [] : [`region:${region}`]),
      ...(country === null ? [] : [`country:${country}`]),
      ...(guild === null ? [] : [`guild:${guild}`]),
    ];
  }
}

/** Runs by the hour that they were made in, the oldest hour first, each hour in the order in which they came. */
function hoursOf(runs: readonly Run[]): Run[][] {
  const hours = new Map<number, Run[]>();
  for (const run of runs) {
    const hour = hourOf(run.achievedAtMs);
    hours.set(hour, [...(hours.get(hour) ?? []), run]);
  }
  return [...hours].sort(([a], [b]) => a - b).map(([, ofHour]) => ofHour);
}

function inOrder(values: [string, Run][]): HistoryRow[] {
  const entries = values.map(([playerId, run]) => ({ ...run, playerId }));
  return SortedArrayOracle.of(ORDERING, entries).entries.map(({ playerId, score }) => [playerId, score]);
}
