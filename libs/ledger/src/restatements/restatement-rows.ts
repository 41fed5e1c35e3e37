import type { SqlRunner } from '../database/postgres-database.js';
import { prepared } from '../database/postgres-statements.js';
import { isOfPools, type PoolsOf } from '../pools/rating-algorithms.js';

/** How far a window's last restatement is. */
export interface Restatement {
  readonly windowUid: number;
  readonly actor: string;
  readonly reason: string | null;
  /** Who reads the pool anew counts it up. */
  readonly attempt: number;
  readonly playersRead: number;
  /** How many entries, and parts that guilds keep, differ; null: they are still being read. */
  readonly entries: number | null;
  /** Of the act; null: nothing differs, or that is not known yet. */
  readonly auditId: number | null;
  readonly isDone: boolean;
}

/** Somebody's reading of the pool for a window. */
type Attempt = Pick<Restatement, 'windowUid' | 'attempt'>;

/** What an entry of a window is to be, or (with `guildId`, else empty) what a guild keeps of a leaver. */
export interface RestatedEntry {
  readonly playerId: string;
  readonly guildId: string;
  readonly present: boolean;
  readonly score: number;
  readonly columns: number[];
  readonly achievedAtMs: number;
}

const COLUMNS = `window_uid AS "windowUid", actor, reason, attempt, players_read AS "playersRead", entries,
  audit_id AS "auditId", done_at IS NOT NULL AS "isDone"`;

/** The most windows of one look. */
const WINDOWS_AT_ONCE = 100;

/** Windows that are being restated. */
export const UNDER_WAY = 'SELECT FROM restatements WHERE done_at IS NULL';

/** Of one that is read no algorithm is needed any more: every process can write it, as it can what is left of pools that are gone. */
const UNDER_WAY_OF = prepared(`
  SELECT ${COLUMNS} FROM restatements AS r WHERE done_at IS NULL AND ${isOfPools(`(
    SELECT p.definition ->> 'algorithm' FROM windows JOIN boards AS b USING (board_uid)
    JOIN pools AS p ON p.pool_uid = (b.feed ->> 'poolUid')::int WHERE window_uid = r.window_uid AND r.entries IS NULL)`)}
  ORDER BY asked_at, window_uid LIMIT ${WINDOWS_AT_ONCE}`);

const OF_WINDOW = `SELECT ${COLUMNS} FROM restatements WHERE window_uid = $1`;

/** One that is under way goes on as it is. */
const ASK = `
  INSERT INTO restatements AS r (window_uid, actor, reason, asked_at) VALUES ($1, $2, $3, ladder_now())
  ON CONFLICT (window_uid) DO UPDATE SET actor = excluded.actor, reason = excluded.reason, asked_at = excluded.asked_at,
    attempt = r.attempt + 1, players_read = 0, entries = NULL, audit_id = NULL, done_at = NULL
  WHERE r.done_at IS NOT NULL`;

/** What attempts before staged goes in the same statement: later, another one may have begun, and staged what is to be written. */
const BEGIN_READING = `
  WITH begun AS (
    UPDATE restatements SET attempt = attempt + 1, players_read = 0
    WHERE window_uid = $1 AND done_at IS NULL AND entries IS NULL RETURNING window_uid, attempt
  ), dropped AS (DELETE FROM restated_entries AS e USING begun WHERE e.window_uid = begun.window_uid)
  SELECT attempt FROM begun`;

const STAGE = `
  WITH staged AS (
    INSERT INTO restated_entries (window_uid, attempt, lane, player_id, guild_id, present, score, columns, achieved_at_ms)
    SELECT $1, $2, e.* FROM json_to_recordset($3::json) AS e (lane smallint, player_id text, guild_id text, present boolean,
      score float8, columns float8[], achieved_at_ms bigint))
  UPDATE restatements SET players_read = $4 WHERE window_uid = $1 AND attempt = $2 AND done_at IS NULL RETURNING 1 AS mine`;

const COUNT_STAGED = `
  SELECT (SELECT count(*) FROM restated_entries WHERE window_uid = r.window_uid AND attempt = r.attempt)::int AS entries
  FROM restatements r WHERE window_uid = $1 AND attempt = $2 AND done_at IS NULL AND entries IS NULL FOR UPDATE`;

const NOTE_READ = `
  UPDATE restatements SET entries = $3, audit_id = $4, done_at = CASE WHEN $3 = 0 THEN ladder_now() END
  WHERE window_uid = $1 AND attempt = $2`;

const LANES_LEFT = `
  SELECT DISTINCT lane FROM restated_entries WHERE window_uid = $1 AND attempt = $2 ORDER BY lane`;

/** Whose the next `$4` rows of a lane are. */
const NEXT_STAGED = `
  SELECT DISTINCT player_id AS "playerId" FROM (
    SELECT player_id FROM restated_entries WHERE window_uid = $1 AND attempt = $2 AND lane = $3
    ORDER BY player_id, guild_id LIMIT $4) AS next`;

