import { indexBucketsOfShards, wantsDense, type BoardDefinition, type Layout, type Layouts } from '@laddercast/domain';
import { fitsLayout } from './board-changes.js';
import { ledgerNowMs } from '../database/ledger-clock.js';
import type { SqlRunner } from '../database/postgres-database.js';

/** The part of a board's row that layouts need. */
export interface LayoutsRow {
  board_uid: number;
  layouts: Layouts;
}

/**
 * The layouts that a definition asks for: if the serving generation differs, another one is opened beside it. A
 * generation that was being filled and is not wanted any more is given up. To be called with all lanes held; the caller
 * stores the result, with a new revision.
 */
export async function layoutsFor(
  transaction: SqlRunner,
  row: LayoutsRow,
  definition: Pick<BoardDefinition, 'sharding' | 'dense' | 'rankStyle'>,
): Promise<Layouts> {
  const { serving, opening } = row.layouts;
  if (fitsLayout(opening ?? serving, definition)) return row.layouts;
  const isTaxKept = opening === null || opening.taxOrder === serving.taxOrder;
  if (isTaxKept && fitsLayout(serving, definition)) return withoutOpening(transaction, row);
  const { sharding } = definition;
  const indexBuckets = indexBucketsOfShards(serving, sharding);
  return openLayout(transaction, row, { sharding, dense: wantsDense(definition), indexBuckets });
}

/** The layouts with one more generation, which is to be filled, by the newest order of patches; as {@link layoutsFor}. */
export async function openLayout(
  transaction: SqlRunner,
  row: LayoutsRow,
  { sharding, dense, indexBuckets }: Pick<Layout, 'sharding' | 'dense' | 'indexBuckets'>,
): Promise<Layouts> {
  const [drawn] = await transaction.query<{ generation: number; taxOrder: number | null }>(
    `UPDATE boards SET last_generation = last_generation + 1 WHERE board_uid = $1
     RETURNING last_generation AS generation,
       (SELECT jsonb_array_length(orders) FROM patch_families f WHERE f.family_uid = boards.family_uid) AS "taxOrder"`,
    [row.board_uid],
  );
  const openedAtMs = await ledgerNowMs(transaction);
  const { generation, taxOrder } = drawn!;
  const kept = { generation, sharding, dense, indexBuckets, versions: { base: 0, floor: 0 }, openedAtMs };
  const opening: Layout = taxOrder === null ? kept : { ...kept, taxOrder };
  return { ...(await withoutOpening(transaction, row)), opening };
}

async function withoutOpening(transaction: SqlRunner, { board_uid, layouts }: LayoutsRow): Promise<Layouts> {
  if (layouts.opening) await removeLater(transaction, board_uid, layouts.opening, false);
  return { ...layouts, opening: null };
}

/** Remembers that a generation's keys are to be removed from the projection, which may take a while. */
export async function removeLater(
  transaction: SqlRunner,
  boardUid: number,
  layout: Layout,
  hasServed: boolean,
): Promise<void> {
  await transaction.query(
    'INSERT INTO layout_removals (board_uid, generation, layout, has_served) VALUES ($1, $2, $3, $4)',
    [boardUid, layout.generation, JSON.stringify(layout), hasServed],
  );
}
