import { isDeepStrictEqual } from 'node:util';
import { LadderError } from '@laddercast/domain';
import { Injectable } from '@nestjs/common';
import { feedBoards, fillByNewRules, leaveBoards } from '../boards/fed-boards.js';
import { AllLanes } from '../lanes/all-lanes.js';
import { LaneQueue } from '../lanes/lane-queue.js';
import { nextPosition } from '../lanes/lane-events.js';
import { takeLane } from '../lanes/lane-locks.js';
import { Lanes } from '../lanes/lanes.js';
import { recordAudit } from '../operators/audit-log.js';
import { namesTag, type PutCondition } from '../operators/put-condition.js';
import { PostgresDatabase, type SqlRunner } from '../database/postgres-database.js';
import {
  entityTagOfPool,
  findPool,
  poolNotFound,
  requirePool,
  takePoolTurn,
  type Pool,
  type PoolDefinition,
  type PoolProgress,
} from './pool.js';
import { RatingAlgorithms } from './rating-algorithms.js';

const PURGE_CHUNK_ROWS = 5000;
const TABLES_BY_POOL = [
  // First: each look for ends that are due, and for pools that are behind, passes over their rows.
  'entry_ends',
  'untold_ratings',
  'games',
  'game_players',
  'ratings',
  'rating_changes',
  'rating_bases',
  'pool_events',
  'period_results',
];

/** Creates, redefines and deletes pools: each under the pool's turn and then its lane, so that nothing of it is under way. */
@Injectable()
export class PoolRegistry {
  constructor(
    private readonly database: PostgresDatabase,
    private readonly lanes: Lanes,
    private readonly work: LaneQueue,
    private readonly algorithms: RatingAlgorithms,
    private readonly allLanes: AllLanes,
  ) {}

  /** @throws POOL_NOT_FOUND */
  get(id: string): Promise<Pool & PoolProgress> {
    return requirePool(this.database, id);
  }

  /** Pools by id, after a given one; the public ones, or all. */
  list(after: string, limit: number, { withPrivate }: { withPrivate: boolean }): Promise<Pool[]> {
    return this.database.query<Pool>(
      `SELECT pool_uid AS uid, pool_id AS id, revision, definition FROM pools
       WHERE pool_id > $1 AND ($3 OR definition ->> 'visibility' = 'public') ORDER BY pool_id LIMIT $2`,
      [after, limit, withPrivate],
    );
  }

  /**
   * Creates or replaces a definition; the one that is there already changes nothing.
   * @param actor who is named in the audit log
   * @throws PRECONDITION_FAILED, POOL_HAS_GAMES, BOARD_IN_USE, NOT_SUPPORTED, VALIDATION_FAILED
   */
  put(
    id: string,
    definition: PoolDefinition,
    condition: PutCondition,
    actor: string,
  ): Promise<{ pool: Pool; created: boolean }> {
    return this.changing(id, definition.boards.length > 0, async (transaction, current) => {
      assertMatches(id, current, condition.ifMatch ?? null);
      if (condition.onlyCreate && current) {
        throw new LadderError('PRECONDITION_FAILED', `Pool "${id}" exists already (If-None-Match: *).`);
      }
      if (current && isDeepStrictEqual(current.definition, definition)) {
        return { pool: { uid: current.uid, id, revision: current.revision, definition }, created: false };
      }
      if (current && current.games > 0) this.assertKeepsRatings(current.definition, definition);
      const action = current ? 'pool.replace' : 'pool.create';
      await recordAudit(transaction, { actor, action, subject: id, details: { definition } });
      const revision = await nextPosition(transaction);
      const values = [id, JSON.stringify(definition), revision];
      const [row] = await transaction.query<{ uid: number }>(
        `INSERT INTO pools (pool_id, definition, revision) VALUES ($1, $2, $3)
         ON CONFLICT (pool_id) DO UPDATE SET definition = excluded.definition, revision = excluded.revision
         RETURNING pool_uid AS uid`,
        values,
      );
      const pool = { uid: row!.uid, id, revision, definition };
      await this.changeBoards(transaction, pool, current);
      return { pool, created: current === undefined };
    });
  }

  /**
   * Takes the id from the pool; its rows go afterwards, {@link purge}. The boards that it fed stand as they are, and take
   * submissions from then on.
   * @throws POOL_NOT_FOUND, PRECONDITION_FAILED
   */
  delete(id: string, ifMatch: string | null, actor: string): Promise<void> {
    return this.changing(id, false, async (transaction, current) => {
      if (!current) throw poolNotFound(id);
      assertMatches(id, current, ifMatch);
      await recordAudit(transaction, { actor, action: 'pool.delete', subject: id, details: {} });
      if (current.definition.boards.length > 0) await leaveBoards(transaction, this.lanes, current.uid);
      await transaction.query('UPDATE pools SET pool_id = NULL WHERE pool_uid = $1', [current.uid]);
    });
  }

