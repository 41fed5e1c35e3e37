import type { PlayerFace } from '@laddercast/domain';
import type { SqlRunner } from '../database/postgres-database.js';
import { prepared } from '../database/postgres-statements.js';

export interface FaceRow extends PlayerFace {
  id: string;
}

const FACES_SQL = prepared(`
  SELECT k.id, p.avatar_url AS "avatarUrl", p.region, p.attributes
  FROM unnest($1::text[]) AS k (id)
  CROSS JOIN LATERAL (SELECT * FROM players WHERE player_id = k.id LIMIT 1) AS p`);

/** The faces of those of these players who have a profile. */
export const playerFaces = (database: SqlRunner, ids: readonly string[]): Promise<FaceRow[]> =>
  database.query(FACES_SQL, [ids]);
