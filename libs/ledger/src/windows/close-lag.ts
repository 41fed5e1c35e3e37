import { Inject, Injectable } from '@nestjs/common';
import { PostgresDatabase, type SqlRunner } from '../database/postgres-database.js';
import { DUE_AT, IS_OVER } from './window-closing-sql.js';

/**
 * One that waits for its pool's period is due when that is to close, and one that was asked for later than that, since then: what is
 * rated and told with a period takes its time.
 */
const LAG = `
  SELECT greatest(0, coalesce(extract(epoch FROM ladder_now() - min(greatest(${DUE_AT},
    coalesce(l.asked_at, CASE WHEN l.ask_at IS NOT NULL THEN to_timestamp(p.closes_at_ms::float8 / 1000) END)))), 0))::float8 AS seconds
  FROM windows w JOIN boards b USING (board_uid) LEFT JOIN last_feeds l USING (window_uid)
  LEFT JOIN pools p ON p.pool_uid = (b.feed ->> 'poolUid')::int
  WHERE ${IS_OVER}`;

/** For metrics. */
@Injectable()
export class WindowCloseLag {
  constructor(@Inject(PostgresDatabase) private readonly database: SqlRunner) {}

  /** For how many seconds the window has been due to close that waits longest; 0 where none does. */
  async seconds(): Promise<number> {
    const [row] = await this.database.query<{ seconds: number }>(LAG);
    return row!.seconds;
  }
}
