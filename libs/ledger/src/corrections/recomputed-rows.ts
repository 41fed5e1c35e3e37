import type { PlayerRating, RecomputedGame, RecomputedPeriod, PeriodChange } from '@laddercast/domain';
import { int8Array, textArray } from '../database/postgres-arrays.js';
import type { SqlRunner } from '../database/postgres-database.js';
import { prepared } from '../database/postgres-statements.js';
import { changesOf } from '../periods/period-changes.js';
import { changeParameters, INSERT_CHANGES, RATING_JSON, type ChangeOfGame } from '../pools/rating-rows.js';

const CHUNK = 1000;
/** The most changes that one statement writes; more only where one game or one player's period has more. */
const CHANGES_AT_ONCE = 2000;

const FORGET_CHANGES = prepared(`
  DELETE FROM rating_changes AS c USING unnest($2::text[], $3::bigint[]) AS k (player_id, position)
  WHERE c.pool_uid = $1 AND c.player_id = k.player_id AND c.position = k.position`);

const ADD_CHANGES = prepared(INSERT_CHANGES);

const MARK_CHANGES = prepared(`
  UPDATE rating_changes AS c SET recomputed_by = $4
  FROM unnest($2::text[], $3::bigint[]) AS k (player_id, position)
  WHERE c.pool_uid = $1 AND c.player_id = k.player_id AND c.position = k.position`);

const MARK_GAMES = prepared(`
  UPDATE games AS g SET unrated = k.reason FROM unnest($2::bigint[], $3::text[]) AS k (position, reason)
  WHERE g.pool_uid = $1 AND g.position = k.position AND g.unrated IS DISTINCT FROM k.reason`);

/** Writes what a recompute made of games, as the event at this position; those that are void move nobody any more. */
export async function writeRecomputedGames(
  transaction: SqlRunner,
  poolUid: number,
  eventPosition: number,
  games: readonly RecomputedGame[],
): Promise<void> {
  const sizeOf = ({ before, after }: RecomputedGame): number =>
    Math.max(before.changes.length, after?.changes.length ?? 0);
  for (const chunk of chunksBySize(games, sizeOf)) {
    const forgotten = chunk.flatMap(({ before }) =>
      before.changes.map(({ playerId }) => ({ playerId, position: before.game.position })),
    );
    const changes = chunk.flatMap(({ after }): ChangeOfGame[] =>
      (after?.changes ?? []).map((change) => ({
        ...change,
        position: after!.game.position,
        engine: after!.engine,
      })),
    );
    await transaction.query(FORGET_CHANGES, [poolUid, ...keysOf(forgotten)]);
    await transaction.query(ADD_CHANGES, [poolUid, ...changeParameters(changes)]);
    await transaction.query(MARK_CHANGES, [poolUid, ...keysOf(changes), eventPosition]);
    await transaction.query(MARK_GAMES, [
      poolUid,
      int8Array(chunk.map(({ before }) => before.game.position)),
      textArray(chunk.map(({ after }) => (after === null ? 'VOID' : after.unrated))),
    ]);
  }
}

/** Of these players' games in these periods: those that count for nobody, since numbers would not be finite. */
const MARK_NUMERIC = prepared(`
  UPDATE games AS g SET unrated = k.reason FROM (
    SELECT DISTINCT ON (g.position) g.position, CASE WHEN NOT EXISTS (
      SELECT FROM jsonb_array_elements(g.players) AS player JOIN rating_changes AS c
        ON c.pool_uid = $1 AND c.player_id = player ->> 'playerId' AND c.position > g.position
          AND c.game_position = g.position) THEN 'NUMERIC' END AS reason
    FROM unnest($2::text[], $3::bigint[]) AS k (player_id, period)
    CROSS JOIN LATERAL (
      SELECT position FROM game_players WHERE pool_uid = $1 AND player_id = k.player_id AND position >= (
        SELECT position FROM games WHERE pool_uid = $1 AND period = k.period ORDER BY position LIMIT 1)) AS p
    CROSS JOIN LATERAL (
      SELECT * FROM games WHERE pool_uid = $1 AND position = p.position AND period = k.period
        AND (unrated IS NULL OR unrated = 'NUMERIC') LIMIT 1) AS g) AS k
  WHERE g.pool_uid = $1 AND g.position = k.position AND g.unrated IS DISTINCT FROM k.reason`);

