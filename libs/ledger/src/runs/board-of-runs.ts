import {
  LadderError,
  withBoardDefaults,
  type BoardDefinition,
  type Layouts,
  type PatchFamily,
} from '@laddercast/domain';
import type { SqlRunner } from '../database/postgres-database.js';
import { patchFamily } from '../patches/patch-families.js';

/** A board that keeps runs, as a transaction under a lane sees it. */
export interface BoardOfRuns {
  uid: number;
  definition: BoardDefinition;
  runsFrom: number;
  /** On boards with decay, with {@link layouts}: what their entries are taxed by. */
  patches?: PatchFamily;
  layouts?: Layouts;
}

interface BoardRow {
  uid: number;
  definition: BoardDefinition;
  runsFrom: number | null;
  familyUid: number | null;
  layouts: Layouts;
}

const BOARD = `
  SELECT board_uid AS uid, definition, runs_from AS "runsFrom", family_uid AS "familyUid", layouts
  FROM boards WHERE board_id = $1`;

/** @throws BOARD_NOT_FOUND, RUNS_NOT_KEPT */
export async function boardOfRuns(sql: SqlRunner, boardId: string): Promise<BoardOfRuns> {
  const [row] = await sql.query<BoardRow>(BOARD, [boardId]);
  if (!row) throw new LadderError('BOARD_NOT_FOUND', `There is no board "${boardId}".`);
  const { uid, runsFrom, familyUid, layouts } = row;
  if (runsFrom === null) throw runsNotKept(boardId);
  const board = { uid, runsFrom, definition: withBoardDefaults(row.definition) };
  const patches = familyUid === null ? undefined : await patchFamily(sql, familyUid);
  return patches ? { ...board, patches, layouts } : board;
}

/** What is said of a board that keeps no runs. */
export const runsNotKept = (boardId: string): LadderError =>
  new LadderError(
    'RUNS_NOT_KEPT',
    `Board "${boardId}" keeps no runs: put "runs": { "keepDays": 90 } into its definition; it keeps those from then on.`,
  );
