import type { RatingChanged, UnratedReason } from '@laddercast/domain';
import type { SqlRunner } from '../database/postgres-database.js';
import { prepared } from '../database/postgres-statements.js';
import type { Pool } from './pool.js';

/** Something that happened to a pool beside its games: a void, a change of its rules. It has a place among the games. */
export interface PoolEvent<Payload = unknown> {
  readonly position: number;
  /** Which {@link PoolEventFold} knows what to do. */
  readonly type: string;
  readonly payload: Payload;
}

/** A pool in its turn: rated up to just before the event, and by nobody else. */
export interface PoolInTurn extends Pick<Pool, 'uid' | 'id' | 'definition'> {
  readonly ratedPosition: number;
}

/** How many games a rater looked at for the first time, by outcome: rated, or why they move nobody. */
export type LookedGames = Readonly<Partial<Record<UnratedReason | 'rated', number>>>;

/** What an event comes to, before anything of it is stored. */
export interface FoldedEvent {
  /** Kept with the event, for who waits for it; see {@link outcomeOfPoolEvent}. */
  readonly outcome: object;
  /** How many games were rated with it; left out: none. */
  readonly games?: number;
  /** The games that were rated with it; left out: none. */
  readonly looked?: LookedGames;
  /** How many players more, or fewer, have a rated game now. */
  readonly newcomers: number;
  /** Whose ratings are to be told, as they are after the event: an event each. */
  readonly changed: readonly Omit<RatingChanged, 'type' | 'poolUid' | 'ratedPosition'>[];
  /** Stores the rest. The pool's lane is held: nothing but quick writes. */
  store?(transaction: SqlRunner): Promise<void>;
}

/** Knows what the events of one type do. */
export interface PoolEventFold {
  readonly type: string;
  /** Whether it takes no longer than a turn of games, and no longer statements: it is folded as one, and waits for no event of minutes. */
  readonly isQuick?: boolean;

  /**
   * Works out what the event does. All games and events before it are folded, none after it, and the pool's lane is not
   * held: it may take its time, with a statement every few seconds. May be called again where its commit failed.
   */
  fold(transaction: SqlRunner, pool: PoolInTurn, event: PoolEvent): Promise<FoldedEvent>;
}

/** For Nest: a list of all {@link PoolEventFold}s. */
export const POOL_EVENT_FOLDS = Symbol('POOL_EVENT_FOLDS');

/** PostgreSQL ends a transaction that does nothing for long, and where the process stops this one is broken off here. */
export const KEEP_TURN = prepared('SELECT');

const OUTCOME_OF_EVENT = prepared('SELECT outcome FROM pool_events WHERE pool_uid = $1 AND position = $2');

/** What an event came to; null where it is not folded yet, or its pool is gone. */
export async function outcomeOfPoolEvent<Outcome extends object>(
  sql: SqlRunner,
  poolUid: number,
  position: number,
): Promise<Outcome | null> {
  const [row] = await sql.query<{ outcome: Outcome | null }>(OUTCOME_OF_EVENT, [poolUid, position]);
  return row?.outcome ?? null;
}

const WRITE_OUTCOME = prepared('UPDATE pool_events SET outcome = $3::jsonb WHERE pool_uid = $1 AND position = $2');

/** Keeps what an event came to. */
export async function writeOutcome(
  transaction: SqlRunner,
  poolUid: number,
  position: number,
  outcome: object,
): Promise<void> {
  await transaction.query(WRITE_OUTCOME, [poolUid, position, JSON.stringify(outcome)]);
}
