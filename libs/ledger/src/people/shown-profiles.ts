import type { SanctionInForce } from '@laddercast/domain';
import type { SqlRunner } from '../database/postgres-database.js';
import { prepared } from '../database/postgres-statements.js';

/** What people see of a player or guild beside its id. */
export interface ShownProfile {
  displayName: string | null;
  /** Whether it asked to be shown to others. */
  listed: boolean;
  /** What a moderator put on it, and is in force. */
  sanction: SanctionInForce | null;
}

export interface ProfileRow extends ShownProfile {
  id: string;
}

const PROFILES_SQL = prepared(`
  SELECT k.id, p.display_name AS "displayName", coalesce(p.listed, true) AS listed, s.sanction
  FROM unnest($1::text[]) AS k (id)
  LEFT JOIN LATERAL (SELECT * FROM players WHERE player_id = k.id LIMIT 1) AS p ON true
  LEFT JOIN LATERAL (
    SELECT jsonb_build_object('kind', kind, 'boards', boards, 'publicReason', public_reason,
      'untilMs', floor(extract(epoch FROM until) * 1000)::bigint) AS sanction
    FROM sanctions WHERE player_id = k.id AND ended_at IS NULL LIMIT 1) AS s ON true
  WHERE p.player_id IS NOT NULL OR s.sanction IS NOT NULL`);

const HAS_PROFILES_SQL = prepared(`
  SELECT EXISTS (SELECT 1 FROM players) 
    OR (SELECT player_id FROM sanctions WHERE ended_at IS NULL ORDER BY player_id LIMIT 1) IS NOT NULL AS "hasProfiles"`);

const GUILDS_SQL = prepared(`
  SELECT k.id, g.display_name AS "displayName", true AS listed, NULL::jsonb AS sanction
  FROM unnest($1::text[]) AS k (id)
  CROSS JOIN LATERAL (SELECT * FROM guilds WHERE guild_id = k.id LIMIT 1) AS g`);

/** What is known of those of these players, or guilds, who have a profile or a sanction. */
export const shownProfiles = (database: SqlRunner, isGuild: boolean, ids: readonly string[]): Promise<ProfileRow[]> =>
  database.query(isGuild ? GUILDS_SQL : PROFILES_SQL, [ids]);

/** Whether any player has a profile or a sanction. */
export async function hasShownProfiles(database: SqlRunner): Promise<boolean> {
  const [row] = await database.query<{ hasProfiles: boolean }>(HAS_PROFILES_SQL);
  return row?.hasProfiles ?? true;
}
