import { Inject, Injectable } from '@nestjs/common';
import { PostgresDatabase, type SqlRunner } from '../database/postgres-database.js';
import { tryEach } from '../database/try-each.js';

const CHUNK_ROWS = 5000;

/**
 * The position before which all is to go: where a board keeps runs again, what it keeps begins there; of one that keeps
 * none, all that it kept came before its last change.
 */
const BOARDS_WITH_RUNS_LEFT = `
  SELECT board_uid AS uid, coalesce(runs_from, revision) AS "endPosition" FROM boards
  WHERE runs_left AND board_id IS NOT NULL ORDER BY board_uid LIMIT 1000`;

const DELETE_RUNS = `
  DELETE FROM runs WHERE board_uid = $1 AND position < $2 AND position <= (
    SELECT max(position) FROM (SELECT position FROM runs WHERE board_uid = $1 AND position < $2
      ORDER BY position LIMIT ${CHUNK_ROWS}) AS first)
  RETURNING 1`;

/** By key: one that is written anew meanwhile, with a later position, is another one. */
const DELETE_BASES = `
  DELETE FROM run_bases AS b USING (
    SELECT r.window_uid, r.player_id FROM windows AS w JOIN run_bases AS r USING (window_uid)
    WHERE w.board_uid = $1 AND r.position < $2 LIMIT ${CHUNK_ROWS}) AS old
  WHERE b.window_uid = old.window_uid AND b.player_id = old.player_id AND b.position < $2 RETURNING 1`;

const NOTE_DELETED = `
  UPDATE boards SET runs_left = false WHERE board_uid = $1 AND coalesce(runs_from, revision) = $2`;

interface EndedBoard {
  uid: number;
  endPosition: number;
}

/**
 * Deletes the runs and bases of boards that stopped keeping runs, a chunk at a time. Nothing reads them any more, also where
 * the board keeps runs again: what it keeps has later positions.
 */
@Injectable()
export class EndedRuns {
  constructor(@Inject(PostgresDatabase) private readonly database: SqlRunner) {}

  /** @throws AggregateError of what failed; it holds up no other board */
  async run(signal: AbortSignal): Promise<void> {
    const boards = await this.database.query<EndedBoard>(BOARDS_WITH_RUNS_LEFT);
    await tryEach(boards, signal, async ({ uid, endPosition }) => {
      await inChunks(signal, () => this.database.query(DELETE_RUNS, [uid, endPosition]));
      await inChunks(signal, () => this.database.query(DELETE_BASES, [uid, endPosition]));
      if (!signal.aborted) await this.database.query(NOTE_DELETED, [uid, endPosition]);
    });
  }
}

async function inChunks(signal: AbortSignal, deleteSome: () => Promise<unknown[]>): Promise<void> {
  while (!signal.aborted && (await deleteSome()).length === CHUNK_ROWS);
}
