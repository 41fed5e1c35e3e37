import { newestOrder, patchListsOf, type Layout, type Layouts } from '@laddercast/domain';
import { ledgerNowMs } from '../database/ledger-clock.js';
import type { SqlRunner } from '../database/postgres-database.js';
import { drawPositions } from '../lanes/lane-events.js';
import { type Lanes } from '../lanes/lanes.js';
import type { StoredFamily } from './patch-families.js';

/** Boards that are told of a change of their family in one transaction: everybody waits for it. */
const BOARDS_AT_ONCE = 200;

interface LaggingBoard {
  board_uid: number;
  board_id: string;
  layouts: Layouts;
  last_generation: number;
}

const LAGGING_BOARDS = `
  SELECT board_uid, board_id, layouts, last_generation FROM boards
  WHERE family_uid = $1 AND board_id IS NOT NULL AND family_revision < $2 ORDER BY board_uid LIMIT ${BOARDS_AT_ONCE}`;

const GIVE_UP = `
  INSERT INTO layout_removals (board_uid, generation, layout, has_served)
  SELECT board_uid, (layout ->> 'generation')::int, layout, false
  FROM unnest($1::int[], $2::jsonb[]) AS gone (board_uid, layout)`;

const STORE = `
  UPDATE boards SET layouts = new.layouts, revision = new.revision, family_revision = $1,
    last_generation = new.last_generation
  FROM unnest($2::int[], $3::bigint[], $4::jsonb[], $5::int[]) AS new (board_uid, revision, layouts, last_generation)
  WHERE boards.board_uid = new.board_uid`;

const ANNOUNCE = `
  INSERT INTO outbox (lane, position, topic, key, payload)
  SELECT lane, position, 'board-changed', key, payload
  FROM unnest($1::int[], $2::bigint[], $3::text[], $4::text[]) AS event (lane, position, key, payload)`;

/**
 * Tells boards of a change of their family, at most 200, in a transaction that holds all lanes: each hears of it, and has
 * a generation opened where its newest one is taxed by another order. One that is being filled is given up then.
 * @returns whether there may be more
 */
export async function openRetaxed(transaction: SqlRunner, lanes: Lanes, family: StoredFamily): Promise<boolean> {
  const boards = await transaction.query<LaggingBoard>(LAGGING_BOARDS, [family.uid, family.revision]);
  if (boards.length === 0) return false;
  const openedAtMs = await ledgerNowMs(transaction);
  const changed = boards.map((board) => retaxed(board, newestOrder(family).number, openedAtMs));
  const gone = changed.filter(({ gone }) => gone !== null);
  await transaction.query(GIVE_UP, [
    gone.map(({ board }) => board.board_uid),
    gone.map(({ gone }) => JSON.stringify(gone)),
  ]);
  const revisions = await announce(transaction, lanes, boards);
  await transaction.query(STORE, [
    family.revision,
    boards.map(({ board_uid }) => board_uid),
    revisions,
    changed.map(({ layouts }) => JSON.stringify(layouts)),
    changed.map(({ lastGeneration }) => lastGeneration),
  ]);
  return boards.length === BOARDS_AT_ONCE;
}

interface RetaxedBoard {
  board: LaggingBoard;
  layouts: Layouts;
  lastGeneration: number;
  gone: Layout | null;
}

function retaxed(board: LaggingBoard, taxOrder: number, openedAtMs: number): RetaxedBoard {
  const { layouts, last_generation } = board;
  const newest = layouts.opening ?? layouts.serving;
  if (newest.taxOrder === taxOrder) return { board, layouts, lastGeneration: last_generation, gone: null };
  const { sharding, dense, indexBuckets } = newest;
  const generation = last_generation + 1;
  const versions = { base: 0, floor: 0 };
  const kept: Layout = { generation, sharding, dense, indexBuckets, versions, openedAtMs, taxOrder };
  // What another reason has filled anew is filled anew with its lists of patches.
  const isOnlyTax = layouts.opening === null || layouts.opening.patchLists !== undefined;
  const opening = isOnlyTax ? { ...kept, patchLists: patchListsOf(layouts.serving) } : kept;
  return { board, layouts: { ...layouts, opening }, lastGeneration: generation, gone: layouts.opening };
}

/** As {@link announceBoard}, for many boards at once. */
async function announce(transaction: SqlRunner, lanes: Lanes, boards: readonly LaggingBoard[]): Promise<number[]> {
  const positions = await drawPositions(transaction, boards.length * (1 + lanes.count));
  const revisions = positions.slice(0, boards.length);
  const events = boards.flatMap(({ board_uid: boardUid, board_id: boardId }, at) => {
    const payload = JSON.stringify({ type: 'board-changed', boardUid, boardId, revision: revisions[at] });
    return lanes.all.map((lane) => ({ lane, key: String(boardUid), payload }));
  });
  await transaction.query(ANNOUNCE, [
    events.map(({ lane }) => lane),
    positions.slice(boards.length),
    events.map(({ key }) => key),
    events.map(({ payload }) => payload),
  ]);
  return revisions;
}
