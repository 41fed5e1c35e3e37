import type { SqlRunner } from '../database/postgres-database.js';

/** The most rows that one statement deletes. */
const CHUNK_ROWS = 5000;

/**
 * Deletes an edition: rows first, a chunk at a time, the edition that names them last.
 * @returns whether it came to the end
 */
export async function deleteEdition(database: SqlRunner, editionUid: number, signal?: AbortSignal): Promise<boolean> {
  for (const table of ['standings', 'edition_changes', 'edition_scopes']) {
    if (!(await deleteInChunks(database, table, 'edition_uid', editionUid, signal))) return false;
  }
  await database.query('DELETE FROM editions WHERE edition_uid = $1', [editionUid]);
  return true;
}

/** Deletes what a window that has ended needs no more of its freeze. */
export async function deleteFrozenRows(database: SqlRunner, windowUid: number): Promise<void> {
  const editions = await database.query<{ edition_uid: number }>(
    `SELECT edition_uid FROM editions WHERE window_uid = $1 AND kind = 'frozen'`,
    [windowUid],
  );
  for (const { edition_uid } of editions) await deleteEdition(database, edition_uid);
  await deleteInChunks(database, 'frozen_entries', 'window_uid', windowUid);
}

/** Forgets the attempts in a window that takes no more runs. */
export async function deleteAttempts(database: SqlRunner, windowUid: number): Promise<void> {
  await deleteInChunks(database, 'attempts', 'window_uid', windowUid);
}

async function deleteInChunks(
  database: SqlRunner,
  table: string,
  column: string,
  uid: number,
  signal?: AbortSignal,
): Promise<boolean> {
  while (!signal?.aborted) {
    const rows = await database.query(
      `DELETE FROM ${table} WHERE ctid IN (SELECT ctid FROM ${table} WHERE ${column} = $1 LIMIT ${CHUNK_ROWS}) RETURNING 1`,
      [uid],
    );
    if (rows.length < CHUNK_ROWS) return true;
  }
  return false;
}
