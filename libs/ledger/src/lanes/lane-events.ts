import type { LadderEvent } from '@laddercast/domain';
import type { SqlRunner } from '../database/postgres-database.js';
import { prepared } from '../database/postgres-statements.js';
import type { Lanes } from './lanes.js';

/** `$1` log positions, to be drawn while the lane is held. */
export const NEW_POSITIONS = `ARRAY(SELECT nextval('ladder_position') FROM generate_series(1, $1::int))::float8[]`;
const DRAW_POSITIONS = prepared(`SELECT ${NEW_POSITIONS} AS positions`);

/** So many log positions, one after the other, in a transaction that holds the lane. */
export async function drawPositions(transaction: SqlRunner, count: number): Promise<number[]> {
  const [drawn] = await transaction.query<{ positions: number[] }>(DRAW_POSITIONS, [count]);
  return drawn!.positions;
}

/** Draws the next log position; only valid while the lanes that it is written to are held. */
export async function nextPosition(transaction: SqlRunner): Promise<number> {
  const [row] = await transaction.query<{ position: number }>(`SELECT nextval('ladder_position') AS position`);
  return row!.position;
}

/** Writes one event into the outbox of a lane that this transaction holds. */
export async function appendEvent(
  transaction: SqlRunner,
  lane: number,
  position: number,
  key: string,
  event: LadderEvent,
): Promise<void> {
  await transaction.query('INSERT INTO outbox (lane, position, topic, key, payload) VALUES ($1, $2, $3, $4, $5)', [
    lane,
    position,
    event.type,
    key,
    JSON.stringify(event),
  ]);
}

const ANNOUNCE = prepared(`
  INSERT INTO outbox (lane, position, topic, key, payload)
  SELECT lane, position, $3, $4, $5 FROM unnest($1::int[], $2::bigint[]) AS each (lane, position)`);

/**
 * Writes into every lane, all of which this transaction holds, that a board changed.
 * @param boardId null: the uid is gone for ever
 * @param formerId the id of a board that is gone
 * @returns the board's new revision
 */
export async function announceBoard(
  transaction: SqlRunner,
  lanes: Lanes,
  boardUid: number,
  boardId: string | null,
  formerId?: string,
): Promise<number> {
  const [revision, ...positions] = (await drawPositions(transaction, 1 + lanes.count)) as [number, ...number[]];
  const former = formerId !== undefined && { formerId };
  const event: LadderEvent = { type: 'board-changed', boardUid, boardId, ...former, revision };
  await transaction.query(ANNOUNCE, [lanes.all, positions, event.type, String(boardUid), JSON.stringify(event)]);
  return revision;
}

/** The last position that was drawn, as `position`; 0 when none was. */
export const DRAWN_SQL = 'SELECT CASE WHEN is_called THEN last_value ELSE 0 END AS position FROM ladder_position';

const RECORD_POOL_EVENT = prepared(`
  WITH drawn AS MATERIALIZED (
    SELECT nextval('ladder_position') AS event, nextval('ladder_position') AS bell
  ), recorded AS (
    INSERT INTO pool_events (pool_uid, position, type, payload) SELECT $1::int, event, $3::text, $4::jsonb FROM drawn
  ), counted AS (
    UPDATE pools SET recorded_position = drawn.event FROM drawn WHERE pool_uid = $1::int
  ), rung AS (
    INSERT INTO outbox (lane, position, topic, key, payload)
    SELECT $2::smallint, bell, 'game-recorded', $1::int::text,
      json_build_object('type', 'game-recorded', 'poolUid', $1::int, 'position', event) FROM drawn
  )
  SELECT event AS position FROM drawn`);

/**
 * Records an event after all games of the pool so far, and rings for the rater, in a transaction that holds the pool's lane.
 * @returns its position: the event is folded once the pool is rated up to it
 */
export async function recordPoolEvent(
  transaction: SqlRunner,
  { poolUid, lane }: { poolUid: number; lane: number },
  { type, payload }: { type: string; payload: object },
): Promise<number> {
  const [row] = await transaction.query<{ position: number }>(RECORD_POOL_EVENT, [
    poolUid,
    lane,
    type,
    JSON.stringify(payload),
  ]);
  return row!.position;
}
