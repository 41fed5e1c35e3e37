import { createHash } from 'node:crypto';
import { ADVISORY_LOCKS } from '../database/advisory-locks.js';
import type { SqlRunner } from '../database/postgres-database.js';

/**
 * Waits until nobody else changes the lists of these owners, to the end of the transaction: what is counted in them
 * stays so. Locks are taken in the order of their numbers, so that nobody waits in a ring.
 */
export async function lockCircles(transaction: SqlRunner, owners: readonly string[]): Promise<void> {
  const numbers = new Set(owners.map((owner) => createHash('sha1').update(owner).digest().readInt32BE(0)));
  for (const number of [...numbers].sort((a, b) => a - b)) {
    await transaction.query('SELECT pg_advisory_xact_lock($1, $2)', [ADVISORY_LOCKS.circles, number]);
  }
}
