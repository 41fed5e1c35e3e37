import type { PlayerRating, PoolGame } from '@laddercast/domain';
import { textArray } from '../database/postgres-arrays.js';
import type { SqlRunner } from '../database/postgres-database.js';
import { prepared } from '../database/postgres-statements.js';
import { RATING_JSON, type ChangeOfGame } from '../pools/rating-rows.js';

/** The most players that are rated at once, and about the most games of them. */
const PLAYERS_AT_ONCE = 5000;
const GAMES_AT_ONCE = 20_000;

/** A closed period of a pool. */
export interface PeriodOfPool {
  readonly poolUid: number;
  readonly eventPosition: number;
  readonly period: number;
}

/** What a closed period made of a player. */
export interface PeriodResult {
  readonly playerId: string;
  /** null: as it was, since none of its games counts. */
  readonly rating: PlayerRating | null;
  /** One for each game that counts: the rating moves with the last of them. */
  readonly changes: readonly ChangeOfGame[];
  /** When these games were played. */
  readonly playedAtMs: readonly number[];
  /** Positions of games that do not count, since numbers would not be finite. */
  readonly numeric: readonly number[];
}

/** The next players of a period that are to be rated, their games in it, and who played them as they stood at its start. */
export interface PeriodChunk {
  readonly players: readonly string[];
  readonly games: readonly PoolGame[];
  readonly ratings: readonly { playerId: string; rating: PlayerRating }[];
}

const NAME_PLAYERS = prepared(`
  INSERT INTO period_results (pool_uid, event_position, player_id)
  SELECT DISTINCT $1::int, $2::bigint, player ->> 'playerId'
  FROM games CROSS JOIN jsonb_array_elements(players) AS player
  WHERE pool_uid = $1 AND period = $3 AND unrated IS NULL
    AND NOT EXISTS (SELECT FROM period_results WHERE pool_uid = $1 AND event_position = $2)`);

/** All ratings are of the period's start until the event is folded: chunks may be rated at any time. */
const NEXT_CHUNK = prepared(`
  WITH first AS (
    SELECT position FROM games WHERE pool_uid = $1 AND period = $3 ORDER BY position LIMIT 1
  ), played AS MATERIALIZED (
    SELECT n.player_id, g.positions, sum(cardinality(g.positions)) OVER places AS games_so_far,
      row_number() OVER places AS place
    FROM (SELECT player_id FROM period_results WHERE pool_uid = $1 AND event_position = $2 AND result IS NULL
      ORDER BY player_id LIMIT ${PLAYERS_AT_ONCE}) AS n
    CROSS JOIN LATERAL (
      SELECT coalesce(array_agg(p.position), '{}') AS positions
      FROM (SELECT position FROM game_players WHERE pool_uid = $1 AND player_id = n.player_id AND position < $2
        AND position >= (SELECT position FROM first)) AS p
      CROSS JOIN LATERAL (
        SELECT period, unrated FROM games WHERE pool_uid = $1 AND position = p.position LIMIT 1) AS g
      WHERE g.period = $3 AND g.unrated IS NULL) AS g
    WINDOW places AS (ORDER BY n.player_id)
  ), taken AS MATERIALIZED (
    SELECT * FROM played WHERE place = 1 OR games_so_far <= ${GAMES_AT_ONCE}
  ), game AS MATERIALIZED (
    SELECT g.* FROM (SELECT DISTINCT unnest(positions) AS position FROM taken) AS k
    CROSS JOIN LATERAL (SELECT * FROM games WHERE pool_uid = $1 AND position = k.position LIMIT 1) AS g
  ), named AS (
    SELECT DISTINCT player ->> 'playerId' AS player_id FROM game CROSS JOIN jsonb_array_elements(players) AS player
  )
  SELECT coalesce((SELECT json_agg(player_id ORDER BY player_id) FROM taken), '[]') AS players,
    coalesce((SELECT json_agg(json_build_object('gameId', game_id, 'position', position, 'playedAtMs', played_at_ms,
      'weight', weight, 'players', players, 'results', results) ORDER BY position) FROM game), '[]') AS games,
    coalesce((SELECT json_agg(json_build_object('playerId', r.player_id, 'rating', ${RATING_JSON})) FROM named
      CROSS JOIN LATERAL (
        SELECT * FROM ratings WHERE pool_uid = $1 AND player_id = named.player_id LIMIT 1) AS r), '[]') AS ratings`);

const KEEP_RESULTS = prepared(`
  UPDATE period_results AS r SET result = k.result::json FROM unnest($3::text[], $4::text[]) AS k (player_id, result)
  WHERE r.pool_uid = $1 AND r.event_position = $2 AND r.player_id = k.player_id`);

const RESULTS_AFTER = prepared(`
  SELECT result FROM period_results
  WHERE pool_uid = $1 AND event_position = $2 AND player_id > $3 ORDER BY player_id LIMIT $4`);

const FORGET_RESULTS = prepared('DELETE FROM period_results WHERE pool_uid = $1 AND event_position = $2');

const keyOf = ({ poolUid, eventPosition }: PeriodOfPool): number[] => [poolUid, eventPosition];

/** Notes who is to be rated, once. */
export async function namePlayersOf(sql: SqlRunner, of: PeriodOfPool): Promise<void> {
  await sql.query(NAME_PLAYERS, [...keyOf(of), of.period]);
}

/** Those of whom nothing is kept yet; no player: all are rated. */
export async function nextChunk(sql: SqlRunner, of: PeriodOfPool): Promise<PeriodChunk> {
  const [row] = await sql.query<PeriodChunk>(NEXT_CHUNK, [...keyOf(of), of.period]);
  return row!;
}

export async function keepResults(sql: SqlRunner, of: PeriodOfPool, results: readonly PeriodResult[]): Promise<void> {
  await sql.query(KEEP_RESULTS, [
    ...keyOf(of),
    textArray(results.map(({ playerId }) => playerId)),
    textArray(results.map((result) => JSON.stringify(result))),
  ]);
}

/** Some of what is kept, by player. */
export async function resultsAfter(
  sql: SqlRunner,
  of: PeriodOfPool,
  afterPlayer: string,
  limit: number,
): Promise<PeriodResult[]> {
  const rows = await sql.query<{ result: PeriodResult }>(RESULTS_AFTER, [...keyOf(of), afterPlayer, limit]);
  return rows.map(({ result }) => result);
}

export async function forgetResults(sql: SqlRunner, of: PeriodOfPool): Promise<void> {
  await sql.query(FORGET_RESULTS, keyOf(of));
}
