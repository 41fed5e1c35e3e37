import { GLOBAL_SCOPE } from '@laddercast/domain';
import type { SqlRunner } from '../database/postgres-database.js';

/** Where a player stood when a day began; null: it was not there. */
export interface PlaceOfDay {
  player_id: string;
  ordinal: number | null;
}

const PLACES_SQL = `
  SELECT k.player_id, s.ordinal
  FROM editions AS e
  CROSS JOIN unnest($3::text[]) AS k (player_id)
  LEFT JOIN LATERAL (
    SELECT ordinal FROM standings
    WHERE edition_uid = e.edition_uid AND scope_uid = ${GLOBAL_SCOPE} AND player_id = k.player_id LIMIT 1) AS s ON true
  WHERE e.window_uid = $1 AND e.kind = 'day' AND e.as_of = to_timestamp($2::float8 / 1000)`;

/** The places that players had when a day began: a row for each of them while its edition is there, else none. */
export const placesOfDay = (
  database: SqlRunner,
  windowUid: number,
  startMs: number,
  playerIds: readonly string[],
): Promise<PlaceOfDay[]> => database.query(PLACES_SQL, [windowUid, startMs, playerIds]);
