import { Environment } from '@laddercast/platform';
import { Inject, Injectable } from '@nestjs/common';
import { PostgresDatabase, type SqlRunner } from '../database/postgres-database.js';

const CHUNK_ROWS = 5000;

/** Forgets submission ids once their time is over, a chunk at a time. */
@Injectable()
export class SubmissionPruner {
  constructor(
    @Inject(PostgresDatabase) private readonly database: SqlRunner,
    private readonly environment: Environment,
  ) {}

  /** @returns how many ids were forgotten */
  async prune(signal: AbortSignal): Promise<number> {
    let pruned = 0;
    while (!signal.aborted) {
      const rows = await this.database.query(
        `DELETE FROM submissions WHERE ctid IN (SELECT ctid FROM submissions
           WHERE accepted_at < ladder_now() - $1::float8 * interval '1 day' LIMIT ${CHUNK_ROWS}) RETURNING 1`,
        [this.environment.SUBMISSION_ID_DAYS],
      );
      pruned += rows.length;
      if (rows.length < CHUNK_ROWS) break;
    }
    return pruned;
  }
}
