import { sleep } from '@laddercast/platform';
import { HeldLease } from '../leases/held-lease.js';
import type { SqlRunner } from '../database/postgres-database.js';
import type { PostgresLeases } from '../leases/postgres-leases.js';

const EVERY_MS = 600_000;
const CHUNK_ROWS = 5000;
const LEASE_TTL_MS = 60_000;

/** Forgets submission ids once their time is over; one process at a time, a chunk at a time. */
export class SubmissionPruner {
  private readonly lease: HeldLease;

  constructor(
    private readonly database: SqlRunner,
    leases: PostgresLeases,
    private readonly options: { holder: string; rememberedDays: number; onFailure: (error: unknown) => void },
  ) {
    const { holder, onFailure } = options;
    const name = 'submissions:prune';
    this.lease = new HeldLease(leases, { name, holder, ttlMs: LEASE_TTL_MS, askEveryMs: LEASE_TTL_MS, onFailure });
  }

  start(): void {
    this.lease.start(async ({ ending }) => {
      while (!ending.aborted) {
        await this.prune(ending).catch(this.options.onFailure);
        await sleep(EVERY_MS, ending);
      }
    });
  }

  stop(): Promise<void> {
    return this.lease.stop();
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
