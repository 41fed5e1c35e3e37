import { isDeepStrictEqual } from 'node:util';
import {
  changesKeptFromMs,
  isPerRun,
  LadderError,
  validationFailed,
  windowsBeganMs,
  type BoardDefinition,
  type BoardFeed,
  type FedColumn,
  type FedValue,
  type PeriodRules,
} from '@laddercast/domain';
import type { SqlRunner } from '../database/postgres-database.js';
import { prepared } from '../database/postgres-statements.js';
import { announceBoard, recordPoolEvent } from '../lanes/lane-events.js';
import { type Lanes } from '../lanes/lanes.js';
import { createBoard, findBoard, hasEntries, unlinkBoard, type BoardRow } from './board-rows.js';

/** A board as the definition of a pool names it. */
export interface NamedBoard {
  readonly board: string;
  readonly value: FedValue;
  /** What goes into which column of the board. */
  readonly columns: Readonly<Record<string, FedColumn>>;
}

interface FeedingPool {
  readonly uid: number;
  readonly id: string;
}

/**
 * Makes the boards that a pool names the ones that it feeds, and no others, in a transaction that holds all lanes. One
 * that is named for the first time gets a uid of its own, so that nothing that is late can reach it, and is filled.
 * @throws BOARD_IN_USE, NOT_SUPPORTED, VALIDATION_FAILED
 */
export async function feedBoards(
  transaction: SqlRunner,
  lanes: Lanes,
  pool: FeedingPool,
  named: readonly NamedBoard[],
): Promise<void> {
  await leaveBoards(
    transaction,
    lanes,
    pool.uid,
    named.map(({ board }) => board),
  );
  for (const [index, one] of named.entries()) {
    const current = await findBoard(transaction, one.board);
    if (!current) throw new LadderError('BOARD_IN_USE', `There is no board "${one.board}": make it first.`);
    const feed = feedOf(pool, one, current.definition, `/boards/${index}/columns`);
    if (isDeepStrictEqual(current.feed, feed)) continue;
    await assertFree(transaction, pool, one.board, current);
    refuseUnfeedable(one.board, current.definition, feed);
    await refuseUnkept(transaction, one.board, current.definition, feed);
    await unlinkBoard(transaction, lanes, current.board_uid);
    const { definition, template } = current;
    const { uid } = await createBoard(transaction, lanes, one.board, { definition, feed, template });
    await beginFill(transaction, pool.uid, uid);
  }
}

const FED_BOARDS = prepared(`
  SELECT board_uid AS uid, board_id AS id FROM boards
  WHERE (feed ->> 'poolUid')::int = $1 AND feed IS NOT NULL AND board_id IS NOT NULL ORDER BY board_id`);

/** Ends the feeding of boards, but for those that are kept: they stand as they are, and take submissions. */
export async function leaveBoards(
  transaction: SqlRunner,
  lanes: Lanes,
  poolUid: number,
  kept: readonly string[] = [],
): Promise<void> {
  const fed = await transaction.query<{ uid: number; id: string }>(FED_BOARDS, [poolUid]);
  for (const { uid, id } of fed.filter((one) => !kept.includes(one.id))) {
    const revision = await announceBoard(transaction, lanes, uid, id);
    await transaction.query('UPDATE boards SET feed = NULL, revision = $2 WHERE board_uid = $1', [uid, revision]);
  }
}

const BEGIN_FILL = prepared(`
  INSERT INTO board_fills (board_uid, pool_uid, round) VALUES ($2, $1, nextval('ladder_position'))
  ON CONFLICT (board_uid) DO UPDATE SET again = true`);

/**
 * Has all players of a pool written to a board, in the background. Where that is on its way it goes on, and once more after
 * its end: begun anew each time, it would never come to the last players.
 */
export async function beginFill(transaction: SqlRunner, poolUid: number, boardUid: number): Promise<void> {
  await transaction.query(BEGIN_FILL, [poolUid, boardUid]);
}

const FILL_FED = prepared(`
  INSERT INTO board_fills (board_uid, pool_uid, round)
  SELECT board_uid, (feed ->> 'poolUid')::int, nextval('ladder_position') FROM boards
  WHERE feed IS NOT NULL AND board_id IS NOT NULL AND ($1::int IS NULL OR (feed ->> 'poolUid')::int = $1)
  ORDER BY board_uid
  ON CONFLICT (board_uid) DO UPDATE SET again = true`);

/** As {@link beginFill}, for every board that a pool feeds; null: that any does. What was written stays. */
export async function fillFedBoards(sql: SqlRunner, poolUid: number | null): Promise<void> {
  await sql.query(FILL_FED, [poolUid]);
}

/** The type of the pool event that says who stands on its boards by other rules from now on. */
export const RULES_CHANGED = 'rules-changed';

/**
 * Has the boards of a pool filled anew once it is rated up to now, in a transaction that holds the pool's lane: what is
 * written then is newer than what was fed by the rules before.
 */
export async function fillByNewRules(
  transaction: SqlRunner,
  lanes: Lanes,
  { poolUid, pool }: Pick<BoardFeed, 'poolUid' | 'pool'>,
): Promise<void> {
  const place = { poolUid, lane: lanes.of(pool) };
  await recordPoolEvent(transaction, place, { type: RULES_CHANGED, payload: {} });
}

