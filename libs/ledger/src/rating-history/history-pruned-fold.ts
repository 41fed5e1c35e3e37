import { periodNumbered, type PeriodRules } from '@laddercast/domain';
import { Injectable } from '@nestjs/common';
import type { SqlRunner } from '../database/postgres-database.js';
import { prepared } from '../database/postgres-statements.js';
import { CLOCKS_APART_MS } from '../pools/recorded-games.js';
import { PERIOD_CLOSED } from '../periods/period-closer.js';
import type { FoldedEvent, PoolEvent, PoolEventFold, PoolInTurn } from '../pools/pool-events.js';
import { historyNeededFromMs } from './needed-history.js';

/** The type of the pool event from which on older changes of the pool are not asked for. */
export const HISTORY_PRUNED = 'history-pruned';

/** Games are recorded after they were played: what was played since `$2` lies behind the first that was recorded since. */
const FORGET_GAMES = prepared(`
  UPDATE pools SET history_from_ms = $2, history_position = greatest(history_position, least($3::bigint, coalesce((
      SELECT position FROM games
      WHERE pool_uid = $1 AND recorded_at >= to_timestamp(($2::bigint - ${CLOCKS_APART_MS})::float8 / 1000)
      ORDER BY recorded_at, position LIMIT 1) - 1, $3::bigint)))
  WHERE pool_uid = $1 AND coalesce(history_from_ms, 0) < $2::bigint`);

const CLOSED_SINCE = prepared(`
  SELECT position, (payload ->> 'period')::int AS period FROM pool_events
  WHERE pool_uid = $1 AND type = '${PERIOD_CLOSED}' AND position < $2
    AND position > (SELECT history_position FROM pools WHERE pool_uid = $1)
  ORDER BY position`);

const FORGET_PERIODS = prepared(`
  UPDATE pools SET history_from_ms = $2, history_position = coalesce($3, history_position),
    history_period = coalesce($4, history_period)
  WHERE pool_uid = $1 AND coalesce(history_from_ms, 0) < $2::bigint`);

/**
 * Says which changes of a pool are kept no longer: in the pool's order, so that every correction either comes before it, or
 * is told that the game is gone. Their rows go afterwards.
 */
@Injectable()
export class HistoryPrunedFold implements PoolEventFold {
  readonly type = HISTORY_PRUNED;
  readonly isQuick = true;

  async fold(_: SqlRunner, { uid, definition }: PoolInTurn, event: PoolEvent): Promise<FoldedEvent> {
    const { history, periods } = definition;
    return {
      ...{ outcome: {}, newcomers: 0, changed: [] },
      // With the lane: no board gets other windows meanwhile.
      async store(sql) {
        if (history.keepDays === null) return;
        const fromMs = await historyNeededFromMs(sql, uid, history.keepDays);
        if (periods) await forgetPeriods(sql, uid, event.position, periods, fromMs);
        else await sql.query(FORGET_GAMES, [uid, fromMs, event.position]);
      },
    };
  }
}

async function forgetPeriods(
  sql: SqlRunner,
  poolUid: number,
  eventPosition: number,
  rules: PeriodRules,
  fromMs: number,
): Promise<void> {
  const closed = await sql.query<{ position: number; period: number }>(CLOSED_SINCE, [poolUid, eventPosition]);
  const last = closed.findLast(({ period }) => (periodNumbered(rules, period)?.endsAtMs ?? Infinity) <= fromMs);
  await sql.query(FORGET_PERIODS, [poolUid, fromMs, last?.position ?? null, last?.period ?? null]);
}
