import { Injectable } from '@nestjs/common';
import { EXPIRED_ENTRIES, WINDOWS_WITH_EXPIRED } from './entry-limits-sql.js';
import { EntryRemoval } from './entry-removal.js';
import { Lanes } from '../lanes/lanes.js';
import { OutboxNotifier } from '../lanes/outbox-notifier.js';
import { PostgresDatabase } from '../database/postgres-database.js';
import { tryEach } from '../database/try-each.js';

/** The most entries that one look finds. */
const ENTRIES_AT_ONCE = 5000;

interface ExpiredWindow {
  window_uid: number;
  definition_revision: number;
  until_ms: number;
}

/** Removes entries from running windows that no run has renewed for `limits.entryLifetimeSeconds`. */
@Injectable()
export class EntryExpirer {
  private readonly removal: EntryRemoval;

  constructor(
    private readonly database: PostgresDatabase,
    lanes: Lanes,
    notifier: OutboxNotifier,
  ) {
    this.removal = new EntryRemoval(database, lanes, notifier);
  }

  /**
   * Removes every entry whose lifetime is over; returns how many.
   * @throws AggregateError of what failed; it holds up no other window
   */
  async run(signal: AbortSignal): Promise<number> {
    let expired = 0;
    const windows = await this.database.query<ExpiredWindow>(WINDOWS_WITH_EXPIRED);
    await tryEach(windows, signal, async ({ window_uid: windowUid, definition_revision, until_ms }) => {
      while (!signal.aborted) {
        const rows = await this.database.query<{ player_id: string; renewed_at_ms: number }>(EXPIRED_ENTRIES, [
          windowUid,
          until_ms,
          ENTRIES_AT_ONCE,
        ]);
        const seen = rows.map((row) => ({ playerId: row.player_id, version: null, renewedAtMs: row.renewed_at_ms }));
        const window = { windowUid, definitionRevision: definition_revision };
        const removed = await this.removal.remove(window, seen, signal);
        expired += removed;
        if (removed === 0 || rows.length < ENTRIES_AT_ONCE) return;
      }
    });
    return expired;
  }
}
