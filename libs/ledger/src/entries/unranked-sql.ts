/** Joins the sanction in force of a player, as `s`. */
export const sanctionInForceSql = (playerId: string): string =>
  `LEFT JOIN LATERAL (SELECT * FROM sanctions WHERE player_id = ${playerId} AND ended_at IS NULL LIMIT 1) AS s ON true`;

/** Whether the sanction `s` takes the player's entries out of the ranks on board `b`: `isUnranked` in SQL. */
export const IS_UNRANKED = `coalesce(s.kind <> 'hide' AND (s.boards IS NULL OR b.board_id = ANY (s.boards)), false)`;
