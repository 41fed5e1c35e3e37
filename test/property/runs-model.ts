import type { BoardDefinition } from '@laddercast/domain';

const HOUR_MS = 3_600_000;

/** What a run of the model is; `score` null takes the entry away. */
export interface ModelRun {
  id: string;
  playerId: string;
  isWall: boolean;
  /** Whether it was a submission, whose id is remembered. */
  isSubmitted: boolean;
  score: number | null;
  columns: number[];
  atMs: number;
  acceptedAtMs: number;
  metadata: string | null;
  windows: string[];
  voided: boolean;
  held: boolean;
}

export interface ModelEntry {
  score: number;
  columns: number[];
  achievedAtMs: number;
  metadata: string | null;
}

/** Every run of a board in the order of acceptance; an entry is what those that count come to, computed as plainly as possible. */
export class RunsModel {
  readonly runs: ModelRun[] = [];
  /** What stood before runs were kept, by window and player. */
  readonly bases = new Map<string, ModelEntry>();

  constructor(readonly definition: BoardDefinition) {}

  entry(
    window: string,
    playerId: string,
    nowMs: number,
    without: ReadonlySet<ModelRun> = new Set(),
  ): ModelEntry | null {
    let entry = this.bases.get(`${window} ${playerId}`) ?? null;
    for (const run of this.runs) {
      if (run.playerId !== playerId || !run.windows.includes(window) || run.voided || run.held || without.has(run))
        continue;
      const has = !window.startsWith('rolling:') || hourOf(run.atMs) > hourOf(nowMs) - Number.parseInt(window.slice(8));
      if (run.isWall) entry = has && run.score !== null ? entryOfRun(run) : null;
      else if (has) entry = this.after(entry, run);
    }
    return entry;
  }

  private after(entry: ModelEntry | null, run: ModelRun): ModelEntry {
    const own = entryOfRun(run);
    if (entry === null) return own;
    const { operator } = this.definition;
    if (operator === 'latest') return run.atMs >= entry.achievedAtMs ? own : entry;
    if (operator === 'best') return this.isBetter(own, entry) ? own : entry;
    if (own.score === 0) return entry;
    return {
      score: Math.max(-Number.MAX_VALUE, Math.min(Number.MAX_VALUE, entry.score + own.score)) + 0,
      columns: [],
      achievedAtMs: Math.max(entry.achievedAtMs, own.achievedAtMs),
      metadata: own.metadata ?? entry.metadata,
    };
  }

  private isBetter(a: ModelEntry, b: ModelEntry): boolean {
    const { order, columns, tiebreak } = this.definition;
    const pairs: [number, number, boolean][] = [
      [a.score, b.score, order === 'desc'],
      ...columns.map((column, at): [number, number, boolean] => [
        a.columns[at]!,
        b.columns[at]!,
        column.order === 'desc',
      ]),
    ];
    for (const [own, other, isDescending] of pairs) if (own !== other) return own > other === isDescending;
    if (tiebreak === 'none') return false;
    return tiebreak === 'earliest' ? a.achievedAtMs < b.achievedAtMs : a.achievedAtMs > b.achievedAtMs;
  }
}

/** Below 0 where the first stands before the second, 0 where the board's order does not tell. */
export function betterFirst(
  { order, columns, tiebreak }: BoardDefinition,
  a: Pick<ModelRun, 'score' | 'columns' | 'atMs'>,
  b: Pick<ModelRun, 'score' | 'columns' | 'atMs'>,
): number {
  const directed = (descends: boolean, difference: number): number => (descends ? -difference : difference);
  const byScore = directed(order === 'desc', a.score! - b.score!);
  if (byScore !== 0) return byScore;
  for (const [at, column] of columns.entries()) {
    const byColumn = directed(column.order === 'desc', a.columns[at]! - b.columns[at]!);
    if (byColumn !== 0) return byColumn;
  }
  return tiebreak === 'none' ? 0 : directed(tiebreak === 'latest', a.atMs - b.atMs);
}

const hourOf = (ms: number): number => Math.floor(ms / HOUR_MS);

const entryOfRun = ({ score, columns, atMs, metadata }: ModelRun): ModelEntry => ({
  score: score! + 0,
  columns,
  achievedAtMs: atMs,
  metadata,
});
