import type { SqlRunner } from '../database/postgres-database.js';

const PAGE_ROWS = 5000;

/** A page of a window's entries: the last of them, and every scope that ranks one of them or did. */
const SCOPES_SQL = `
  WITH page AS MATERIALIZED (
    SELECT player_id, scopes || left_scopes AS scopes FROM entries
    WHERE window_uid = $1 AND player_id > $2 ORDER BY player_id LIMIT ${PAGE_ROWS})
  SELECT (SELECT max(player_id) FROM page) AS last, ARRAY(SELECT DISTINCT unnest(scopes) FROM page) AS scopes`;

/** Every scope that ranks an entry of a window, or did. Pages of entries are read. */
export async function scopesOfWindow(database: SqlRunner, windowUid: number): Promise<Set<number>> {
  const scopes = new Set<number>();
  for (let from: string | null = ''; from !== null;) {
    const [page]: { last: string | null; scopes: number[] }[] = await database.query(SCOPES_SQL, [windowUid, from]);
    for (const scope of page!.scopes) scopes.add(scope);
    from = page!.last;
  }
  return scopes;
}
