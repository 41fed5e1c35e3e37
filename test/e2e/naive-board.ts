import type { RankStyle, SortOrder, Tiebreak } from '@laddercast/domain';

/** What decides a board's order, as its definition says it. */
export interface NaiveBoard {
  order: SortOrder;
  operator: 'best' | 'latest' | 'sum';
  tiebreak: Tiebreak;
  columns: { name: string; order: SortOrder }[];
}

export interface NaiveRun {
  playerId: string;
  score: number;
  columns: Record<string, number>;
  atMs: number;
}

const sign = (order: SortOrder): number => (order === 'asc' ? 1 : -1);
const compareNumbers = (a: number, b: number): number => (a < b ? -1 : a > b ? 1 : 0);
const zeroed = (value: number): number => (value === 0 ? 0 : value);

/** Negative when `a` is better by score and columns; a column that is missing is worse than any. */
export function compareValues(
  { order, columns }: NaiveBoard,
  a: Pick<NaiveRun, 'score' | 'columns'>,
  b: Pick<NaiveRun, 'score' | 'columns'>,
): number {
  const byScore = sign(order) * compareNumbers(a.score, b.score);
  if (byScore !== 0) return byScore;
  for (const column of columns) {
    const worst = sign(column.order) * Infinity;
    const valueOf = (columns: Record<string, number>): number =>
      Object.hasOwn(columns, column.name) ? columns[column.name]! : worst;
    const [left, right] = [valueOf(a.columns), valueOf(b.columns)];
    const byColumn = sign(column.order) * compareNumbers(left, right);
    if (byColumn !== 0) return byColumn;
  }
  return 0;
}

function compareTimes({ tiebreak }: NaiveBoard, a: NaiveRun, b: NaiveRun): number {
  if (tiebreak === 'none') return 0;
  return (tiebreak === 'earliest' ? 1 : -1) * compareNumbers(a.atMs, b.atMs);
}

/** The entries after the runs, in the order in which they were submitted; the best first. */
export function naiveEntries(board: NaiveBoard, runs: readonly NaiveRun[]): NaiveRun[] {
  const entries = new Map<string, NaiveRun>();
  for (const given of runs) {
    const columns = Object.fromEntries(Object.entries(given.columns).map(([name, value]) => [name, zeroed(value)]));
    const run = { ...given, score: zeroed(given.score), columns };
    const entry = entries.get(run.playerId);
    if (entry === undefined) entries.set(run.playerId, run);
    else if (board.operator === 'sum') {
      if (run.score === 0) continue;
      const total = { score: zeroed(entry.score + run.score), atMs: Math.max(entry.atMs, run.atMs) };
      entries.set(run.playerId, { ...entry, ...total });
    } else if (board.operator === 'latest') {
      if (run.atMs >= entry.atMs) entries.set(run.playerId, run);
    } else if ((compareValues(board, run, entry) || compareTimes(board, run, entry)) < 0) {
      entries.set(run.playerId, run);
    }
  }
  return [...entries.values()].sort(
    (a, b) =>
      compareValues(board, a, b) ||
      compareTimes(board, a, b) ||
      Buffer.compare(Buffer.from(a.playerId), Buffer.from(b.playerId)),
  );
}

/** The rank of the entry at a 0-based index. */
export function naiveRank(board: NaiveBoard, entries: readonly NaiveRun[], index: number, style: RankStyle): number {
  return style === 'ordinal' ? index + 1 : rankOfValues(board, entries, entries[index]!, style);
}

/** The rank that these values would get now, submitted by somebody who has no entry. */
export function naiveRankOf(
  board: NaiveBoard,
  entries: readonly NaiveRun[],
  values: Pick<NaiveRun, 'score' | 'columns'>,
  style: RankStyle,
): number {
  if (style !== 'ordinal') return rankOfValues(board, entries, values, style);
  const isBefore = (compared: number): boolean => (board.tiebreak === 'latest' ? compared < 0 : compared <= 0);
  return 1 + entries.filter((entry) => isBefore(compareValues(board, entry, values))).length;
}

function rankOfValues(
  board: NaiveBoard,
  entries: readonly NaiveRun[],
  values: Pick<NaiveRun, 'score' | 'columns'>,
  style: 'competition' | 'dense',
): number {
  const better = entries.filter((entry) => compareValues(board, entry, values) < 0);
  if (style === 'competition') return 1 + better.length;
  return 1 + better.filter((entry, at) => at === 0 || compareValues(board, better[at - 1]!, entry) !== 0).length;
}
