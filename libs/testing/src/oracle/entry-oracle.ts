import type { BoardOrdering } from '@laddercast/domain';
import { compareRuns, type OracleRun } from './sorted-array-oracle.js';

/**
 * What a player's runs come to on a board, as plainly as it can be said.
 * @param runs at least one, in the order in which they came
 */
export function entryOfRuns<Run extends OracleRun>(ordering: BoardOrdering, runs: readonly Run[]): Run {
  switch (ordering.operator) {
    case 'sum': {
      // A first 0 makes an entry; a later one changes nothing, its time neither.
      const added = runs.filter(({ score }, index) => index === 0 || score !== 0);
      const score = added.reduce((sum, run) => sum + run.score, 0);
      return { ...added[0]!, score, achievedAtMs: Math.max(...added.map(({ achievedAtMs }) => achievedAtMs)) };
    }
    case 'latest': {
      const latestMs = Math.max(...runs.map(({ achievedAtMs }) => achievedAtMs));
      return runs.filter(({ achievedAtMs }) => achievedAtMs === latestMs).at(-1)!;
    }
    case 'best':
      // The first of those that are equal: sorting keeps their order.
      return [...runs].sort((a, b) => compareRuns(ordering, a, b))[0]!;
  }
}