  /** Deletes what is left of pools that are gone, a chunk at a time. */
  async purge(signal: AbortSignal): Promise<void> {
    const gone = await this.database.query<{ uid: number }>(
      'SELECT pool_uid AS uid FROM pools WHERE pool_id IS NULL LIMIT 100',
    );
    for (const { uid } of gone) {
      for (const table of TABLES_BY_POOL) {
        // Rows of two partitions may have one ctid.
        const chunk = `DELETE FROM ${table} WHERE (tableoid, ctid) IN (SELECT tableoid, ctid FROM ${table}
          WHERE pool_uid = $1 LIMIT ${PURGE_CHUNK_ROWS}) RETURNING 1`;
        while (!signal.aborted && (await this.database.query(chunk, [uid])).length === PURGE_CHUNK_ROWS);
      }
      if (signal.aborted) return;
      await this.database.query('DELETE FROM pools WHERE pool_uid = $1', [uid]);
    }
  }

  /** @throws POOL_HAS_GAMES where its ratings would have come out otherwise */
  private assertKeepsRatings(from: PoolDefinition, to: PoolDefinition): void {
    const parametersOf = (definition: PoolDefinition): object => this.algorithms.poolOf(definition).parameters;
    const fixed = [
      ...(['algorithm', 'update', 'periods'] as const).filter((option) => !isDeepStrictEqual(from[option], to[option])),
      ...(from.algorithm === to.algorithm && !isDeepStrictEqual(parametersOf(from), parametersOf(to))
        ? ['parameters']
        : []),
    ];
    if (fixed.length === 0) return;
    throw new LadderError(
      'POOL_HAS_GAMES',
      `${fixed.join(', ')} cannot change once a game was recorded: make another pool, and send its games again.`,
    );
  }

  /** Which boards the pool feeds, and who stands on them. */
  private async changeBoards(transaction: SqlRunner, pool: Pool, before: Pool | undefined): Promise<void> {
    const { boards, rankable, provisional } = pool.definition;
    const had = before?.definition ?? { boards: [], rankable, provisional };
    if (boards.length > 0 || had.boards.length > 0) await feedBoards(transaction, this.lanes, pool, boards);
    const kept = boards.length > 0 && had.boards.length > 0;
    if (!kept || isDeepStrictEqual([had.rankable, had.provisional], [rankable, provisional])) return;
    await fillByNewRules(transaction, this.lanes, { poolUid: pool.uid, pool: pool.id });
  }

  /** Under the pool's turn and its lane; where boards are named, or were, under all lanes: they change with it. */
  private async changing<T>(
    id: string,
    namesBoards: boolean,
    change: (transaction: SqlRunner, current: (Pool & PoolProgress) | undefined) => Promise<T>,
  ): Promise<T> {
    const known = await findPool(this.database, id);
    const feeds = namesBoards || (known?.definition.boards.length ?? 0) > 0;
    let seen: Pool | undefined;
    const takeTurn = async (transaction: SqlRunner): Promise<void> => {
      seen = await findPool(transaction, id);
      if (seen) await takePoolTurn(transaction, seen.uid);
    };
    const work = async (transaction: SqlRunner): Promise<T> => {
      const current = await findPool(transaction, id);
      const isOther = current !== undefined && current.uid !== seen?.uid;
      if (isOther || (!feeds && current && current.definition.boards.length > 0)) {
        throw new LadderError('OVERLOADED', `Pool "${id}" was changed a moment ago; send it again.`, {
          retryAfterSeconds: 1,
        });
      }
      return change(transaction, current);
    };
    if (feeds) return this.allLanes.change(work, takeTurn);
    return this.work.inTurn(id, async (transaction, place) => {
      await takeTurn(transaction);
      await takeLane(transaction, place);
      return work(transaction);
    });
  }
}

/** @throws PRECONDITION_FAILED */
function assertMatches(id: string, current: Pool | undefined, ifMatch: string | null): void {
  if (ifMatch === null || (current && namesTag(ifMatch, entityTagOfPool(current)))) return;
  throw new LadderError('PRECONDITION_FAILED', `Pool "${id}" is not the one If-Match names; read it again.`);
}
