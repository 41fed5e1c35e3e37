import type { SqlRunner } from '@laddercast/ledger';
import { sleep } from '@laddercast/platform';

const LOOK_EVERY_MS = 5;

/** Reads the outbox as the log does: of each lane what comes behind the last position that was there. */
export class OutboxReader {
  private readonly last = new Map<number, number>();
  private readonly counts = new Map<number, number>();
  private isStopped = false;
  private readonly reading: Promise<void>;

  constructor(private readonly database: SqlRunner) {
    this.reading = this.read();
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    await this.reading;
  }

  /** What it has not come across of what is there now. */
  async missed(): Promise<unknown[]> {
    await this.stop();
    await this.look();
    const lanes = await this.database.query<{ lane: number; count: number }>(
      'SELECT lane, count(*)::int AS count FROM outbox GROUP BY lane',
    );
    return lanes.filter(({ lane, count }) => this.counts.get(lane) !== count);
  }

  private async read(): Promise<void> {
    for (; !this.isStopped; await sleep(LOOK_EVERY_MS)) await this.look();
  }

  private async look(): Promise<void> {
    const rows = await this.database.query<{ lane: number; count: number; last: number }>(
      `SELECT o.lane, count(*)::int AS count, max(position) AS last
       FROM outbox o LEFT JOIN unnest($1::int[], $2::bigint[]) AS k (lane, last) USING (lane)
       WHERE position > coalesce(k.last, 0) GROUP BY o.lane`,
      [[...this.last.keys()], [...this.last.values()]],
    );
    for (const { lane, count, last } of rows) {
      this.last.set(lane, last);
      this.counts.set(lane, (this.counts.get(lane) ?? 0) + count);
    }
  }
}
