import {
  isPatchScope,
  patchesBehind,
  patchIdOf,
  patchOfScope,
  type KeptPatchRun,
  type RankedEntry,
  type TaxedFrom,
} from '@laddercast/domain';
import type { ProjectedEntry } from '@laddercast/projections';
import type { ResolvedList } from '../lists/list-resolver.js';

/** What an entry's score is made of, on a board with decay; undefined on others. In the list of a patch no score is taxed. */
export function taxedFromOf(
  { list }: Pick<ResolvedList, 'list'>,
  entry: Pick<ProjectedEntry, 'score' | 'taxedFrom'>,
): TaxedFrom | undefined {
  if (isPatchScope(list.scope)) return { rawScore: entry.score, patch: patchOfScope(list.scope) };
  return entry.taxedFrom;
}

/** What rows of a board with decay say beside their score. */
export type TaxOfRow = Required<Pick<RankedEntry, 'rawScore' | 'patch' | 'patchesBehind'>>;

/** What a row says of its tax. */
export function taxOfRow(
  { board, list }: Pick<ResolvedList, 'board' | 'list'>,
  { rawScore, patch }: TaxedFrom,
): TaxOfRow {
  const id = patchIdOf(board.patches!, patch) ?? String(patch);
  return { rawScore, patch: id, patchesBehind: list.tax ? patchesBehind(list.tax, patch) : 0 };
}

/** The run that an entry shows, among those that the ledger keeps of its player; undefined: there is a newer state. */
export const runShown = <Run extends KeptPatchRun>(
  taxedFrom: TaxedFrom,
  { columns, achievedAtMs }: Pick<ProjectedEntry, 'columns' | 'achievedAtMs'>,
  runs: readonly Run[],
): Run | undefined =>
  runs.find(
    (run) =>
      run.patch === taxedFrom.patch &&
      run.score === taxedFrom.rawScore &&
      columns.every((column, at) => column === run.columns[at]) &&
      (achievedAtMs ?? run.achievedAtMs) === run.achievedAtMs,
  );
