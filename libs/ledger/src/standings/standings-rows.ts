import type { SqlRunner } from '../database/postgres-database.js';
import type { KeyOfPlayer } from '../entries/run-entries.js';
import { isRunKeySql, isRunOfSql, playerOfRunKeySql } from '../entries/run-keys-sql.js';

/** A row of an edition's list, with the list's totals. */
export interface StandingRow {
  version: number;
  /** The edition's, among those of its window and moment. */
  number: number;
  as_of_ms: number;
  total: number;
  /** null where the list has no such row; then the others are null, too. */
  ordinal: number | null;
  competition: number;
  dense: number;
  player_id: string;
  score: number;
  columns: number[];
  achieved_at_ms: number;
  /** Of a taxed score: what it is made of; null or absent elsewhere. */
  raw_score?: number | null;
  patch_uid?: number | null;
}

/** One list of an edition that has rows of its own. */
export interface RowsOfEdition {
  edition: number;
  scope: number;
}

/*
 * Statements that read standings: each is one, so that an edition is there as a whole or not at all. `$1` is the edition,
 * `$2` the scope. They answer at least one row, of what every reading says of the list, while the edition is there.
 * Look-ups are LATERAL, so that their plans stay probes of an index however long an edition is; all are
 * asked for in an order, which only the index that begins with it has: before an edition is analysed all indexes look alike.
 */

const HEAD = `
  (SELECT e.version, e.number, (extract(epoch FROM e.as_of) * 1000)::bigint AS as_of_ms, coalesce(t.total, 0) AS total
   FROM editions e LEFT JOIN edition_scopes t ON t.edition_uid = e.edition_uid AND t.scope_uid = $2
   WHERE e.edition_uid = $1) AS head`;

const ROW =
  's.ordinal, s.competition, s.dense, s.player_id, s.score, s.columns, s.achieved_at_ms, s.raw_score, s.patch_uid';

const OF_LIST = 'FROM standings s WHERE s.edition_uid = $1 AND s.scope_uid = $2';

/**
 * The row of the list by a unique column: the first that is not before it, if it is that one. Where the list itself is asked for,
 * a planner that takes it for a few rows may walk through all of it by the index of the other column.
 */
const rowBy = (column: 'ordinal' | 'player_id', value: string): string => `
      SELECT ${ROW} FROM (
        SELECT * FROM standings WHERE (edition_uid, scope_uid, ${column}) >= ($1::int, $2::int, ${value})
        ORDER BY edition_uid, scope_uid, ${column} LIMIT 1) AS s
      WHERE s.edition_uid = $1 AND s.scope_uid = $2 AND s.${column} = ${value}`;

const STANDINGS_PAGE = `
  SELECT head.*, found.* FROM ${HEAD}
  LEFT JOIN LATERAL (
    SELECT ${ROW} ${OF_LIST} AND s.ordinal > $3::bigint AND s.ordinal <= $4::bigint
    ORDER BY s.ordinal) AS found ON true
  ORDER BY found.ordinal`;

const STANDINGS_AROUND = `
  SELECT head.*, found.* FROM ${HEAD}
  LEFT JOIN LATERAL (${rowBy('player_id', '$3::text')}) AS own ON true
  LEFT JOIN LATERAL (
    SELECT ${ROW} ${OF_LIST} AND s.ordinal >= own.ordinal - $4::bigint AND s.ordinal <= own.ordinal + $5::bigint
    ORDER BY s.ordinal) AS found ON true
  ORDER BY found.ordinal`;

const STANDINGS_OF_PLAYERS = `
  SELECT head.*, found.* FROM ${HEAD}
  LEFT JOIN LATERAL (
    SELECT probed.* FROM unnest($3::text[]) AS asked (player_id)
    CROSS JOIN LATERAL (${rowBy('player_id', 'asked.player_id')}) AS probed) AS found ON true`;

const STANDINGS_AT = `
  SELECT head.*, found.* FROM ${HEAD}
  LEFT JOIN LATERAL (
    SELECT probed.* FROM unnest($3::int[]) AS asked (ordinal)
    CROSS JOIN LATERAL (${rowBy('ordinal', 'asked.ordinal')}) AS probed) AS found ON true
  ORDER BY found.ordinal`;

const STANDINGS_LAST = `
  SELECT head.*, found.* FROM ${HEAD}
  LEFT JOIN LATERAL (SELECT ${ROW} ${OF_LIST} ORDER BY s.ordinal DESC LIMIT 1) AS found ON true`;

const read = (database: SqlRunner, sql: string, { edition, scope }: RowsOfEdition, parameters: readonly unknown[]) =>
  database.query<StandingRow>(sql, [edition, scope, ...parameters]);

/** The rows after an ordinal, up to another. */
export const standingsAfter = (
  database: SqlRunner,
  list: RowsOfEdition,
  after: number,
  to: number,
): Promise<StandingRow[]> => read(database, STANDINGS_PAGE, list, [after, to]);

/** The row of a player, with up to so many rows before it and after it. */
export const standingsAround = (
  database: SqlRunner,
  list: RowsOfEdition,
  playerId: string,
  above: number,
  below: number,
): Promise<StandingRow[]> => read(database, STANDINGS_AROUND, list, [playerId, above, below]);

/** The rows of some players. */
export const standingsOfPlayers = (
  database: SqlRunner,
  list: RowsOfEdition,
  playerIds: readonly string[],
): Promise<StandingRow[]> => read(database, STANDINGS_OF_PLAYERS, list, [playerIds]);

const STANDING_KEYS = `
  SELECT k.player_id AS "playerId", s.player_id AS key
  FROM unnest($3::text[]) AS k (player_id)
  CROSS JOIN LATERAL (
    SELECT player_id FROM standings
    WHERE edition_uid = $1 AND scope_uid = $2 AND ${isRunOfSql('k.player_id')} OFFSET 0) AS s`;

/** The keys of the rows of players, where each run is one. */
export const standingKeys = (
  database: SqlRunner,
  { edition, scope }: RowsOfEdition,
  playerIds: readonly string[],
): Promise<KeyOfPlayer[]> => database.query<KeyOfPlayer>(STANDING_KEYS, [edition, scope, playerIds]);

const STANDING_PLAYERS = `
  SELECT count(*)::int AS players FROM (
    SELECT ${playerOfRunKeySql('player_id')} FROM standings
    WHERE edition_uid = $1 AND scope_uid = $2 AND ${isRunKeySql('player_id')} AND NOT (ordinal = ANY ($3::int[]))
    UNION
    SELECT unnest($4::text[])) AS shown`;

/** How many players rows have where each is of a run, without those at some ordinals, and with some more players. */
export async function standingPlayers(
  database: SqlRunner,
  { edition, scope }: RowsOfEdition,
  { struck, laid }: { struck: readonly number[]; laid: readonly string[] },
): Promise<number> {
  const [row] = await database.query<{ players: number }>(STANDING_PLAYERS, [edition, scope, struck, laid]);
  return row!.players;
}

/** The rows at some ordinals. */
export const standingsAt = (
  database: SqlRunner,
  list: RowsOfEdition,
  ordinals: readonly number[],
): Promise<StandingRow[]> => read(database, STANDINGS_AT, list, [ordinals]);

/** The last row that was kept. */
export const lastStanding = (database: SqlRunner, list: RowsOfEdition): Promise<StandingRow[]> =>
  read(database, STANDINGS_LAST, list, []);
