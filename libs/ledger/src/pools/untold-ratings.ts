import type { RatingChanged } from '@laddercast/domain';
import { textArray } from '../database/postgres-arrays.js';
import type { SqlRunner } from '../database/postgres-database.js';
import { prepared } from '../database/postgres-statements.js';
import { KEEP_TURN } from './pool-events.js';

/** The most events that one statement writes, and that are told while others wait for the lane: some tenths of a second. */
export const TOLD_AT_ONCE = 5000;

const LEAVE_UNTOLD = prepared(`
  INSERT INTO untold_ratings (pool_uid, place, key, payload)
  SELECT $1::int, $2::bigint + o.n, o.key, o.payload
  FROM unnest($3::text[], $4::text[]) WITH ORDINALITY AS o (key, payload, n)`);

const TELL_UNTOLD = prepared(`
  WITH told AS (
    DELETE FROM untold_ratings WHERE pool_uid = $1 AND place = ANY (ARRAY(
      SELECT place FROM untold_ratings WHERE pool_uid = $1 ORDER BY place LIMIT ${TOLD_AT_ONCE}))
    RETURNING place, key, payload)
  INSERT INTO outbox (lane, position, topic, key, payload)
  SELECT $2::smallint, nextval('ladder_position'), 'rating-changed', key, payload
  FROM (SELECT * FROM told ORDER BY place) AS told`);

/** A rating that is to be told. */
export type ToldRating = Omit<RatingChanged, 'type' | 'poolUid' | 'ratedPosition'>;

/** The text of events, for `unnest`: keys and payloads. */
export const wordRatings = (
  { poolUid, ratedPosition }: { poolUid: number; ratedPosition: number },
  changed: readonly ToldRating[],
): [keys: Buffer, payloads: Buffer] => [
  textArray(changed.map(({ playerId }) => playerId)),
  textArray(changed.map((one) => JSON.stringify({ type: 'rating-changed', poolUid, ratedPosition, ...one }))),
];

/**
 * Leaves events to the turns that follow, which tell them before anything else of the pool: those of all players of a large pool
 * take longer than others may wait for its lane.
 */
export async function leaveUntold(
  transaction: SqlRunner,
  of: { poolUid: number; ratedPosition: number },
  changed: readonly ToldRating[],
): Promise<void> {
  for (let from = 0; from < changed.length; from += TOLD_AT_ONCE) {
    if (from > 0) await transaction.query(KEEP_TURN);
    const some = changed.slice(from, from + TOLD_AT_ONCE);
    await transaction.query(LEAVE_UNTOLD, [of.poolUid, from, ...wordRatings(of, some)]);
  }
}

/** Puts the next of them into the outbox of the pool's lane, which this transaction holds. */
export async function tellUntold(transaction: SqlRunner, poolUid: number, lane: number): Promise<void> {
  await transaction.query(TELL_UNTOLD, [poolUid, lane]);
}
