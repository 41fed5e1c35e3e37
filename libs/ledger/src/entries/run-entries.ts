import { GLOBAL_SCOPE, type BoardOrdering } from '@laddercast/domain';
import { int4Array, textArray } from '../database/postgres-arrays.js';
import type { SqlRunner } from '../database/postgres-database.js';
import { prepared } from '../database/postgres-statements.js';
import { entryOrderSql } from './entry-order-sql.js';
import type { EntryRow } from './entry-rows.js';
import { isRunKeySql, isRunOfSql, playerOfRunKeySql } from './run-keys-sql.js';

/** Entries of runs of player `k.player_id` that stand in window `k.window_uid`. */
export const STANDING_OF_PLAYER = `
  SELECT * FROM entries
  WHERE window_uid = k.window_uid AND ${isRunOfSql('k.player_id')}
    AND NOT removed`;

const READ_STANDING = prepared(`
  SELECT k.n::int AS n, e.player_id, e.version, e.unranked, e.score, e.columns, e.achieved_at_ms, e.metadata, e.scopes,
    e.left_scopes, e.run_position
  FROM unnest($1::int[], $2::text[]) WITH ORDINALITY AS k (window_uid, player_id, n)
  CROSS JOIN LATERAL (${STANDING_OF_PLAYER} OFFSET 0) AS e`);

interface StandingRow {
  n: number;
  player_id: string;
  version: number;
  unranked: boolean;
  score: number;
  columns: number[];
  achieved_at_ms: number;
  metadata: string | null;
  scopes: number[];
  left_scopes: number[];
  run_position: number | null;
}

/**
 * The entries of players in windows where each run is one, ranked or not; at most `entriesPerPlayerMax` for each of them.
 * @returns by window and player, as `entryKeyOf` names them; those without entries are absent
 */
export async function standingRows(
  sql: SqlRunner,
  places: readonly { boardUid: number; windowUid: number; playerId: string }[],
): Promise<Map<string, EntryRow[]>> {
  const standing = new Map<string, EntryRow[]>();
  if (places.length === 0) return standing;
  const rows = await sql.query<StandingRow>(READ_STANDING, [
    int4Array(places.map(({ windowUid }) => windowUid)),
    textArray(places.map(({ playerId }) => playerId)),
  ]);
  for (const row of rows) {
    const { boardUid, windowUid, playerId } = places[row.n - 1]!;
    const key = `${windowUid}/${playerId}`;
    const known = standing.get(key) ?? [];
    standing.set(key, known);
    known.push({
      boardUid,
      windowUid,
      playerId: row.player_id,
      state: {
        score: row.score,
        columns: row.columns,
        achievedAtMs: row.achieved_at_ms,
        metadata: row.metadata,
        version: row.version,
      },
      removed: false,
      unranked: row.unranked,
      scopes: row.scopes,
      leftScopes: row.left_scopes,
      ...(row.run_position !== null && { runPosition: row.run_position }),
    });
  }
  return standing;
}

const RANKED_PLAYERS = `
  SELECT count(*)::int AS players FROM (
    SELECT DISTINCT ${playerOfRunKeySql('player_id')} FROM entries
    WHERE window_uid = $1 AND ${isRunKeySql('player_id')} AND NOT removed AND NOT unranked
      AND ($2 = ${GLOBAL_SCOPE} OR $2 = ANY (scopes))) AS ranked`;

/** How many players are ranked in a window and scope where each run is an entry; all of its entries are read. */
export async function countRankedPlayers(
  sql: SqlRunner,
  { windowUid, scope }: { windowUid: number; scope: number },
): Promise<number> {
  const [row] = await sql.query<{ players: number }>(RANKED_PLAYERS, [windowUid, scope]);
  return row!.players;
}

/** Ranked entries of runs in window `$1` and scope `$2`, of players `$3`: of each player those that `which` says. */
const rankedKeysSql = (which: string): string => `
  SELECT k.player_id AS "playerId", e.player_id AS key
  FROM unnest($3::text[]) AS k (player_id)
  CROSS JOIN LATERAL (
    SELECT player_id FROM entries
    WHERE window_uid = $1 AND ${isRunOfSql('k.player_id')}
      AND NOT removed AND NOT unranked AND ($2 = ${GLOBAL_SCOPE} OR $2 = ANY (scopes))
    ${which}) AS e`;

const RANKED_KEYS = prepared(rankedKeysSql('OFFSET 0'));

/** Of each player the best of them. */
const bestKeysSql = (ordering: BoardOrdering): string => rankedKeysSql(`ORDER BY ${entryOrderSql(ordering)} LIMIT 1`);

/** The key of an entry, and whose it is. */
export interface KeyOfPlayer {
  playerId: string;
  key: string;
}

/**
 * The keys of players' ranked entries in a window and scope where each run is one, in no order.
 * @param onlyBest of each player the best alone, in this order; null: all
 */
export const rankedRunKeys = (
  sql: SqlRunner,
  { windowUid, scope }: { windowUid: number; scope: number },
  playerIds: readonly string[],
  onlyBest: BoardOrdering | null,
): Promise<KeyOfPlayer[]> =>
  sql.query<KeyOfPlayer>(onlyBest ? bestKeysSql(onlyBest) : RANKED_KEYS, [windowUid, scope, playerIds]);
