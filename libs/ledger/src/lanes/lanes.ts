import { randomBytes } from 'node:crypto';
import { laneOf, type LadderEvent } from '@laddercast/domain';
import { ADVISORY_LOCKS } from '../database/advisory-locks.js';
import type { PostgresDatabase, SqlRunner } from '../database/postgres-database.js';
import { declareLane, makeHeads } from './lane-heads.js';
import { prepared } from '../database/postgres-statements.js';

/** The lanes of this installation; their number never changes. */
export class Lanes {
  readonly all: readonly number[];

  constructor(readonly count: number) {
    this.all = Array.from({ length: count }, (_, lane) => lane);
  }

  of(playerId: string): number {
    return laneOf(playerId, this.count);
  }
}

/**
 * Begins a transaction and takes the lane's lock, in one round trip. The lock is held to the commit, so that positions
 * become visible in order. A batch always reads by keys, which PostgreSQL does not know: it would plan each batch anew,
 * which takes as long as the batch itself. The writer of a lane moves its head by itself.
 */
export const openLaneSql = (lane: number): string =>
  `BEGIN; SET LOCAL plan_cache_mode = force_generic_plan; ${declareLane(lane)}; SELECT pg_advisory_xact_lock(${ADVISORY_LOCKS.lanes}, ${lane})`;

/** `$1` log positions, to be drawn while the lane is held. */
export const NEW_POSITIONS = `ARRAY(SELECT nextval('ladder_position') FROM generate_series(1, $1::int))::float8[]`;
const DRAW_POSITIONS = prepared(`SELECT ${NEW_POSITIONS} AS positions`);

/** So many log positions, one after the other, in a transaction that holds the lane. */
export async function drawPositions(transaction: SqlRunner, count: number): Promise<number[]> {
  const [drawn] = await transaction.query<{ positions: number[] }>(DRAW_POSITIONS, [count]);
  return drawn!.positions;
}

/** Takes every lane, in ascending order: nothing is written anywhere until the transaction ends. */
export async function takeAllLanes(transaction: SqlRunner, lanes: Lanes): Promise<void> {
  for (const lane of lanes.all)
    await transaction.query('SELECT pg_advisory_xact_lock($1, $2)', [ADVISORY_LOCKS.lanes, lane]);
}

export async function takeLane(transaction: SqlRunner, lane: number): Promise<void> {
  await transaction.query('SELECT pg_advisory_xact_lock($1, $2)', [ADVISORY_LOCKS.lanes, lane]);
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

/**
 * The row of `installation` that names the ledger's history since it was restored to an earlier state; no row: it never
 * was. What a process remembers of another history is not valid any more.
 */
export const HISTORY = 'history';

/** A value of this installation: the one that the first process gave that asked for it. */
export async function settledValue(database: SqlRunner, name: string, value: string): Promise<string> {
  await database.query('INSERT INTO installation (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING', [
    name,
    value,
  ]);
  const [row] = await database.query<{ value: string }>('SELECT value FROM installation WHERE name = $1', [name]);
  return row!.value;
}

/** The random name of this installation, drawn at its first start. Data outside PostgreSQL carry it. */
export const installationId = (database: SqlRunner): Promise<string> =>
  settledValue(database, 'id', randomBytes(6).toString('hex'));

/**
 * Fixes the number of lanes at the first start.
 * @throws when the installation was made with another number
 */
export async function fixLanes(database: PostgresDatabase, lanes: number): Promise<void> {
  const settled = await settledValue(database, 'lanes', String(lanes));
  if (settled !== String(lanes)) {
    throw new Error(
      `This installation was made with LEDGER_LANES=${settled}; set it back, it cannot be changed to ${lanes}.`,
    );
  }
  await makeHeads(database, lanes);
}
