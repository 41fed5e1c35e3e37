import { GUILDS_SCOPE, type BoardDefinition } from '@laddercast/domain';
import type { SqlRunner } from '../database/postgres-database.js';
import { guildScoreSql } from '../entries/guild-aggregate.js';
import type { DueWindow } from '../standings/revision-notes.js';
import type { WantedRow } from './row-differences.js';

/** The guilds of these scopes. */
const GUILDS_OF_SCOPES = `
  SELECT scope_uid AS scope, substr(name, 7) AS "guildId" FROM scopes
  WHERE scope_uid = ANY ($1::int[]) AND name LIKE 'guild:%'`;

/** The scopes of these guilds; of one that never ranked anybody null. */
const SCOPES_OF_GUILDS = `
  SELECT k.guild_id AS "guildId", s.scope_uid AS scope FROM unnest($1::text[]) AS k (guild_id)
  LEFT JOIN LATERAL (SELECT scope_uid FROM scopes WHERE name = 'guild:' || k.guild_id LIMIT 1) AS s ON true`;

/** The guilds that keep something of these players in a window. */
const KEEPERS = `
  SELECT DISTINCT k.guild_id AS "guildId" FROM unnest($2::text[]) AS p (player_id)
  CROSS JOIN LATERAL (SELECT guild_id FROM guild_kept WHERE player_id = p.player_id AND window_uid = $1) AS k`;

/**
 * The rows of guilds `$3` with scopes `$4` in window `$1`, of the members that the base `$2` with its newest changes shows in
 * their lists, and of what leavers left; at a freeze, until the moment `$5`.
 */
const guildRowsSql = (rules: Pick<BoardDefinition, 'guildAggregate' | 'order'>): string => `
  SELECT k.guild_id AS "guildId", t.score, t.members, t.achieved_at_ms AS "achievedAtMs"
  FROM unnest($3::text[], $4::int[]) AS k (guild_id, scope_uid)
  CROSS JOIN LATERAL (
    SELECT ${guildScoreSql(rules)} AS score, count(*)::int AS members, max(achieved_at_ms) AS achieved_at_ms
    FROM (
      SELECT s.player_id, s.score, s.achieved_at_ms
      FROM standings s LEFT JOIN edition_changes c ON c.edition_uid = s.edition_uid AND c.scope_uid = s.scope_uid
        AND c.player_id = s.player_id AND c.until IS NULL
      WHERE s.edition_uid = $2 AND s.scope_uid = k.scope_uid AND c.player_id IS NULL
      UNION ALL
      SELECT player_id, score, achieved_at_ms FROM edition_changes
      WHERE edition_uid = $2 AND scope_uid = k.scope_uid AND until IS NULL AND score IS NOT NULL
      UNION ALL
      SELECT player_id, score, achieved_at_ms FROM ranked_guild_kept
      WHERE window_uid = $1 AND guild_id = k.guild_id AND present AND ($5::timestamptz IS NULL OR left_at < $5)
    ) AS part) AS t`;

interface GuildOfScope {
  guildId: string;
  scope: number | null;
}

interface GuildRow {
  guildId: string;
  score: number | null;
  members: number;
  achievedAtMs: number | null;
}

/** What was touched of a window: lists whose rows changed, players, and guilds that were named. */
export interface Touched {
  scopes: readonly number[];
  playerIds: readonly string[];
  guildIds: readonly string[];
}

/** The guilds whose rows may differ now, and their scopes. */
export async function touchedGuilds(
  database: SqlRunner,
  windowUid: number,
  { scopes, playerIds, guildIds }: Touched,
): Promise<GuildOfScope[]> {
  const ofScopes = await database.query<GuildOfScope & { scope: number }>(GUILDS_OF_SCOPES, [scopes]);
  const keepers = await database.query<{ guildId: string }>(KEEPERS, [windowUid, playerIds]);
  const known = new Set(ofScopes.map(({ guildId }) => guildId));
  const others = new Set([...guildIds, ...keepers.map(({ guildId }) => guildId)].filter((id) => !known.has(id)));
  if (others.size === 0) return ofScopes;
  return [...ofScopes, ...(await database.query<GuildOfScope>(SCOPES_OF_GUILDS, [[...others]]))];
}

/** What the table of guilds should show of these, by the rows of their members as they are in the transaction. */
export async function wantedGuildRows(
  transaction: SqlRunner,
  rules: Pick<BoardDefinition, 'guildAggregate' | 'order'>,
  { windowUid, kind, base, asOf }: DueWindow & { base: number; asOf: string },
  guilds: readonly GuildOfScope[],
): Promise<WantedRow[]> {
  if (guilds.length === 0) return [];
  const rows = await transaction.query<GuildRow>(guildRowsSql(rules), [
    windowUid,
    base,
    guilds.map(({ guildId }) => guildId),
    guilds.map(({ scope }) => scope),
    kind === 'frozen' ? asOf : null,
  ]);
  return rows.map(({ guildId, score, members, achievedAtMs }) => ({
    scope: GUILDS_SCOPE,
    playerId: guildId,
    row:
      members === 0
        ? null
        : {
            player_id: guildId,
            score: score!,
            columns: [],
            achieved_at_ms: achievedAtMs!,
            metadata: null,
            verified: null,
            proof: null,
            scopes: [],
            members,
          },
  }));
}
