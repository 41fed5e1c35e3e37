import { entryOfKey, foldRunEntries, sortedStanding, type StandingRun } from '@laddercast/domain';
import type { SqlRunner } from '../database/postgres-database.js';
import { prepared } from '../database/postgres-statements.js';
import { isRunOfSql } from '../entries/run-keys-sql.js';
import { eachRun, keptRunOf, stateOf, type FoldedRuns } from './run-folds.js';

/** A row of `run_bases` that is the entry of one run; those of a window and player have one position. */
interface BaseRow {
  windowUid: number;
  key: string;
  position: number;
  score: number;
  columns: number[];
  achievedAtMs: number;
  metadata: string | null;
}

const READ_BASES = prepared(`
  SELECT window_uid AS "windowUid", player_id AS key, position, score, columns, achieved_at_ms AS "achievedAtMs", metadata
  FROM run_bases
  WHERE ${isRunOfSql('$2')} AND window_uid = ANY ($1::int[])
    AND position >= $3`);

/** What runs that are kept no longer left of a player in windows where each run is an entry. */
export interface RunEntryBases {
  /** By window, the best first; absent: nothing. */
  standing: Map<number, readonly StandingRun[]>;
  /** By window: up to which position. */
  basedOn: Map<number, number>;
}

export async function readRunEntryBases(
  transaction: SqlRunner,
  { board, playerId, windows }: Pick<FoldedRuns, 'board' | 'playerId' | 'windows'>,
): Promise<RunEntryBases> {
  const uids = windows.map(({ uid }) => uid);
  const rows = await transaction.query<BaseRow>(READ_BASES, [uids, playerId, board.runsFrom]);
  const runs = new Map<number, StandingRun[]>();
  const basedOn = new Map<number, number>();
  for (const row of rows) {
    const run = { entryId: entryOfKey(row.key).entryId!, state: stateOf(row, 0) };
    runs.set(row.windowUid, [...(runs.get(row.windowUid) ?? []), run]);
    basedOn.set(row.windowUid, Math.max(row.position, basedOn.get(row.windowUid) ?? 0));
  }
  const sorted = [...runs].map(([uid, ofWindow]) => [uid, sortedStanding(board.definition, ofWindow)] as const);
  return { standing: new Map(sorted), basedOn };
}

/**
 * As `foldedEntries`, where each run is an entry: the best first, each with the position of its run as `version`, 0 where it
 * is kept no longer.
 */
export async function foldedRunEntries(
  transaction: SqlRunner,
  folded: FoldedRuns,
): Promise<Map<number, readonly StandingRun[]>> {
  const { standing, basedOn } = await readRunEntryBases(transaction, folded);
  const { definition } = folded.board;
  await eachRun(transaction, folded, basedOn, (run, { uid }) => {
    standing.set(uid, foldRunEntries(definition, standing.get(uid) ?? [], keptRunOf(run), run.submissionId));
  });
  return standing;
}
