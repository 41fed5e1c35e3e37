import pg from 'pg';
import { vi } from 'vitest';

/** As only they begin. */
const OF_ONE_TRIP = 'pg_advisory_xact_lock';
const CANCELLED = `DO $$ BEGIN RAISE EXCEPTION 'canceling statement due to user request' USING ERRCODE = '57014'; END $$`;

/** Has beginnings of commits in one trip fail as those do that an operator cancels in that moment; `vi.restoreAllMocks()` ends it. */
export class CancelledBeginnings {
  cancelled = 0;
  private isNext = false;

  constructor() {
    const { query } = pg.Client.prototype;
    const take = (sent: { text?: string }): void => {
      if (!this.isNext || !sent.text?.startsWith('BEGIN; ') || !sent.text.includes(OF_ONE_TRIP)) return;
      this.isNext = false;
      this.cancelled += 1;
      sent.text = CANCELLED;
    };
    vi.spyOn(pg.Client.prototype, 'query').mockImplementation(function (this: pg.Client, ...given: unknown[]) {
      take(given[0] as { text?: string });
      return (query as (...args: unknown[]) => unknown).apply(this, given);
    } as never);
  }

  /** The next one fails. */
  next(): void {
    this.isNext = true;
  }
}
