export const GUILD_OF_PLAYER = `
  SELECT guild_id AS "guildId", (extract(epoch FROM joined_at) * 1000)::bigint AS "joinedAtMs"
  FROM guild_members WHERE player_id = $1`;

/** `$2`: the player who reads. As in lists, a hidden player is counted, and a banned or shadowed one by itself alone. */
export const GUILD_BY_ID = `
  SELECT guild_id AS "guildId", display_name AS "displayName",
    (SELECT count(*) FROM guild_members AS m WHERE m.guild_id = $1 AND NOT EXISTS (
      SELECT 1 FROM sanctions AS s WHERE s.player_id = m.player_id AND s.player_id IS DISTINCT FROM $2
        AND s.ended_at IS NULL AND s.boards IS NULL AND s.kind <> 'hide'))::int AS "memberCount"
  FROM guilds WHERE guild_id = $1`;

/** `$4`: for a key, which sees who is not listed; `$5`: the player who reads. Who is banned or shadowed sees itself alone. */
export const MEMBERS_OF_GUILD = `
  SELECT m.player_id AS "playerId", p.display_name AS "displayName",
    (extract(epoch FROM m.joined_at) * 1000)::bigint AS "joinedAtMs"
  FROM guild_members AS m
  LEFT JOIN LATERAL (SELECT * FROM players WHERE player_id = m.player_id LIMIT 1) AS p ON true
  WHERE m.guild_id = $1 AND m.player_id > $2 AND (m.player_id = $5 OR (($4 OR coalesce(p.listed, true)) AND NOT EXISTS (
    SELECT 1 FROM sanctions
    WHERE player_id = m.player_id AND ended_at IS NULL AND boards IS NULL AND (kind <> 'hide' OR NOT $4::boolean))))
  ORDER BY m.player_id LIMIT $3`;

/** What a leaver's entries were worth to the guild, whatever was kept before. */
export const KEEP_PARTS = `
  INSERT INTO guild_kept (window_uid, guild_id, player_id, score, achieved_at_ms, left_at)
  SELECT k.window_uid, $1, $2, k.score, k.achieved_at_ms, to_timestamp($3::float8 / 1000)
  FROM unnest($4::int[], $5::float8[], $6::bigint[]) AS k (window_uid, score, achieved_at_ms)
  ON CONFLICT (window_uid, guild_id, player_id) DO UPDATE SET score = excluded.score,
    achieved_at_ms = excluded.achieved_at_ms, left_at = excluded.left_at, present = true`;

/**
 * Where nothing counts of a leaver's runs, and one may yet (it is held, or was voided): guild `$1` keeps nothing of player
 * `$2` so far in windows `$4`, and remembers when it left.
 */
export const KEEP_NOTHING_YET = `
  INSERT INTO guild_kept (window_uid, guild_id, player_id, score, achieved_at_ms, left_at, present)
  SELECT window_uid, $1, $2, 0, 0, to_timestamp($3::float8 / 1000), false FROM unnest($4::int[]) AS k (window_uid)
  ON CONFLICT (window_uid, guild_id, player_id) DO NOTHING`;

/** Of who comes back guild `$1` keeps nothing, in windows that run: the player counts by its live entries again. */
export const TAKE_BACK_PARTS = `
  DELETE FROM guild_kept AS k USING windows AS w
  WHERE k.guild_id = $1 AND k.player_id = $2 AND w.window_uid = k.window_uid
    AND w.state = 'open' AND (w.ends_at IS NULL OR w.ends_at > to_timestamp($3::float8 / 1000))
  RETURNING k.window_uid`;

/** The running windows in which something is kept for a guild: a probe for each window that is not settled. */
export const RUNNING_KEPT_WINDOWS = `
  SELECT w.window_uid
  FROM windows AS w
  CROSS JOIN LATERAL (
    SELECT 1 FROM guild_kept WHERE window_uid = w.window_uid AND guild_id = $1 LIMIT 1) AS kept
  WHERE w.state <> 'settled' AND w.state = 'open'
    AND (w.ends_at IS NULL OR w.ends_at > to_timestamp($2::float8 / 1000))`;
