import { createHash } from 'node:crypto';
import type { SqlRunner } from './postgres-database.js';

/** The first key of the advisory locks of people's lists; the second is a hash of whose list it is. */
const CIRCLE_LOCK_SPACE = 7_164;

/**
 * Waits until nobody else changes the lists of these owners, to the end of the transaction: what is counted in them
 * stays so. Locks are taken in the order of their numbers, so that nobody waits in a ring.
 */
export async function lockCircles(transaction: SqlRunner, owners: readonly string[]): Promise<void> {
  const numbers = new Set(owners.map((owner) => createHash('sha1').update(owner).digest().readInt32BE(0)));
  for (const number of [...numbers].sort((a, b) => a - b)) {
    await transaction.query('SELECT pg_advisory_xact_lock($1, $2)', [CIRCLE_LOCK_SPACE, number]);
  }
}
