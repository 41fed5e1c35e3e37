import type { PlayerRating } from '@laddercast/domain';
import { Injectable } from '@nestjs/common';
import { int8Array, textArray } from '../database/postgres-arrays.js';
import { PostgresDatabase, type SqlRunner } from '../database/postgres-database.js';
import { prepared } from '../database/postgres-statements.js';
import { tryEach } from '../database/try-each.js';
import { recordPoolEvent } from '../lanes/lane-events.js';
import { LaneQueue } from '../lanes/lane-queue.js';
import { RunAgain } from '../leases/leased-task.js';
import type { Standing } from './fed-standing.js';
import type { FoldedEvent, PoolEvent, PoolEventFold, PoolInTurn } from '../pools/pool-events.js';
import { RATING_JSON } from '../pools/rating-rows.js';

/**
 * At one position all readings agree, but that those after the end see none any more: the end stays, or an entry that was
 * written by a reading before it would.
 */
const WRITE_ENDS = prepared(`
  INSERT INTO entry_ends AS e (pool_uid, player_id, position, until_ms)
  SELECT $1::int, n.player_id, $2::bigint, nullif(n.until_ms, 0)
  FROM unnest($3::text[], $4::bigint[]) AS n (player_id, until_ms)
  ON CONFLICT (pool_uid, player_id) DO UPDATE SET position = excluded.position,
    until_ms = CASE WHEN excluded.position > e.position THEN excluded.until_ms
      ELSE least(e.until_ms, excluded.until_ms) END
  WHERE excluded.position > e.position
    OR (excluded.position = e.position AND excluded.until_ms IS DISTINCT FROM e.until_ms)`);

/**
 * Notes when entries of players who stay idle change by themselves; an older reading changes nothing.
 * @param rolling the hours of the rolling windows of all boards of the pool
 */
export async function writeEntryEnds(
  sql: SqlRunner,
  poolUid: number,
  standing: Standing,
  rolling: readonly number[],
): Promise<void> {
  const { rankable } = standing.pool;
  const endsByRules = rankable !== null && (rankable.inactiveDaysMax !== null || rankable.deviationMax !== null);
  if (!endsByRules && rolling.length === 0) return;
  // In one order, so that two who write wait for each other in one.
  const players = [...standing.players.values()].sort((a, b) => (a.playerId < b.playerId ? -1 : 1));
  await sql.query(WRITE_ENDS, [
    poolUid,
    standing.state.ratedPosition,
    textArray(players.map(({ playerId }) => playerId)),
    int8Array(players.map((player) => standing.endOf(player, rolling) ?? 0)),
  ]);
}

/** The type of the pool event that says whose entries may have ended, or changed by time alone. */
const ENTRIES_ENDED = 'entries-ended';

/** The most players of one event. */
const ENDED_AT_ONCE = 500;
/** The most pools of one look. */
const POOLS_AT_ONCE = 100;

/** Pools that are gone leave their rows until these are purged: they must not take the place of others. */
const POOLS_WITH_ENDS = prepared(`
  SELECT pool_uid AS uid, pool_id AS id FROM pools WHERE pool_uid IN (
    SELECT e.pool_uid FROM entry_ends e JOIN pools p ON p.pool_uid = e.pool_uid AND p.pool_id IS NOT NULL
    WHERE e.until_ms <= floor(extract(epoch FROM ladder_now()) * 1000)::bigint
    ORDER BY e.until_ms LIMIT ${POOLS_AT_ONCE})`);

const TAKE_ENDS = prepared(`
  UPDATE entry_ends SET until_ms = NULL WHERE pool_uid = $1 AND player_id IN (
    SELECT player_id FROM entry_ends
    WHERE pool_uid = $1 AND until_ms <= floor(extract(epoch FROM ladder_now()) * 1000)::bigint
    ORDER BY until_ms LIMIT ${ENDED_AT_ONCE})
  RETURNING player_id AS "playerId"`);

/** Has players looked at again at the moment from which their entries are others, by the clock of the database. */
@Injectable()
export class EntryEnder {
  /** What {@link run} finds, for a `SharedLook`. */
  readonly due = POOLS_WITH_ENDS;

  constructor(
    private readonly database: PostgresDatabase,
    private readonly work: LaneQueue,
  ) {}

  /** Records an event of its pool for players whose time is over. */
  async run(signal: AbortSignal): Promise<RunAgain | undefined> {
    const pools = await this.database.query<{ uid: number; id: string }>(POOLS_WITH_ENDS);
    let isMoreLeft = pools.length === POOLS_AT_ONCE;
    await tryEach(pools, signal, async ({ uid: poolUid, id }) => {
      const ended = await this.work.holding(id, async (transaction, lane) => {
        const rows = await transaction.query<{ playerId: string }>(TAKE_ENDS, [poolUid]);
        const playerIds = rows.map(({ playerId }) => playerId).sort();
        if (playerIds.length > 0) {
          await recordPoolEvent(transaction, { poolUid, lane }, { type: ENTRIES_ENDED, payload: { playerIds } });
        }
        return playerIds.length;
      });
      if (ended === ENDED_AT_ONCE) isMoreLeft = true;
    });
    return isMoreLeft ? new RunAgain(0) : undefined;
  }
}

const RATINGS_OF = prepared(`
  SELECT k.player_id AS "playerId", ${RATING_JSON} AS rating FROM unnest($2::text[]) AS k (player_id)
  CROSS JOIN LATERAL (SELECT * FROM ratings WHERE pool_uid = $1 AND player_id = k.player_id LIMIT 1) AS r`);

/** Changes no rating: it moves the pool's position, so that what is read of these players from now on is newer than their entries. */
@Injectable()
export class EntriesEndedFold implements PoolEventFold {
  readonly type = ENTRIES_ENDED;
  readonly isQuick = true;

  async fold(transaction: SqlRunner, { uid }: PoolInTurn, { payload }: PoolEvent): Promise<FoldedEvent> {
    const { playerIds } = payload as { playerIds: string[] };
    const parameters = [uid, textArray(playerIds)];
    const changed = await transaction.query<{ playerId: string; rating: PlayerRating }>(RATINGS_OF, parameters);
    return { outcome: {}, newcomers: 0, changed };
  }
}