/** The same of periods, whose changes are put in the place of those that were there. */
export async function writeRecomputedPeriods(
  transaction: SqlRunner,
  poolUid: number,
  eventPosition: number,
  periods: readonly RecomputedPeriod[],
  positions: { firstPositionOf(period: number): number },
): Promise<void> {
  const sizeOf = ({ before, after }: RecomputedPeriod): number =>
    Math.max(before?.games.length ?? 0, after?.games.length ?? 0);
  for (const chunk of chunksBySize(periods, sizeOf)) {
    const rowsOf = (change: PeriodChange | null, period: number): ChangeOfGame[] =>
      change === null || change.unrated !== null ? [] : changesOf(change, positions.firstPositionOf(period));
    const changes = chunk.flatMap(({ after, period }) => rowsOf(after, period));
    const forgotten = chunk.flatMap(({ before, period }) => rowsOf(before, period));
    await transaction.query(FORGET_CHANGES, [poolUid, ...keysOf(forgotten)]);
    await transaction.query(ADD_CHANGES, [poolUid, ...changeParameters(changes)]);
    await transaction.query(MARK_CHANGES, [poolUid, ...keysOf(changes), eventPosition]);
  }
  // When all changes are there: a game counts as long as it does for one of its players.
  const numeric = periods.filter(({ before, after }) => before?.unrated !== null || after?.unrated !== null);
  for (let from = 0; from < numeric.length; from += CHUNK) {
    const chunk = numeric.slice(from, from + CHUNK);
    await transaction.query(MARK_NUMERIC, [
      poolUid,
      textArray(chunk.map(({ playerId }) => playerId)),
      int8Array(chunk.map(({ period }) => period)),
    ]);
  }
}

/** One after the other, so that what is made of them is never there of all at once. */
function* chunksBySize<One>(all: readonly One[], sizeOf: (one: One) => number): Generator<One[]> {
  let chunk: One[] = [];
  let size = 0;
  for (const one of all) {
    // What has no changes is marked all the same.
    const more = Math.max(sizeOf(one), 1);
    if (chunk.length > 0 && size + more > CHANGES_AT_ONCE) {
      yield chunk;
      chunk = [];
      size = 0;
    }
    chunk.push(one);
    size += more;
  }
  if (chunk.length > 0) yield chunk;
}

const keysOf = (changes: readonly { playerId: string; position: number }[]): unknown[] => [
  textArray(changes.map(({ playerId }) => playerId)),
  int8Array(changes.map(({ position }) => position)),
];

const FORGET_RATINGS = prepared(`
  DELETE FROM ratings WHERE pool_uid = $1 AND player_id = ANY ($2::text[]) RETURNING player_id AS "playerId"`);

/**
 * From the changes, and the base that those that are not kept came to: the state after the last one, all games counted, the best one the peak, of equal ones the first. By
 * periods a peak is made by the last game of one.
 */