/**
 * Refuses what a pool cannot feed.
 * @throws BOARD_IN_USE, NOT_SUPPORTED
 */
export function refuseUnfeedable(id: string, definition: BoardDefinition, { pool, columns }: BoardFeed): void {
  const { order, operator, limits } = definition;
  if (isPerRun(definition)) {
    const detail = `Board "${id}" has an entry for each run, and a pool feeds one for each player: take entriesPer out.`;
    throw new LadderError('NOT_SUPPORTED', detail, { option: 'entriesPer' });
  }
  if (definition.decay) {
    const detail = `Board "${id}" taxes runs of older patches, and a pool feeds no runs: take decay out.`;
    throw new LadderError('NOT_SUPPORTED', detail, { option: 'decay' });
  }
  const fits = order === 'desc' && operator === 'latest' && definition.columns.length === columns.length;
  if (!fits) {
    const detail = `Pool "${pool}" feeds board "${id}": its order is desc, its operator latest, its columns are the pool's.`;
    throw new LadderError('BOARD_IN_USE', detail);
  }
  if (definition.runs !== null) {
    const detail = `Board "${id}" keeps runs, and a pool feeds no runs: void the game instead, and take runs out.`;
    throw new LadderError('NOT_SUPPORTED', detail, { option: 'runs' });
  }
  const { scoreMin, scoreMax, attemptsMax } = limits;
  const limitsColumns = Object.keys(limits.columns).length > 0;
  if (scoreMin === null && scoreMax === null && attemptsMax === null && !limitsColumns) return;
  const detail = `Board "${id}" limits scores, columns or attempts, which means nothing to a pool: take these limits out.`;
  throw new LadderError('NOT_SUPPORTED', detail, { option: 'limits' });
}

/**
 * Refuses other columns for a board that is fed: what goes into which is the pool's to say.
 * @throws BOARD_IN_USE
 */
export function refuseOtherColumns(id: string, from: BoardDefinition, to: BoardDefinition, { pool }: BoardFeed): void {
  const namesOf = ({ columns }: BoardDefinition): string => columns.map(({ name }) => name).join(', ');
  if (namesOf(from) === namesOf(to)) return;
  const detail = `Pool "${pool}" feeds board "${id}" with ${namesOf(from) || 'no columns'}: take it out of the pool to change that.`;
  throw new LadderError('BOARD_IN_USE', detail);
}

const HISTORY_OF_POOL = prepared(`
  SELECT floor(extract(epoch FROM ladder_now()) * 1000)::bigint AS "nowMs", definition -> 'periods' AS periods,
    history_from_ms AS "historyFromMs", history_period AS "historyPeriod"
  FROM pools WHERE pool_uid = $1 AND history_from_ms IS NOT NULL`);

interface HistoryOfPool {
  nowMs: number;
  periods: PeriodRules | null;
  historyFromMs: number;
  historyPeriod: number | null;
}

/**
 * Refuses windows that would hold games whose changes the pool keeps no longer.
 * @throws NOT_SUPPORTED
 */
export async function refuseUnkept(
  transaction: SqlRunner,
  id: string,
  definition: BoardDefinition,
  { pool, poolUid }: BoardFeed,
): Promise<void> {
  const [history] = await transaction.query<HistoryOfPool>(HISTORY_OF_POOL, [poolUid]);
  if (!history) return;
  const keptFromMs = changesKeptFromMs(history, history);
  if (windowsBeganMs(definition, history.nowMs) >= keptFromMs) return;
  const since = new Date(keptFromMs).toISOString();
  throw new LadderError(
    'NOT_SUPPORTED',
    `Pool "${pool}" keeps changes since ${since} (history.keepDays), and a window of board "${id}" began before: ` +
      'give it windows that begin later.',
    { option: 'windows' },
  );
}

/** @throws BOARD_IN_USE */
async function assertFree(
  transaction: SqlRunner,
  pool: FeedingPool,
  id: string,
  { board_uid: uid, feed }: BoardRow,
): Promise<void> {
  if (feed && feed.poolUid !== pool.uid) {
    throw new LadderError('BOARD_IN_USE', `Pool "${feed.pool}" feeds board "${id}"; name another board.`);
  }
  if (!(await hasEntries(transaction, uid))) return;
  const detail = feed
    ? `Board "${id}" has entries of another value: take it out of the pool, reset it, and name it again.`
    : `Board "${id}" has entries: reset it first, or name another.`;
  throw new LadderError('BOARD_IN_USE', detail);
}

/** @throws VALIDATION_FAILED where the columns are not those of the board */
function feedOf(
  { uid: poolUid, id: pool }: FeedingPool,
  { value, columns }: NamedBoard,
  definition: BoardDefinition,
  pointer: string,
): BoardFeed {
  const names = definition.columns.map(({ name }) => name);
  const given = Object.keys(columns);
  if (given.length !== names.length || names.some((name) => !Object.hasOwn(columns, name))) {
    const wanted = names.length === 0 ? 'must be empty: the board has none' : `must name exactly ${names.join(', ')}`;
    throw validationFailed([{ pointer, message: wanted }]);
  }
  return { poolUid, pool, value, columns: names.map((name) => columns[name]!) };
}
