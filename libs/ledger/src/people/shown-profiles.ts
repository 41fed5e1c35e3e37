import type { SqlRunner } from '../database/postgres-database.js';
import { prepared } from '../database/postgres-statements.js';

/** What people see of a player or guild beside its id. */
export interface ShownProfile {
  displayName: string | null;
  listed: boolean;
}

export interface ProfileRow extends ShownProfile {
  id: string;
}

const PROFILES_SQL = prepared(`
  SELECT k.id, p.display_name AS "displayName", p.listed
  FROM unnest($1::text[]) AS k (id)
  CROSS JOIN LATERAL (SELECT * FROM players WHERE player_id = k.id LIMIT 1) AS p`);

const HAS_PROFILES_SQL = prepared('SELECT EXISTS (SELECT 1 FROM players) AS "hasProfiles"');

const GUILDS_SQL = prepared(`
  SELECT k.id, g.display_name AS "displayName", true AS listed
  FROM unnest($1::text[]) AS k (id)
  CROSS JOIN LATERAL (SELECT * FROM guilds WHERE guild_id = k.id LIMIT 1) AS g`);

/** The profiles of those of these players, or guilds, who have one. */
export const shownProfiles = (database: SqlRunner, isGuild: boolean, ids: readonly string[]): Promise<ProfileRow[]> =>
  database.query(isGuild ? GUILDS_SQL : PROFILES_SQL, [ids]);

/** Whether any player has a profile. */
export async function hasShownProfiles(database: SqlRunner): Promise<boolean> {
  const [row] = await database.query<{ hasProfiles: boolean }>(HAS_PROFILES_SQL);
  return row?.hasProfiles ?? true;
}
