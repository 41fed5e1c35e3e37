import { ADVISORY_LOCKS } from '../database/advisory-locks.js';
import type { PostgresDatabase, SqlRunner } from '../database/postgres-database.js';

/**
 * A lane's head: a sequence that everybody moves who takes the lane and writes entries, but for its writer that moved it last. As
 * long as it is as that left it, nobody else has written. What is written by statements that say nothing of lanes is counted by
 * a sequence of its own, and is part of each head.
 */
export const headSequence = (lane: number): string => `lane_head_${lane}`;

/** The head of a lane as text, an SQL expression. @param sequence a `regclass` */
export const headOf = (sequence: string): string => `(coalesce(pg_sequence_last_value(${sequence}), 0) || ' ' ||
      coalesce(pg_sequence_last_value('undeclared_writes'::regclass), 0))`;

/** The same after its sequence was moved. */
export const movedHead = (head: string, value: number): string => `${value} ${head.split(' ')[1]}`;

/** Says of what a transaction writes that it is of this lane, whose head it moves by itself: SQL. */
export const declareLane = (lane: number): string => `SET LOCAL laddercast.lane = '${lane}'`;

const MOVE_HEAD = `SELECT nextval($1::regclass), set_config('laddercast.lane', $2, true)`;

/**
 * Moves the head of a lane, which this transaction holds, before it writes entries of it. What is written without this counts as
 * undeclared, and each process forgets what it remembers of all lanes.
 */
export async function moveHead(transaction: SqlRunner, lane: number): Promise<void> {
  await transaction.query(MOVE_HEAD, [headSequence(lane), String(lane)]);
}

/** Moves the heads of lanes 0 to `count` - 1, all of which this transaction holds, and writes nothing else of them. */
export async function moveHeads(transaction: SqlRunner, count: number): Promise<void> {
  await transaction.query('SELECT nextval(sequence::regclass) FROM unnest($1::text[]) AS s (sequence)', [
    headSequences(count),
  ]);
}

/** Makes what is missing of the heads of lanes 0 to `count` - 1, in a transaction that nobody else makes them in. */
export async function makeHeads(transaction: SqlRunner, count: number): Promise<void> {
  for (const sequence of headSequences(count)) {
    await transaction.query(`CREATE SEQUENCE IF NOT EXISTS ${sequence} AS bigint`);
  }
}

/** The same where nothing is held. */
export async function makeMissingHeads(database: PostgresDatabase, count: number): Promise<void> {
  const [there] = await database.query<{ count: number }>(
    'SELECT count(*)::int FROM pg_sequences WHERE schemaname = current_schema() AND sequencename = ANY($1)',
    [headSequences(count)],
  );
  if (there!.count === count) return;
  await database.transaction(async (transaction) => {
    // Of processes that start together one makes them, and the others find them.
    await transaction.query('SELECT pg_advisory_xact_lock($1)', [ADVISORY_LOCKS.migrations]);
    await makeHeads(transaction, count);
  });
}

const headSequences = (count: number): string[] => Array.from({ length: count }, (_, lane) => headSequence(lane));
