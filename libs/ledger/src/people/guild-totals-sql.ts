import type { BoardDefinition } from '@laddercast/domain';
import { guildScoreSql } from '../entries/guild-aggregate.js';

/** What is known of windows, their boards included, by the windows' numbers. */
export const READ_WINDOW_FACTS = `
  SELECT w.window_uid AS "windowUid", b.board_uid AS "boardUid", b.revision, b.definition,
    (extract(epoch FROM w.ends_at) * 1000)::bigint AS "endsAtMs",
    (extract(epoch FROM ladder_now()) * 1000)::bigint AS "nowMs"
  FROM unnest($1::int[]) AS k (window_uid)
  CROSS JOIN LATERAL (SELECT * FROM windows WHERE window_uid = k.window_uid LIMIT 1) AS w
  CROSS JOIN LATERAL (SELECT * FROM boards WHERE board_uid = w.board_uid LIMIT 1) AS b
  WHERE b.board_id IS NOT NULL`;

/** How many members' entries the total of each guild is made of, at most. */
export const COUNT_MEMBERS = `
  SELECT k.guild_id AS "guildId", count(m.player_id)::int AS members
  FROM unnest($1::text[]) AS k (guild_id)
  LEFT JOIN LATERAL (SELECT player_id FROM guild_members WHERE guild_id = k.guild_id) AS m ON true
  GROUP BY k.guild_id`;

const STORED_TOTAL = `
  LEFT JOIN LATERAL (
    SELECT * FROM guild_totals WHERE window_uid = k.window_uid AND guild_id = k.guild_id LIMIT 1) AS stored ON true`;

const STORED_COLUMNS = `stored.score AS "storedScore", stored.members AS "storedMembers",
  stored.achieved_at_ms AS "storedAchievedAtMs", stored.removed AS "storedRemoved"`;

/**
 * The totals of guilds in windows of one board, as they should be and as they are stored. Each member's entry is one
 * probe of the primary key. An entry counts for the guild whose scope it has: who left after the window's end is still
 * in that guild there.
 */
export const readGuildTotals = (definition: BoardDefinition): string => `
  SELECT k.n::int AS n, t.score, t.members, t.achieved_at_ms AS "achievedAtMs", ${STORED_COLUMNS}
  FROM unnest($1::int[], $2::text[], $3::int[]) WITH ORDINALITY AS k (window_uid, guild_id, scope_uid, n)
  CROSS JOIN LATERAL (SELECT * FROM windows WHERE window_uid = k.window_uid LIMIT 1) AS w
  CROSS JOIN LATERAL (
    SELECT ${guildScoreSql(definition)} AS score, count(*)::int AS members, max(achieved_at_ms) AS achieved_at_ms
    FROM (
      SELECT e.player_id, e.score, e.achieved_at_ms
      FROM (
        SELECT player_id FROM guild_members WHERE guild_id = k.guild_id
        UNION
        SELECT player_id FROM guild_leavers WHERE guild_id = k.guild_id AND left_at >= w.ends_at) AS m
      CROSS JOIN LATERAL (
        SELECT * FROM ranked_entries WHERE window_uid = k.window_uid AND player_id = m.player_id LIMIT 1) AS e
      WHERE k.scope_uid = ANY (e.scopes)
      UNION ALL
      SELECT player_id, score, achieved_at_ms FROM ranked_guild_kept
      WHERE window_uid = k.window_uid AND guild_id = k.guild_id AND present) AS part) AS t
  ${STORED_TOTAL}`;

/** As {@link readGuildTotals} for a board that does not rank guilds (any more). */
export const READ_NO_GUILD_TOTALS = `
  SELECT k.n::int AS n, NULL::float8 AS score, 0 AS members, NULL::bigint AS "achievedAtMs", ${STORED_COLUMNS}
  FROM unnest($1::int[], $2::text[], $3::int[]) WITH ORDINALITY AS k (window_uid, guild_id, scope_uid, n)
  ${STORED_TOTAL}`;

export const WRITE_GUILD_TOTALS = `
  WITH changed AS (
    INSERT INTO guild_totals (window_uid, guild_id, board_uid, lane, version, removed, score, members, achieved_at_ms)
    SELECT t.window_uid, t.guild_id, t.board_uid, $1::smallint, t.version, t.removed, t.score, t.members, t.achieved_at_ms
    FROM unnest($2::int[], $3::text[], $4::int[], $5::bigint[], $6::boolean[], $7::float8[], $8::int[], $9::bigint[])
      AS t (window_uid, guild_id, board_uid, version, removed, score, members, achieved_at_ms)
    ON CONFLICT (window_uid, guild_id) DO UPDATE SET lane = excluded.lane, version = excluded.version,
      removed = excluded.removed, score = excluded.score, members = excluded.members, achieved_at_ms = excluded.achieved_at_ms
  )
  INSERT INTO outbox (lane, position, topic, key, payload)
  SELECT $1::smallint, o.position, 'entry-changed', o.key, o.payload
  FROM unnest($10::bigint[], $11::text[], $12::text[]) AS o (position, key, payload)`;

/** The guilds that may have a total in a window, after a given one: those that there are, and what is left of others. */
export const GUILDS_OF_WINDOW = `
  SELECT guild_id FROM (
    (SELECT guild_id FROM guilds WHERE guild_id > $2 ORDER BY guild_id LIMIT $3)
    UNION
    (SELECT guild_id FROM guild_totals WHERE window_uid = $1 AND guild_id > $2 ORDER BY guild_id LIMIT $3)
    UNION
    (SELECT DISTINCT guild_id FROM guild_kept WHERE window_uid = $1 AND guild_id > $2 ORDER BY guild_id LIMIT $3)
  ) AS guilds
  ORDER BY guild_id LIMIT $3`;
