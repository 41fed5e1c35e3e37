import type { SqlRunner } from '../database/postgres-database.js';
import { prepared } from '../database/postgres-statements.js';

/** Runs of one board that name one patch. */
export interface PatchUse {
  /** Of the patch that they name, also where it counts as another. */
  patchUid: number;
  boardUid: number;
  runs: number;
}

const COUNT_USES = prepared(`
  INSERT INTO patch_uses (board_uid, patch_uid, lane, runs)
  SELECT board_uid, patch_uid, $1::int, runs FROM unnest($2::int[], $3::int[], $4::bigint[]) AS u (board_uid, patch_uid, runs)
  ON CONFLICT (board_uid, patch_uid, lane) DO UPDATE SET runs = patch_uses.runs + excluded.runs`);

/**
 * Counts runs that name patches, in the transaction that accepts them and holds their lane: from then on nobody takes
 * the patches away. Of one board and patch there may be several.
 */
export async function countPatchUse(transaction: SqlRunner, lane: number, uses: readonly PatchUse[]): Promise<void> {
  if (uses.length === 0) return;
  const sums = new Map<string, PatchUse>();
  for (const use of uses) {
    const key = `${use.boardUid} ${use.patchUid}`;
    sums.set(key, { ...use, runs: use.runs + (sums.get(key)?.runs ?? 0) });
  }
  const all = [...sums.values()];
  await transaction.query(COUNT_USES, [
    lane,
    all.map(({ boardUid }) => boardUid),
    all.map(({ patchUid }) => patchUid),
    all.map(({ runs }) => runs),
  ]);
}

/** The board is gone, with its runs; in a transaction that holds all lanes. */
export async function forgetPatchUse(transaction: SqlRunner, boardUid: number): Promise<void> {
  await transaction.query('DELETE FROM patch_uses WHERE board_uid = $1', [boardUid]);
}
