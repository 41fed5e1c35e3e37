import { ADVISORY_LOCKS, type PostgresDatabase } from '@laddercast/ledger';
import { RELAY_GROUP } from './outbox-relay.js';

/** Identifies the log that is used. */
export type LogIdentity =
  | { kind: 'postgres' }
  /** A cluster, and what the names of our topics in it begin with. */
  | { kind: 'kafka'; clusterId: string; prefix: string };

/**
 * Notices that another log is used than at the last start. Events that were relayed to the old one and not yet consumed
 * would never arrive, and its groups would keep the outbox from being trimmed. So the ranks are brought back from the
 * ledger, and offsets that nobody needs any more are forgotten.
 * @param bringBack is awaited before the new log counts as known; it runs again at the next start when it fails
 * @returns whether the log has changed
 */
export async function adoptLog(
  database: PostgresDatabase,
  log: LogIdentity,
  bringBack: () => Promise<void>,
): Promise<boolean> {
  const identity = log.kind === 'postgres' ? log.kind : `${log.kind}/${log.clusterId}/${log.prefix}`;
  return database.transaction(async (transaction) => {
    await transaction.query('SELECT pg_advisory_xact_lock($1)', [ADVISORY_LOCKS.logChange]);
    // What a log of Kafka lost is brought back with all that it held; nobody follows that log any more.
    if (log.kind === 'postgres') await transaction.query(`DELETE FROM installation WHERE name = 'log-lost'`);
    const [known] = await transaction.query<{ value: string }>(`SELECT value FROM installation WHERE name = 'log'`);
    if (known?.value === identity) return false;
    if (known) {
      await bringBack();
      // With Kafka, only the relay's group of the outbox is needed; with the outbox as the log, all others.
      await transaction.query('DELETE FROM log_offsets WHERE (consumer_group = $1) = $2', [
        RELAY_GROUP,
        log.kind === 'postgres',
      ]);
      await transaction.query(`DELETE FROM installation WHERE starts_with(name, 'log-end/')`);
    }
    await transaction.query(
      `INSERT INTO installation (name, value) VALUES ('log', $1) ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
      [identity],
    );
    return known !== undefined;
  });
}

/**
 * Brings back what a log has lost ({@link PostgresLogEnds.declareLost}); only one process does it.
 * @param bringBack is awaited before the loss counts as made good; it runs again at the next call when it fails
 * @returns what was lost; null when nothing was
 */
export async function bringBackLost(
  database: PostgresDatabase,
  bringBack: () => Promise<void>,
): Promise<string | null> {
  const lost = `SELECT value FROM installation WHERE name = 'log-lost'`;
  if ((await database.query(lost)).length === 0) return null;
  return database.transaction(async (transaction) => {
    await transaction.query('SELECT pg_advisory_xact_lock($1)', [ADVISORY_LOCKS.logChange]);
    const [reason] = await transaction.query<{ value: string }>(`${lost} FOR UPDATE`);
    if (!reason) return null;
    await bringBack();
    await transaction.query(
      `DELETE FROM installation WHERE name = 'log-lost' OR (starts_with(name, 'log-end/') AND NOT starts_with(name,
         'log-end/' || (SELECT value FROM installation WHERE name = 'log-incarnation') || '/'))`,
    );
    return reason.value;
  });
}
