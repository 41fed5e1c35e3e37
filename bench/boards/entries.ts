import type { Board } from '@laddercast/domain';
import type { BuiltCode } from '../installation/built-code.js';
import type { Pool } from '../installation/postgres-pool.js';

/** The board that is measured, as it stands in PostgreSQL. */
export interface MeasuredBoard {
  uid: number;
  id: string;
  definition: Board['definition'];
  layouts: Board['layouts'];
  windowUid: number;
}

/** A board's options, as they stand in a request. */
export type Definition = Record<string, unknown>;

export interface Filling {
  pool: Pool;
  domain: BuiltCode['domain'];
  board: { uid: number; windowUid: number };
  entries: number;
  scoreOf(number: number): number;
  /** On a board with decay: the number of the patch of which the run of the n-th player is. */
  patchOf?(number: number): number;
  /** Called now and then with how many rows are written. */
  onRows(rows: number): void;
}

const batchRows = 10_000;
/** Scores up to here, as good as distinct, and evenly spread: so that ranges of equal width hold as many entries. */
export const scoreMax = 1e9;
/** As many as an installation has by default. */
export const lanes = 2;
const tiedScores = 10;
const sinceMs = Date.UTC(2026, 0, 1);

/** The id of the n-th player: twelve characters, as many as a short random id has. */
export const playerOf = (number: number): string => `user${String(number).padStart(8, '0')}`;

/** The n-th score: a walk in steps that have no divisor in common with the number of scores meets none twice. */
export const distinctScore = (number: number): number => (number * 618_033_989) % scoreMax;
export const tiedScore = (number: number): number => 1000 * (1 + (number % tiedScores));

/** All options of the board that is measured, but its layout. */
export const boardOptions: Definition = { order: 'desc', operator: 'best', tiebreak: 'earliest' };

/**
 * Writes a window's entries straight into the ledger, as if each player had played once, and says that all of them were
 * projected: the service then brings them back from there. What was in the table before is gone.
 */
export async function fillEntries(filling: Filling): Promise<void> {
  const { pool, entries } = filling;
  await pool.query('TRUNCATE entries');
  // What is lost with the machine is made again.
  await pool.query('ALTER TABLE entries SET UNLOGGED');
  await insertEntries(filling);
  await pool.query('VACUUM (ANALYZE) entries');
  await sayProjected(pool, entries);
}

/** Says that all entries up to a position were projected: the service brings them back into an empty Redis. */
export async function sayProjected(pool: Pool, position: number): Promise<void> {
  await pool.query(`SELECT setval('ladder_position', greatest($1::bigint, (SELECT last_value FROM ladder_position)))`, [
    position,
  ]);
  await pool.query(
    `INSERT INTO projected_positions AS known (lane, position) SELECT lane, $1 FROM generate_series(0, $2::int - 1) AS lane
     ON CONFLICT (lane) DO UPDATE SET position = greatest(known.position, excluded.position)`,
    [position, lanes],
  );
}

/** Writes entries into a window of the ledger, beside those that it has. */
export async function insertEntries(filling: Filling): Promise<void> {
  const { pool, domain, board, entries, scoreOf, patchOf, onRows } = filling;
  for (let from = 0; from < entries; from += batchRows) {
    const rows = Array.from({ length: Math.min(batchRows, entries - from) }, (_, index) => from + index);
    const ids = rows.map(playerOf);
    await pool.query(
      `INSERT INTO entries (window_uid, player_id, board_uid, lane, version, removed, score, columns, achieved_at_ms, scopes,
         patch_runs)
       SELECT $1, id, $2, lane, version, false, score, '{}', at_ms,
         CASE WHEN patch IS NULL THEN '{}' ELSE ARRAY[-1 - patch] END,
         CASE WHEN patch IS NOT NULL THEN jsonb_build_array(jsonb_build_object(
           'patch', patch, 'score', score, 'columns', '[]'::jsonb, 'achievedAtMs', at_ms, 'metadata', NULL)) END
       FROM unnest($3::text[], $4::smallint[], $5::bigint[], $6::float8[], $7::bigint[], $8::int[])
         AS r (id, lane, version, score, at_ms, patch)`,
      [
        board.windowUid,
        board.uid,
        ids,
        ids.map((id) => domain.laneOf(id, lanes)),
        rows.map((row) => row + 1),
        rows.map(scoreOf),
        rows.map((row) => sinceMs + 37 * row),
        rows.map((row) => patchOf?.(row) ?? null),
      ],
    );
    onRows(from + rows.length);
  }
}

/** The board that is measured, with its window for all time. */
export async function findBoard(pool: Pool, id: string): Promise<MeasuredBoard> {
  const { rows } = await pool.query<Omit<MeasuredBoard, 'id' | 'windowUid'>>(
    'SELECT board_uid AS uid, definition, layouts FROM boards WHERE board_id = $1',
    [id],
  );
  const { uid, definition, layouts } = rows[0]!;
  await pool.query(
    `INSERT INTO windows (board_uid, window_id, kind) VALUES ($1, 'alltime', 'alltime') ON CONFLICT DO NOTHING`,
    [uid],
  );
  const windows = await pool.query<{ windowUid: number }>(
    `SELECT window_uid AS "windowUid" FROM windows WHERE board_uid = $1 AND kind = 'alltime'`,
    [uid],
  );
  return { uid, id, definition, layouts, windowUid: windows.rows[0]!.windowUid };
}

/**
 * Gives the board the layout of another, while no process of the service runs, and as many index buckets as it would have
 * if it had grown to its size.
 */
export async function takeLayout(
  { pool, domain, board, entries }: Pick<Filling, 'pool' | 'domain' | 'entries'> & { board: { id: string } },
  other: string,
): Promise<void> {
  const { rows } = await pool.query<Pick<MeasuredBoard, 'layouts'>>('SELECT layouts FROM boards WHERE board_id = $1', [
    other,
  ]);
  const { serving } = rows[0]!.layouts;
  const indexBuckets = domain.indexBucketsFor(entries / domain.shardCountOf(serving.sharding));
  await pool.query(
    `UPDATE boards AS b SET layouts = jsonb_set(o.layouts, '{serving,indexBuckets}', to_jsonb($3::int)), definition = b.definition || jsonb_build_object(
       'sharding', o.definition -> 'sharding', 'dense', o.definition -> 'dense')
     FROM boards AS o WHERE b.board_id = $1 AND o.board_id = $2`,
    [board.id, other, indexBuckets],
  );
}
