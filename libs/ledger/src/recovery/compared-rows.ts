import type { SqlRunner } from '../database/postgres-database.js';
import type { RankedRow } from '../entries/entry-rows.js';

/** A row of the ledger that lists are compared with. */
export interface ComparedRow extends RankedRow {
  /** The guild's id where `isGuild` says so. */
  playerId: string;
  isGuild: boolean;
  lane: number;
  version: number;
}

/** How many rows are compared at once. */
export const COMPARED_AT_ONCE = 1000;

const FACTS = 'lane, version, removed, score, achieved_at_ms AS "achievedAtMs"';
const OF_PLAYERS = `player_id AS "playerId", false AS "isGuild", ${FACTS}, columns, scopes, left_scopes AS "leftScopes",
  patch_runs AS "patchRuns"`;
const OF_GUILDS = `guild_id AS "playerId", true AS "isGuild", ${FACTS}, '{}'::float8[] AS columns, '{}'::int[] AS scopes,
  '{}'::int[] AS "leftScopes", NULL::jsonb AS "patchRuns"`;

/** A page of a window's rows in the order of their ids, after one; at most `limit`. */
export function comparedPage(
  database: SqlRunner,
  windowUid: number,
  isGuild: boolean,
  after: string,
  limit = COMPARED_AT_ONCE,
): Promise<ComparedRow[]> {
  const sql = isGuild
    ? `SELECT ${OF_GUILDS} FROM guild_totals WHERE window_uid = $1 AND guild_id > $2 ORDER BY guild_id LIMIT $3`
    : `SELECT ${OF_PLAYERS} FROM projected_entries WHERE window_uid = $1 AND player_id > $2 ORDER BY player_id LIMIT $3`;
  return database.query<ComparedRow>(sql, [windowUid, after, limit]);
}

/** The rows of some players, or guilds, of a window, by their ids. */
export async function comparedRowsOf(
  database: SqlRunner,
  windowUid: number,
  isGuild: boolean,
  ids: readonly string[],
): Promise<Map<string, ComparedRow>> {
  const [table, id, columns] = isGuild
    ? ['guild_totals', 'guild_id', OF_GUILDS]
    : ['projected_entries', 'player_id', OF_PLAYERS];
  const rows = await database.query<ComparedRow>(
    `SELECT e.* FROM unnest($2::text[]) AS k (id) CROSS JOIN LATERAL (
       SELECT ${columns} FROM ${table} WHERE window_uid = $1 AND ${id} = k.id LIMIT 1) AS e`,
    // PostgreSQL's text holds no NUL, so that there is no such row.
    [windowUid, ids.filter((one) => !one.includes('\0'))],
  );
  return new Map(rows.map((row) => [row.playerId, row]));
}
