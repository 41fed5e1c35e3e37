import { sleep } from '@laddercast/platform';
import { Inject, Injectable } from '@nestjs/common';
import { PostgresDatabase, type SqlRunner } from '../database/postgres-database.js';

/** The channel on which consumers of the outbox are woken; the payload is the lane. */
export const OUTBOX_CHANNEL = 'ladder_outbox';
/** Wakings of one process are at least this far apart: NOTIFY serialises every commit of the database. */
const NOTIFY_EVERY_MS = 10;

/** Tells the consumers of the outbox that a lane has new events; what is not told, their next poll finds. */
@Injectable()
export class OutboxNotifier {
  private readonly lanes = new Set<number>();
  private notifying: Promise<void> | null = null;

  constructor(@Inject(PostgresDatabase) private readonly database: SqlRunner) {}

  /** To be called after the commit. */
  wake(lane: number): void {
    this.lanes.add(lane);
    this.notifying ??= this.notify();
  }

  /** Resolves once nothing is under way. */
  async settled(): Promise<void> {
    await this.notifying;
  }

  private async notify(): Promise<void> {
    while (this.lanes.size > 0) {
      const lanes = [...this.lanes];
      this.lanes.clear();
      await this.database
        .query(`SELECT pg_notify('${OUTBOX_CHANNEL}', lane::text) FROM unnest($1::int[]) AS lane`, [lanes])
        .catch(() => undefined);
      await sleep(NOTIFY_EVERY_MS);
    }
    this.notifying = null;
  }
}