const TAKE_STAGED = `
  DELETE FROM restated_entries WHERE window_uid = $1 AND attempt = $2 AND lane = $3 AND player_id = ANY($4::text[])
  RETURNING player_id AS "playerId", guild_id AS "guildId", present, score, columns, achieved_at_ms AS "achievedAtMs"`;

const NOTE_DONE = `
  UPDATE restatements SET done_at = ladder_now()
  WHERE window_uid = $1 AND attempt = $2 AND entries IS NOT NULL AND done_at IS NULL
    AND NOT EXISTS (SELECT FROM restated_entries WHERE window_uid = $1 AND attempt = $2)`;

/** With what is staged, in one statement as {@link BEGIN_READING}. */
const GIVE_UP = `
  WITH given_up AS (
    DELETE FROM restatements WHERE window_uid = $1 AND attempt = $2 AND entries IS NULL RETURNING window_uid
  )
  DELETE FROM restated_entries AS e USING given_up WHERE e.window_uid = given_up.window_uid`;

/**
 * Those that are under way, the first that was asked for first.
 * @param of which pools feed the windows; all when not given
 */
export const restatementsUnderWay = (sql: SqlRunner, of: PoolsOf | null = null): Promise<Restatement[]> =>
  sql.query<Restatement>(UNDER_WAY_OF, [of]);

export async function restatementOf(sql: SqlRunner, windowUid: number): Promise<Restatement | undefined> {
  const [row] = await sql.query<Restatement>(OF_WINDOW, [windowUid]);
  return row;
}

/** Asks for one; where one is under way, nothing changes. */
export async function askForRestatement(
  transaction: SqlRunner,
  windowUid: number,
  { actor, reason }: { actor: string; reason: string | null },
): Promise<void> {
  await transaction.query(ASK, [windowUid, actor, reason]);
}

/** From now on nobody else stages what differs. @returns the attempt; null: all is read already */
export async function beginReading(sql: SqlRunner, windowUid: number): Promise<number | null> {
  const [row] = await sql.query<{ attempt: number }>(BEGIN_READING, [windowUid]);
  return row?.attempt ?? null;
}

/** Keeps what differs, and how many players were looked at. @returns whether the attempt is still the last */
export async function stage(
  sql: SqlRunner,
  { windowUid, attempt }: Attempt,
  entries: readonly (RestatedEntry & { lane: number })[],
  playersRead: number,
): Promise<boolean> {
  const rows = entries.map(({ lane, playerId, guildId, present, score, columns, achievedAtMs }) => ({
    ...{ lane, player_id: playerId, guild_id: guildId, present, score, columns, achieved_at_ms: achievedAtMs },
  }));
  const mine = await sql.query<{ mine: number }>(STAGE, [windowUid, attempt, JSON.stringify(rows), playersRead]);
  return mine.length > 0;
}

/** How many rows an attempt kept, whose restatement the transaction then holds; null: it is not the last, or was over before. */
export async function countStaged(transaction: SqlRunner, { windowUid, attempt }: Attempt): Promise<number | null> {
  const [row] = await transaction.query<{ entries: number }>(COUNT_STAGED, [windowUid, attempt]);
  return row?.entries ?? null;
}

/** All is read: what differs is now to be written, or, where nothing does, it is done. */
export async function noteRead(
  transaction: SqlRunner,
  { windowUid, attempt }: Attempt,
  entries: number,
  auditId: number | null,
): Promise<void> {
  await transaction.query(NOTE_READ, [windowUid, attempt, entries, auditId]);
}

/** The lanes in which something is still to be written. */
export async function lanesLeft(sql: SqlRunner, { windowUid, attempt }: Attempt): Promise<number[]> {
  const rows = await sql.query<{ lane: number }>(LANES_LEFT, [windowUid, attempt]);
  return rows.map(({ lane }) => lane);
}

/** The players of about `most` rows of a lane, as it was when they were read; none: all are written. */
export async function nextStaged(
  sql: SqlRunner,
  { windowUid, attempt }: Attempt,
  lane: number,
  most: number,
): Promise<string[]> {
  const rows = await sql.query<{ playerId: string }>(NEXT_STAGED, [windowUid, attempt, lane, most]);
  return rows.map(({ playerId }) => playerId);
}

/** The rows of players, which are written in the same transaction, under the lane that is theirs now. */
export const takeStaged = (
  transaction: SqlRunner,
  { windowUid, attempt }: Attempt,
  lane: number,
  playerIds: readonly string[],
): Promise<RestatedEntry[]> => transaction.query<RestatedEntry>(TAKE_STAGED, [windowUid, attempt, lane, playerIds]);

/** Done, where all is written. */
export async function noteDone(sql: SqlRunner, { windowUid, attempt }: Attempt): Promise<void> {
  await sql.query(NOTE_DONE, [windowUid, attempt]);
}

/** Forgets one of which nothing was written: it cannot be done any more. Nothing, where another attempt has begun. */
export async function giveUp(sql: SqlRunner, { windowUid, attempt }: Attempt): Promise<void> {
  await sql.query(GIVE_UP, [windowUid, attempt]);
}
