import { Inject, Injectable } from '@nestjs/common';
import { PostgresDatabase, type SqlRunner } from '../database/postgres-database.js';
import { DUE_AT, IS_OVER } from './window-closing-sql.js';

/** One that waits for its pool's period is due when that is closed. */
const LAG = `
  SELECT greatest(0, coalesce(extract(epoch FROM ladder_now() - min(greatest(${DUE_AT},
    CASE WHEN l.position IS NULL THEN l.ask_at END))), 0))::float8 AS seconds
  FROM windows w JOIN boards b USING (board_uid) LEFT JOIN last_feeds l USING (window_uid)
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