const DERIVE_RATINGS = prepared(`
  INSERT INTO ratings AS r (pool_uid, player_id, position, rating, deviation, volatility, memory, games, wins, draws,
    losses, peak_rating, peak_at_ms, peak_game_id, last_played_at_ms)
  SELECT $1::int, k.player_id, CASE WHEN k.player_id = ANY ($3::text[]) THEN $4::bigint ELSE last.position END,
    last.rating, last.deviation, last.volatility, last.memory,
    counted.games + coalesce(b.games, 0), counted.wins + coalesce(b.wins, 0), counted.draws + coalesce(b.draws, 0),
    counted.games - counted.wins - counted.draws + coalesce(b.losses, 0),
    best.rating, best.at_ms, best.game_id, greatest(counted.last_played_at_ms, b.last_played_at_ms)
  FROM unnest($2::text[]) AS k (player_id)
  LEFT JOIN rating_bases AS b ON b.pool_uid = $1 AND b.player_id = k.player_id
  CROSS JOIN LATERAL (
    SELECT * FROM (
      SELECT position, after_rating AS rating, after_deviation AS deviation, after_volatility AS volatility,
        after_memory AS memory
      FROM rating_changes WHERE pool_uid = $1 AND player_id = k.player_id ORDER BY position DESC LIMIT 1) AS change
    UNION ALL
    SELECT b.position, b.rating, b.deviation, b.volatility, b.memory WHERE b.position IS NOT NULL
    ORDER BY position DESC LIMIT 1) AS last
  CROSS JOIN LATERAL (
    SELECT count(*)::int AS games, (count(*) FILTER (WHERE c.outcome = 'win'))::int AS wins,
      (count(*) FILTER (WHERE c.outcome = 'draw'))::int AS draws, max(g.played_at_ms) AS last_played_at_ms
    FROM rating_changes AS c JOIN games AS g ON g.pool_uid = $1 AND g.position = coalesce(c.game_position, c.position)
    WHERE c.pool_uid = $1 AND c.player_id = k.player_id AND c.refund IS NULL) AS counted
  CROSS JOIN LATERAL (
    SELECT c.after_rating AS rating, g.played_at_ms AS at_ms, g.game_id, 1 AS place
    FROM (
      SELECT * FROM rating_changes AS c WHERE pool_uid = $1 AND player_id = k.player_id AND refund IS NULL
        AND (game_position IS NULL OR NOT EXISTS (
          SELECT FROM rating_changes WHERE pool_uid = $1 AND player_id = k.player_id AND position = c.position + 1))
      ORDER BY after_rating DESC, position LIMIT 1) AS c
    JOIN games AS g ON g.pool_uid = $1 AND g.position = coalesce(c.game_position, c.position)
    UNION ALL
    SELECT b.peak_rating, b.peak_at_ms, b.peak_game_id, 0 WHERE b.peak_rating IS NOT NULL
    ORDER BY rating DESC, place LIMIT 1) AS best
  RETURNING r.player_id AS "playerId", ${RATING_JSON} AS rating`);

/**
 * Makes the ratings of players anew, from their changes.
 * @param moved whose rating is another one by the event at this position
 * @returns those who have a rating, and how many fewer they are than before
 */
export async function deriveRatings(
  transaction: SqlRunner,
  poolUid: number,
  { players, moved, eventPosition }: { players: readonly string[]; moved: readonly string[]; eventPosition: number },
): Promise<{ ratings: { playerId: string; rating: PlayerRating }[]; fewer: number }> {
  const ratings: { playerId: string; rating: PlayerRating }[] = [];
  let had = 0;
  for (let from = 0; from < players.length; from += CHUNK) {
    const chunk = textArray(players.slice(from, from + CHUNK));
    had += (await transaction.query(FORGET_RATINGS, [poolUid, chunk])).length;
    const derived = await transaction.query<{ playerId: string; rating: PlayerRating }>(DERIVE_RATINGS, [
      ...[poolUid, chunk, textArray(moved), eventPosition],
    ]);
    ratings.push(...derived);
  }
  return { ratings, fewer: had - ratings.length };
}

const NAME_PLAYERS = prepared(`
  WITH renamed AS (
    UPDATE games SET players = $3::jsonb WHERE pool_uid = $1 AND position = $2
  ), gone AS (
    DELETE FROM game_players WHERE pool_uid = $1 AND position = $2 AND player_id = ANY ($4::text[])
  )
  INSERT INTO game_players (pool_uid, player_id, position)
  SELECT $1::int, player_id, $2::bigint FROM unnest($5::text[]) AS k (player_id)`);

/** Gives a game other players, or the same with other places. */
export async function namePlayers(
  transaction: SqlRunner,
  { poolUid, position }: { poolUid: number; position: number },
  players: readonly { playerId: string }[],
  before: readonly { playerId: string }[],
): Promise<void> {
  const now = new Set(players.map(({ playerId }) => playerId));
  const then = new Set(before.map(({ playerId }) => playerId));
  await transaction.query(NAME_PLAYERS, [
    ...[poolUid, position, JSON.stringify(players)],
    textArray([...then].filter((playerId) => !now.has(playerId))),
    textArray([...now].filter((playerId) => !then.has(playerId))),
  ]);
}
