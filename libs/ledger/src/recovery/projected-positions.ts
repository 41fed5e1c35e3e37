import { DRAWN_SQL } from '../lanes/lane-events.js';
import type { SqlRunner } from '../database/postgres-database.js';
import { prepared } from '../database/postgres-statements.js';

/** The log positions up to which lanes were applied to the projection, in the order given; 0 where nothing was. */
export async function projectedPositions(database: SqlRunner, lanes: readonly number[]): Promise<number[]> {
  const rows = await database.query<{ lane: number; position: number }>(POSITIONS, [lanes]);
  const positions = new Map(rows.map(({ lane, position }) => [lane, position]));
  return lanes.map((lane) => positions.get(lane) ?? 0);
}

/**
 * Records that a lane is applied up to a position.
 * @param soon whether it need not be on the disk when this resolves
 */
export async function recordProjected(
  database: SqlRunner,
  lane: number,
  position: number,
  soon: boolean,
): Promise<void> {
  await database.query(soon ? RECORD_SOON : RECORD, [lane, position]);
}

/** The last position that the ledger drew, in any lane; 0 when none was. */
export async function drawnPosition(database: SqlRunner): Promise<number> {
  const [row] = await database.query<{ position: number }>(DRAWN_SQL);
  return row!.position;
}

const POSITIONS = prepared('SELECT lane, position FROM projected_positions WHERE lane = ANY ($1::int[])');
const RECORD = prepared(`
  INSERT INTO projected_positions AS known (lane, position) VALUES ($1, $2)
  ON CONFLICT (lane) DO UPDATE SET position = greatest(known.position, excluded.position)`);
const RECORD_SOON = prepared(`
  WITH setting AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true))
  INSERT INTO projected_positions AS known (lane, position) SELECT $1::smallint, $2::bigint FROM setting
  ON CONFLICT (lane) DO UPDATE SET position = greatest(known.position, excluded.position)`);
