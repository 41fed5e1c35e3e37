import { foldRunEntries, keyOfEntry } from '@laddercast/domain';
import { int4Array, textArray } from '../database/postgres-arrays.js';
import type { SqlRunner } from '../database/postgres-database.js';
import type { BoardOfRuns } from './board-of-runs.js';
import { readRunEntryBases } from './run-entry-folds.js';
import { keptRunOf } from './run-folds.js';
import type { FoldedBase, RunPrefix } from './run-prefixes.js';
import { DELETE_RUN_BASES } from './run-pruning-sql.js';

/**
 * As `foldPrefixes`, where each run is an entry: of a window and player the best `entriesPerPlayerMax` of what is kept no longer,
 * each under the key of its entry. Of all that was before, no other can be among the best again, whatever becomes of later
 * runs. The bases that there were are deleted: they are among these, or pushed out.
 */
export async function foldedRunBases(
  transaction: SqlRunner,
  board: BoardOfRuns,
  prefixes: readonly RunPrefix[],
): Promise<FoldedBase[]> {
  const folded: FoldedBase[] = [];
  const places: { windowUid: number; playerId: string }[] = [];
  for (const { playerId, runs } of prefixes) {
    const position = runs.at(-1)!.position;
    const uids = [...new Set(runs.flatMap(({ windowUids }) => windowUids))];
    const windows = uids.map((uid) => ({ uid, firstHour: null }));
    const { standing } = await readRunEntryBases(transaction, { board, playerId, windows });
    for (const run of runs) {
      for (const uid of run.windowUids) {
        const before = standing.get(uid) ?? [];
        standing.set(uid, foldRunEntries(board.definition, before, keptRunOf(run), run.submissionId));
      }
    }
    for (const windowUid of uids) {
      places.push({ windowUid, playerId });
      for (const { entryId, state } of standing.get(windowUid) ?? []) {
        folded.push({ windowUid, playerId: keyOfEntry({ playerId, entryId }), position, state });
      }
    }
  }
  await transaction.query(DELETE_RUN_BASES, [
    int4Array(places.map(({ windowUid }) => windowUid)),
    textArray(places.map(({ playerId }) => playerId)),
  ]);
  return folded;
}
