import { periodNumbered, type PeriodRules } from '@laddercast/domain';
import { Injectable } from '@nestjs/common';
import { PostgresDatabase, type SqlRunner } from '../database/postgres-database.js';
import { prepared } from '../database/postgres-statements.js';
import { tryEach } from '../database/try-each.js';
import { recordPoolEvent } from '../lanes/lane-events.js';
import { LaneQueue } from '../lanes/lane-queue.js';
import { RunAgain } from '../leases/leased-task.js';

/** The type of the pool event at which the games of a period are rated. */
export const PERIOD_CLOSED = 'period-closed';

/** Of which period, with how many games; the changes of a player have positions from the first on. */
export interface ClosedPeriodPayload {
  readonly period: number;
  readonly games: number;
  readonly firstPosition: number;
}

/** The most pools of one look. */
const POOLS_AT_ONCE = 100;

const POOLS_TO_CLOSE = prepared(`
  SELECT pool_uid AS uid, pool_id AS id FROM pools
  WHERE pool_id IS NOT NULL AND closes_at_ms <= floor(extract(epoch FROM ladder_now()) * 1000)::bigint
  ORDER BY closes_at_ms LIMIT ${POOLS_AT_ONCE}`);

const FIRST_OPEN = prepared(`
  SELECT p.definition -> 'periods' AS rules, floor(extract(epoch FROM ladder_now()) * 1000)::bigint AS "nowMs",
    (SELECT period FROM games WHERE pool_uid = $1 AND period > coalesce(p.closed_period, -2147483648)
      ORDER BY period LIMIT 1) AS period
  FROM pools AS p WHERE pool_uid = $1 AND pool_id IS NOT NULL`);

/** A position for each game: more than any player's changes need. */
const CLOSE = prepared(`
  WITH drawn AS MATERIALIZED (
    SELECT nextval('ladder_position') AS position FROM games WHERE pool_uid = $1 AND period = $2
  ), closed AS (
    UPDATE pools SET closed_period = $2 WHERE pool_uid = $1
  )
  SELECT min(position) AS "firstPosition", count(*) AS games FROM drawn`);

const NOTE_NEXT = prepared('UPDATE pools SET closes_at_ms = $2 WHERE pool_uid = $1');

/** Closes periods whose grace is over, by the clock of the database: those with games, in their order. */
@Injectable()
export class PeriodCloser {
  /** What {@link run} finds, for a `SharedLook`. */
  readonly due = POOLS_TO_CLOSE;

  constructor(
    private readonly database: PostgresDatabase,
    private readonly work: LaneQueue,
  ) {}

  async run(signal: AbortSignal): Promise<RunAgain | undefined> {
    const pools = await this.database.query<{ uid: number; id: string }>(POOLS_TO_CLOSE);
    let isMoreLeft = pools.length === POOLS_AT_ONCE;
    await tryEach(pools, signal, async ({ uid, id }) => {
      if (await this.work.holding(id, (transaction, lane) => closeNext(transaction, uid, lane))) isMoreLeft = true;
    });
    return isMoreLeft ? new RunAgain(0) : undefined;
  }
}

/** Whether a period was closed: the next one may be due, too. */
async function closeNext(transaction: SqlRunner, poolUid: number, lane: number): Promise<boolean> {
  const first = await firstOpen(transaction, poolUid);
  if (!first.isDue) {
    await transaction.query(NOTE_NEXT, [poolUid, first.closesAtMs]);
    return false;
  }
  const { period } = first;
  const [closed] = await transaction.query<Omit<ClosedPeriodPayload, 'period'>>(CLOSE, [poolUid, period]);
  const payload: ClosedPeriodPayload = { period, ...closed! };
  await recordPoolEvent(transaction, { poolUid, lane }, { type: PERIOD_CLOSED, payload });
  const next = await firstOpen(transaction, poolUid);
  await transaction.query(NOTE_NEXT, [poolUid, next.closesAtMs]);
  return true;
}

type FirstOpen = { isDue: true; period: number; closesAtMs: number } | { isDue: false; closesAtMs: number | null };

/** The first period with games that is not closed. */
async function firstOpen(transaction: SqlRunner, poolUid: number): Promise<FirstOpen> {
  const [row] = await transaction.query<{ rules: PeriodRules; nowMs: number; period: number | null }>(FIRST_OPEN, [
    poolUid,
  ]);
  if (!row || row.period === null) return { isDue: false, closesAtMs: null };
  const { closesAtMs } = periodNumbered(row.rules, row.period)!;
  return closesAtMs <= row.nowMs ? { isDue: true, period: row.period, closesAtMs } : { isDue: false, closesAtMs };
}
