import type { RatingState, RecomputedRefund, Refund } from '@laddercast/domain';
import { int8Array, textArray } from '../database/postgres-arrays.js';
import type { SqlRunner } from '../database/postgres-database.js';
import { prepared } from '../database/postgres-statements.js';
import { stateParameters } from '../pools/rating-rows.js';
import { stateJson } from './state-json.js';

const CHUNK = 1000;

const HAS_REFUNDS = prepared(
  'SELECT EXISTS (SELECT FROM rating_changes WHERE pool_uid = $1 AND refund IS NOT NULL) AS "hasRefunds"',
);

const REFUNDS_OF_PLAYER = prepared(`
  SELECT c.position, c.refund AS points, ${stateJson('before')} AS before, ${stateJson('after')} AS after
  FROM rating_changes AS c WHERE c.pool_uid = $1 AND c.player_id = $2 AND c.refund IS NOT NULL ORDER BY c.position`);

/** What voids gave back in a pool, as a recompute asks for it: most pools have none, and are asked once. */
export class StoredRefunds {
  private hasRefunds: boolean | null = null;
  private readonly known = new Map<string, readonly Refund[]>();

  /** @param followed the last step of the recompute before a position */
  constructor(
    private readonly sql: SqlRunner,
    private readonly poolUid: number,
    private readonly followed: (position: number) => number,
  ) {}

  async of(playerId: string): Promise<readonly Refund[]> {
    if (this.hasRefunds === null) {
      const [row] = await this.sql.query<{ hasRefunds: boolean }>(HAS_REFUNDS, [this.poolUid]);
      this.hasRefunds = row!.hasRefunds;
    }
    if (!this.hasRefunds) return [];
    const known = this.known.get(playerId) ?? (await this.read(playerId));
    this.known.set(playerId, known);
    return known;
  }

  private async read(playerId: string): Promise<Refund[]> {
    const rows = await this.sql.query<{ position: number; points: number; before: RatingState; after: RatingState }>(
      REFUNDS_OF_PLAYER,
      [this.poolUid, playerId],
    );
    return rows.map((row) => ({ ...row, playerId, follows: this.followed(row.position) }));
  }
}

const MOVE_REFUNDS = prepared(`
  UPDATE rating_changes AS c SET recomputed_by = $4,
    before_rating = k.before_rating, before_deviation = k.before_deviation::float8,
    before_volatility = k.before_volatility::float8, before_memory = k.before_memory::jsonb,
    after_rating = k.after_rating, after_deviation = k.after_deviation::float8,
    after_volatility = k.after_volatility::float8, after_memory = k.after_memory::jsonb
  FROM unnest($2::text[], $3::bigint[], $5::float8[], $6::text[], $7::text[], $8::text[], $9::float8[], $10::text[],
    $11::text[], $12::text[]) AS k (player_id, position, before_rating, before_deviation, before_volatility,
      before_memory, after_rating, after_deviation, after_volatility, after_memory)
  WHERE c.pool_uid = $1 AND c.player_id = k.player_id AND c.position = k.position`);

/** Writes refunds that were given from another state than they were, after the event at this position. */
export async function writeRecomputedRefunds(
  transaction: SqlRunner,
  poolUid: number,
  eventPosition: number,
  refunds: readonly RecomputedRefund[],
): Promise<void> {
  for (let from = 0; from < refunds.length; from += CHUNK) {
    const chunk = refunds.slice(from, from + CHUNK);
    await transaction.query(MOVE_REFUNDS, [
      poolUid,
      textArray(chunk.map(({ refund }) => refund.playerId)),
      int8Array(chunk.map(({ refund }) => refund.position)),
      eventPosition,
      ...stateParameters(chunk.map(({ before }) => before)),
      ...stateParameters(chunk.map(({ after }) => after)),
    ]);
  }
}
