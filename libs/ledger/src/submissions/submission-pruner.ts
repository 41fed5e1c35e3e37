import { LeasedTask } from '../leases/leased-task.js';
import type { SqlRunner } from '../database/postgres-database.js';
import type { PostgresLeases } from '../leases/postgres-leases.js';

const EVERY_MS = 600_000;
const CHUNK_ROWS = 5000;
const LEASE_TTL_MS = 60_000;

/** Forgets submission ids once their time is over; one process at a time, a chunk at a time. */
export class SubmissionPruner {
  private readonly task: LeasedTask;

  constructor(
    private readonly database: SqlRunner,
    leases: PostgresLeases,
    private readonly options: { holder: string; rememberedDays: number; onFailure: (error: unknown) => void },
  ) {
    const { holder, onFailure } = options;
    const duties = [{ everyMs: EVERY_MS, run: (signal: AbortSignal) => this.prune(signal) }];
    this.task = new LeasedTask(leases, { name: 'submissions:prune', holder, ttlMs: LEASE_TTL_MS, duties, onFailure });
  }

  start(): void {
    this.task.start();
  }

  stop(): Promise<void> {
    return this.task.stop();
  }

  /** @returns how many ids were forgotten */
  async prune(signal: AbortSignal): Promise<number> {
    let pruned = 0;
    while (!signal.aborted) {
      const rows = await this.database.query(
        `DELETE FROM submissions WHERE ctid IN (SELECT ctid FROM submissions
           WHERE accepted_at < ladder_now() - $1::float8 * interval '1 day' LIMIT ${CHUNK_ROWS}) RETURNING 1`,
        [this.options.rememberedDays],
      );
      pruned += rows.length;
      if (rows.length < CHUNK_ROWS) break;
    }
    return pruned;
  }
}
