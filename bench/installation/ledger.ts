import type { Following } from '../meters/watch.js';
import type { Pool } from './postgres-pool.js';

/** What the parts of the benchmark look at in PostgreSQL, beside the service. */
export interface LedgerDatabase extends Following {
  pool: Pool;
  /** How far the ranks are behind the ledger, in log positions, and which position was drawn last. */
  progress(): Promise<Progress>;
}

export interface Progress {
  drawn: number;
  behind: number;
}

/** How far the ranks are behind the ledger, in log positions, and which position was drawn last. */
const progressSql = `
  SELECT (SELECT last_value FROM ladder_position)::float8 AS drawn,
    coalesce(sum(greatest(0, o.newest - p.position)), 0)::float8 AS behind
  FROM (SELECT lane, max(position) AS newest FROM outbox WHERE topic = 'entry-changed' GROUP BY lane) AS o
  LEFT JOIN projected_positions AS p USING (lane)`;

/** The same in events that change ranks, counted up to a million: it reads only what is behind. */
const behindSql = `
  SELECT coalesce(sum(waiting), 0)::float8 AS events
  FROM projected_positions AS p
  CROSS JOIN LATERAL (
    SELECT count(*) AS waiting FROM (
      SELECT FROM outbox AS o WHERE o.lane = p.lane AND o.position > p.position AND o.topic = 'entry-changed'
      ORDER BY o.position LIMIT 1000000) AS o) AS w`;

/** For a connection that looks at what changes all the time: the planner would read whole tables that it knows as empty. */
export const watchingOptions = '-c enable_seqscan=off -c enable_bitmapscan=off -c enable_sort=off -c jit=off';

/**
 * What the parts of the benchmark look at in PostgreSQL, beside the service.
 * @param watching a pool with `watchingOptions`, for what is asked again and again under load
 */
export const ledgerOf = (pool: Pool, watching: Pool): LedgerDatabase => ({
  pool,
  progress: async () => (await pool.query<Progress>(progressSql)).rows[0]!,
  eventsBehind: async () =>
    (await watching.query<{ events: number }>({ name: 'behind', text: behindSql })).rows[0]!.events,
});
