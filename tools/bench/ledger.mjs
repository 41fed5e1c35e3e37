/** How far the ranks are behind the ledger, in log positions, and which position was drawn last. */
const progressSql = `
  SELECT (SELECT last_value FROM ladder_position)::float8 AS drawn,
    coalesce(sum(greatest(0, o.newest - p.position)), 0)::float8 AS behind
  FROM (SELECT lane, max(position) AS newest FROM outbox WHERE topic = 'entry-changed' GROUP BY lane) AS o
  LEFT JOIN projected_positions AS p USING (lane)`;

/** The same in events, cheap enough to be asked for again and again under load: it reads only what is behind. */
const behindSql = `
  SELECT coalesce(sum(waiting), 0)::float8 AS events
  FROM projected_positions AS p
  CROSS JOIN LATERAL (
    SELECT count(*) AS waiting FROM outbox AS o WHERE o.lane = p.lane AND o.position > p.position) AS w`;

/** What the parts of the benchmark look at in PostgreSQL, beside the service. */
export const ledgerOf = (pool) => ({
  pool,
  progress: async () => (await pool.query(progressSql)).rows[0],
  eventsBehind: async () => (await pool.query(behindSql)).rows[0].events,
});
