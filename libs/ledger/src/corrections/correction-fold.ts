import { LadderError, newcomer } from '@laddercast/domain';
import { Environment } from '@laddercast/platform';
import { Inject, Injectable } from '@nestjs/common';
import { int8Array } from '../database/postgres-arrays.js';
import type { SqlRunner } from '../database/postgres-database.js';
import { prepared } from '../database/postgres-statements.js';
import { recordAudit } from '../operators/audit-log.js';
import {
  hasResultAlready,
  NOTHING_CORRECTED,
  outcomeOf,
  POOL_CORRECTION,
  type KeptOutcome,
  type PoolCorrection,
  type RecordedCorrection,
} from './corrections.js';
import { recomputed } from './recomputed.js';
import type { FoldedEvent, PoolEvent, PoolEventFold, PoolInTurn } from '../pools/pool-events.js';
import { RatingAlgorithms } from '../pools/rating-algorithms.js';
import { deriveRatings } from './recomputed-rows.js';

const UNDO_VOID = prepared(`
  UPDATE games SET void_position = NULL, void_mode = NULL, void_reason = NULL
  WHERE pool_uid = $1 AND position = ANY ($2::bigint[]) AND void_position = $3`);

const COUNT_REFUNDED = prepared('UPDATE pools SET refunded = refunded + $2 WHERE pool_uid = $1');

/** Makes games void, or gives one another result, in the turn of their pool: whole, or not at all where it reaches too far. */
@Injectable()
export class CorrectionFold implements PoolEventFold {
  readonly type = POOL_CORRECTION;

  constructor(
    private readonly algorithms: RatingAlgorithms,
    @Inject(Environment) private readonly settings: Pick<Environment, 'RECOMPUTE_GAMES_MAX'>,
  ) {}

  async fold(transaction: SqlRunner, pool: PoolInTurn, event: PoolEvent): Promise<FoldedEvent> {
    // One that was recorded by a release without refunds says nothing of them, and the act of an older one is written down.
    const recorded = event.payload as Omit<PoolCorrection, 'refund'> & Partial<RecordedCorrection>;
    const correction: PoolCorrection = { ...recorded, refund: recorded.refund ?? null };
    const gamesMax = this.settings.RECOMPUTE_GAMES_MAX;
    const { uid, ratedPosition } = pool;
    const rating = this.algorithms.poolOf(pool.definition);
    if (await hasResultAlready(transaction, uid, correction)) {
      return { outcome: NOTHING_CORRECTED, newcomers: 0, changed: [] };
    }
    try {
      const made = await recomputed(transaction, { uid, ratedPosition, rating }, correction, gamesMax);
      await made.write(transaction, event.position);
      const { ratings, fewer } = await deriveRatings(transaction, uid, {
        players: [...made.touched],
        moved: [...made.players.keys()],
        eventPosition: event.position,
      });
      const known = new Map(ratings.map((one) => [one.playerId, one.rating]));
      const changed = [...made.touched].map((playerId) => ({
        playerId,
        rating: known.get(playerId) ?? newcomer(rating),
      }));
      return {
        ...{ outcome: outcomeOf(correction, made), newcomers: -fewer, changed },
        async store(sql) {
          if (recorded.act) await recordAudit(sql, recorded.act);
          if (made.refunded > 0) await sql.query(COUNT_REFUNDED, [uid, made.refunded]);
        },
      };
    } catch (error) {
      if (!(error instanceof LadderError) || error.code !== 'RECOMPUTE_TOO_LARGE') throw error;
      await transaction.query(UNDO_VOID, [uid, int8Array(correction.positions), event.position]);
      const outcome: KeptOutcome = { refused: { detail: error.message, gamesMax } };
      return { outcome, newcomers: 0, changed: [] };
    }
  }
}
