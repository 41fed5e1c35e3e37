import type { RunRecorded } from '@laddercast/domain';
import type { SqlRunner } from '../database/postgres-database.js';
import { appendEvent, nextPosition } from '../lanes/lane-events.js';

/** A submitted run of a living board that has runs examined; `held` as it is now. */
const PRESENT_RUN = `
  SELECT r.submission_id AS "submissionId", r.kind, r.held, r.score, r.columns, r.achieved_at_ms AS "achievedAtMs",
    floor(extract(epoch FROM r.accepted_at) * 1000)::float8 AS "acceptedAtMs", r.window_uids AS "windowUids", r.metadata,
    r.proof, r.verified, r.source_id AS "sourceId", r.patch_uid AS patch
  FROM runs r JOIN boards b USING (board_uid)
  WHERE r.board_uid = $1 AND r.player_id = $2 AND r.position = $3 AND r.kind IN ('run', 'set') AND b.board_id IS NOT NULL
    AND b.definition -> 'integrity' <> 'null'`;

interface PresentRun extends Omit<RunRecorded, 'type' | 'boardUid' | 'playerId' | 'position' | 'patch'> {
  patch: number | null;
}

/**
 * Tells the log of a run as it is now, in its player's lane, which the transaction holds.
 * @returns whether it did: only of submitted runs of living boards that have runs examined
 */
export async function tellRunNow(
  transaction: SqlRunner,
  lane: number,
  { boardUid, playerId, position }: { boardUid: number; playerId: string; position: number },
): Promise<boolean> {
  const parameters = [boardUid, playerId, position];
  const [found] = await transaction.query<PresentRun>(PRESENT_RUN, parameters);
  if (!found) return false;
  const { patch, ...run } = found;
  const ofPatch = patch !== null && { patch };
  const event: RunRecorded = { type: 'run-recorded', boardUid, playerId, position, ...run, ...ofPatch };
  await appendEvent(transaction, lane, await nextPosition(transaction), playerId, event);
  return true;
}
