import { entryOfRuns, SortedArrayOracle, type OracleRun } from '@laddercast/testing';

/** The rules of a board, as far as its order is concerned. */
export interface ModelRules {
  order: 'asc' | 'desc';
  operator: 'best' | 'latest' | 'sum';
  tiebreak: 'earliest' | 'latest' | 'none';
  columns: { name: string; order: 'asc' | 'desc' }[];
}

export interface ModelRun {
  score: number;
  columns: number[];
  atMs: number;
}

export const STYLES = ['ordinal', 'competition', 'dense'] as const;
export type Style = (typeof STYLES)[number];

/** A row of a list as it must be shown. */
export interface ModelRow extends ModelRun {
  playerId: string;
  ranks: Record<Style, number>;
}

/**
 * What a board must show, as plainly as it can be said: every run that counts is kept, an entry is worked out of them
 * anew each time, and a list is an array that is sorted by comparing values.
 */
export class RankModel {
  private readonly windows = new Map<string, Map<string, OracleRun[]>>();
  private readonly sorted = new Map<string, ModelRow[]>();

  constructor(
    readonly rules: ModelRules,
    readonly windowIds: readonly string[],
  ) {
    for (const id of windowIds) this.windows.set(id, new Map());
  }

  submit(playerId: string, run: ModelRun, windowIds: readonly string[]): void {
    for (const id of windowIds) {
      const runs = this.windows.get(id)!;
      runs.set(playerId, [...(runs.get(playerId) ?? []), clean(run)]);
    }
    this.sorted.clear();
  }

  /** An operator says what the entry is: what was before does not count any more. */
  set(playerId: string, run: ModelRun): void {
    for (const runs of this.windows.values()) runs.set(playerId, [clean(run)]);
    this.sorted.clear();
  }

  /** Whether there was anything to remove. */
  remove(playerId: string): boolean {
    this.sorted.clear();
    return [...this.windows.values()].map((runs) => runs.delete(playerId)).includes(true);
  }

  /** Keeps the best of every window. */
  trim(entriesMax: number): void {
    for (const id of this.windowIds) {
      for (const { playerId } of this.rows(id).slice(entriesMax)) this.windows.get(id)!.delete(playerId);
    }
    this.sorted.clear();
  }

  players(): string[] {
    return [...new Set([...this.windows.values()].flatMap((runs) => [...runs.keys()]))];
  }

  /** The list of a window, best first, with ranks in every style. */
  rows(windowId: string): ModelRow[] {
    const known = this.sorted.get(windowId);
    if (known) return known;
    const entries = [...this.windows.get(windowId)!].map(([playerId, runs]) => {
      const { score, ...entry } = entryOfRuns(this.rules, runs);
      return { playerId, ...entry, score: zero(score) };
    });
    const oracle = SortedArrayOracle.of(this.rules, entries);
    const rows = oracle.entries.map(({ playerId, score, columns, achievedAtMs }, index): ModelRow => {
      const ranks = { ordinal: index + 1, competition: 0, dense: 0 };
      for (const style of ['competition', 'dense'] as const) ranks[style] = oracle.rankAt(index, style);
      return { playerId, score, columns, atMs: achievedAtMs, ranks };
    });
    this.sorted.set(windowId, rows);
    return rows;
  }

  rowOf(windowId: string, playerId: string): ModelRow | undefined {
    return this.rows(windowId).find((row) => row.playerId === playerId);
  }

  /** The rank that a run of this score, with the worst columns, would get now; null where it depends on the very moment. */
  rankOfScore(windowId: string, score: number, style: Style): number | null {
    const rows = this.rows(windowId);
    const better = rows.filter((row) => this.compareScores(row.score, score) < 0);
    if (style === 'ordinal') {
      const { tiebreak, columns } = this.rules;
      const equal = rows.filter((row) => this.compareScores(row.score, score) === 0);
      const goesBefore = tiebreak === 'latest' && columns.length === 0;
      if (goesBefore && equal.some(({ atMs }) => atMs > Date.now() - 1000)) return null;
      return 1 + better.length + (goesBefore ? 0 : equal.length);
    }
    // What the columns are decides which distinct value it is.
    if (this.rules.columns.length > 0) return null;
    return 1 + (style === 'competition' ? better.length : new Set(better.map((row) => row.score)).size);
  }

  private compareScores(a: number, b: number): number {
    if (a === b) return 0;
    return a < b === (this.rules.order === 'asc') ? -1 : 1;
  }
}

/** −0 and 0 are one number. */
const zero = (value: number): number => (value === 0 ? 0 : value);
const clean = ({ score, columns, atMs }: ModelRun): OracleRun => ({
  score: zero(score),
  columns: columns.map(zero),
  achievedAtMs: atMs,
});
