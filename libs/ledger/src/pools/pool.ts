import {
  LadderError,
  type PeriodRules,
  type ProvisionalRules,
  type RankableRules,
  type RatingPool,
  type ResultRules,
  type SideBounds,
} from '@laddercast/domain';
import type { NamedBoard } from '../boards/fed-boards.js';
import { ADVISORY_LOCKS } from '../database/advisory-locks.js';
import type { SqlRunner } from '../database/postgres-database.js';
import type { VoidMode } from './recorded-games.js';

/** What a pool rates and how, with every default filled in. */
export interface PoolDefinition {
  title: string | null;
  algorithm: string;
  parameters: Record<string, unknown>;
  update: RatingPool['update'];
  /** null: ratings move with each game. */
  periods: PeriodRules | null;
  sides: SideBounds;
  results: ResultRules;
  provisional: ProvisionalRules | null;
  rankable: RankableRules | null;
  /** What a void does where it does not say. */
  onVoid: VoidMode;
  /** How long changes of ratings are kept; null: for ever. */
  history: { keepDays: number | null };
  /** Whose entries come from this pool. */
  boards: NamedBoard[];
  visibility: 'public' | 'private';
}

/** A pool under the number that no other ever has. */
export interface Pool {
  uid: number;
  id: string;
  /** Changes with every change of the definition, and never comes back. */
  revision: number;
  definition: PoolDefinition;
}

/** How far the ratings of a pool are. */
export interface PoolProgress {
  /** Of the last game that was rated, or found to move nobody, or of a later event; 0 before the first. */
  ratedPosition: number;
  /** Games that are recorded and not rated yet. */
  pending: number;
  /** Players with a rated game. */
  players: number;
  /** All that were recorded. */
  games: number;
  /** Points that voids gave back to opponents, all together: they were not there before. */
  refunded: number;
  /** Changes by games that were played before are not all kept, Unix ms; null: all are. */
  historyFromMs: number | null;
  /** The last period that takes no more games; null: none yet, or it rates with each game. */
  closedPeriod: number | null;
  /** By the ledger's clock, Unix ms. */
  nowMs: number;
}

/** A pool's entity tag: it changes with every change of the definition, and never comes back. */
export const entityTagOfPool = ({ uid, revision }: Pick<Pool, 'uid' | 'revision'>): string => `"${uid}-${revision}"`;

export const poolNotFound = (id: string): LadderError => new LadderError('POOL_NOT_FOUND', `There is no pool "${id}".`);

/** Whether nobody else rates games of the pool now; nobody will until the transaction ends. */
export async function tryPoolTurn(transaction: SqlRunner, poolUid: number): Promise<boolean> {
  const [row] = await transaction.query<{ taken: boolean }>('SELECT pg_try_advisory_xact_lock($1, $2) AS taken', [
    ADVISORY_LOCKS.pools,
    poolUid,
  ]);
  return row!.taken;
}

/** Waits until nobody rates games of the pool. To be taken before the lane. */
export async function takePoolTurn(transaction: SqlRunner, poolUid: number): Promise<void> {
  await transaction.query('SELECT pg_advisory_xact_lock($1, $2)', [ADVISORY_LOCKS.pools, poolUid]);
}

/** Of a row of pools: a pool with its progress. */
export const POOL_COLUMNS = `
  pool_uid AS uid, pool_id AS id, revision, definition, rated_position AS "ratedPosition",
  games_recorded - games_rated AS pending, players, games_recorded AS games, refunded, closed_period AS "closedPeriod",
  history_from_ms AS "historyFromMs",
  floor(extract(epoch FROM ladder_now()) * 1000)::bigint AS "nowMs"`;

const FIND_POOL = `SELECT ${POOL_COLUMNS} FROM pools WHERE pool_id = $1`;

/** The pool of that id as it is committed. */
export async function findPool(sql: SqlRunner, id: string): Promise<(Pool & PoolProgress) | undefined> {
  const [row] = await sql.query<Pool & PoolProgress>(FIND_POOL, [id]);
  return row;
}

/** @throws POOL_NOT_FOUND */
export async function requirePool(sql: SqlRunner, id: string): Promise<Pool & PoolProgress> {
  const pool = await findPool(sql, id);
  if (!pool) throw poolNotFound(id);
  return pool;
}
