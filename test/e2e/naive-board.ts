import type { BoardOrdering, RankStyle, SortOrder, Tiebreak } from '@laddercast/domain';
import {
  compareValues as compareOfOracle,
  entryOfRuns,
  SortedArrayOracle,
  type OracleValues,
} from '@laddercast/testing';

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

type Values = Pick<NaiveRun, 'score' | 'columns'>;

const zeroed = (value: number): number => (value === 0 ? 0 : value);

/** The values of a run as the oracle has them; a column that is missing is worse than any. */
const valuesOf = (board: NaiveBoard, { score, columns }: Values): { score: number; columns: number[] } => ({
  score: zeroed(score),
  columns: board.columns.map(({ name, order }) =>
    Object.hasOwn(columns, name) ? zeroed(columns[name]!) : order === 'asc' ? Infinity : -Infinity,
  ),
});

const oracleRunOf = (board: NaiveBoard, run: NaiveRun): OracleValues & { run: NaiveRun } => ({
  playerId: run.playerId,
  achievedAtMs: run.atMs,
  ...valuesOf(board, run),
  run,
});

/** Negative when `a` is better by score and columns; a column that is missing is worse than any. */
export const compareValues = (board: NaiveBoard, a: Values, b: Values): number =>
  compareOfOracle(board satisfies BoardOrdering, valuesOf(board, a), valuesOf(board, b));

/** The entries after the runs, in the order in which they were submitted; the best first. */
export function naiveEntries(board: NaiveBoard, runs: readonly NaiveRun[]): NaiveRun[] {
  const byPlayer = new Map<string, ReturnType<typeof oracleRunOf>[]>();
  for (const run of runs) {
    const ofPlayer = byPlayer.get(run.playerId) ?? [];
    byPlayer.set(run.playerId, ofPlayer);
    ofPlayer.push(oracleRunOf(board, run));
  }
  const entries = new Map([...byPlayer].map(([playerId, ofPlayer]) => [playerId, entryOfRuns(board, ofPlayer)]));
  return SortedArrayOracle.of(board, entries.values()).entries.map(({ playerId, score, achievedAtMs }) => {
    const { columns } = entries.get(playerId)!.run;
    const shown = Object.entries(columns).map(([name, value]) => [name, zeroed(value)]);
    return { playerId, score: zeroed(score), columns: Object.fromEntries(shown), atMs: achievedAtMs };
  });
}

const oracleOf = (board: NaiveBoard, entries: readonly NaiveRun[]): SortedArrayOracle =>
  SortedArrayOracle.of(
    board,
    entries.map((entry) => oracleRunOf(board, entry)),
  );

/** The rank of the entry at a 0-based index. */
export const naiveRank = (board: NaiveBoard, entries: readonly NaiveRun[], index: number, style: RankStyle): number =>
  style === 'ordinal' ? index + 1 : naiveRankOf(board, entries, entries[index]!, style);

/** The rank that these values would get now, submitted by somebody who has no entry. */
export function naiveRankOf(board: NaiveBoard, entries: readonly NaiveRun[], values: Values, style: RankStyle): number {
  if (style !== 'ordinal') return oracleOf(board, entries).rankOfValues(valuesOf(board, values), style);
  const isBefore = (compared: number): boolean => (board.tiebreak === 'latest' ? compared < 0 : compared <= 0);
  return 1 + entries.filter((entry) => isBefore(compareValues(board, entry, values))).length;
}
