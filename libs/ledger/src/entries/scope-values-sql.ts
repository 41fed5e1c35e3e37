/** What decides a player's scopes, of the rows `p` and `g` of {@link joinScopeValuesSql}: `ScopeValues` as JSON. */
export const SCOPE_VALUES =
  "jsonb_build_object('region', p.region, 'attributes', coalesce(p.attributes, '{}'), 'guildId', g.guild_id)";

/** Joins a player's own row, and its guild, where there are any: a probe each. */
export const joinScopeValuesSql = (playerId: string): string => `
  LEFT JOIN LATERAL (SELECT * FROM players WHERE player_id = ${playerId} LIMIT 1) AS p ON true
  LEFT JOIN LATERAL (SELECT * FROM guild_members WHERE player_id = ${playerId} LIMIT 1) AS g ON true`;
