import type { SqlRunner } from '../database/postgres-database.js';
import { prepared } from '../database/postgres-statements.js';

/** The columns of a row beside its rank: of a player's run, of a guild's total, or of either in standings. */
export interface RunDetailsRow {
  /** The guild's id for a guild. */
  player_id: string;
  score: number;
  /** null: guilds have none. */
  columns: number[] | null;
  achieved_at_ms: number;
  /** JSON text. */
  metadata: string | null;
  /** null: not a guild. */
  members: number | null;
}

const RUNS_SQL = prepared(`
  SELECT e.player_id, e.score, e.columns, e.achieved_at_ms, e.metadata, NULL::int AS members
  FROM unnest($2::text[]) AS k (player_id)
  CROSS JOIN LATERAL (SELECT * FROM entries WHERE window_uid = $1 AND player_id = k.player_id LIMIT 1) AS e`);

const TOTALS_SQL = prepared(`
  SELECT t.guild_id AS player_id, t.score, NULL::float8[] AS columns, t.achieved_at_ms, NULL AS metadata, t.members
  FROM unnest($2::text[]) AS k (guild_id)
  CROSS JOIN LATERAL (SELECT * FROM guild_totals WHERE window_uid = $1 AND guild_id = k.guild_id LIMIT 1) AS t`);

const STANDINGS_SQL = prepared(`
  SELECT s.player_id, s.score, s.columns, s.achieved_at_ms, s.metadata, s.members
  FROM unnest($3::text[]) AS k (player_id)
  CROSS JOIN LATERAL (
    SELECT * FROM standings WHERE edition_uid = $1 AND scope_uid = $2 AND player_id = k.player_id LIMIT 1) AS s`);

/** The runs behind the entries of these players, ranked or not, as they are: of who is shown already. */
export const runDetails = (
  database: SqlRunner,
  windowUid: number,
  playerIds: readonly string[],
): Promise<RunDetailsRow[]> => database.query(RUNS_SQL, [windowUid, playerIds]);

/** The totals of these guilds, as they are. */
export const guildTotalDetails = (
  database: SqlRunner,
  windowUid: number,
  guildIds: readonly string[],
): Promise<RunDetailsRow[]> => database.query(TOTALS_SQL, [windowUid, guildIds]);

/** What an edition kept of these players, or guilds, in a scope. */
export const standingsDetails = (
  database: SqlRunner,
  editionUid: number,
  scope: number,
  ids: readonly string[],
): Promise<RunDetailsRow[]> => database.query(STANDINGS_SQL, [editionUid, scope, ids]);
