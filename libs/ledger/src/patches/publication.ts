import { isDeepStrictEqual } from 'node:util';
import { LadderError, newestOrder, PATCH_ORDERS_MAX, type PatchFamily, type PatchOrder } from '@laddercast/domain';
import { ledgerNowMs } from '../database/ledger-clock.js';
import type { SqlRunner } from '../database/postgres-database.js';
import { nextPosition } from '../lanes/lane-events.js';
import { type Lanes } from '../lanes/lanes.js';
import type { StoredFamily } from './patch-families.js';
import { firstOfChain, patchesOf, type Patch } from './patch.js';
import { openRetaxed } from './retax-openings.js';

/**
 * Publishes what is due of a family, and has its boards hear of what changed: new orders open generations. In a
 * transaction that holds all lanes, after the patches were changed. One order for all that changed.
 * @returns whether there may be boards that have not heard yet
 * @throws LIMIT_REACHED when the order changed too often
 */
export async function publish(transaction: SqlRunner, lanes: Lanes, family: StoredFamily): Promise<boolean> {
  const nowMs = await ledgerNowMs(transaction);
  const all = await patchesOf(transaction, family);
  // Where the order can change no more, what would change it stays scheduled, with its hotfixes, and holds up nothing else.
  // What was published stays so when the clock is set back.
  const isDue = (patch: Patch): boolean =>
    !patch.isPublished &&
    patch.publishedAtMs <= nowMs &&
    (!isOrderFinal(family) || firstOfChain(all, patch).isPublished);
  const due = new Set(all.filter(isDue).map(({ uid }) => uid));
  await transaction.query('UPDATE patches SET is_published = true WHERE patch_uid = ANY($1::int[])', [[...due]]);
  const patches = all.filter(({ uid, isPublished }) => isPublished || due.has(uid));
  const published = publishedOf(patches);
  const order = orderAfter(family, patches, nowMs);
  if (order === null && isDeepStrictEqual(published, family.published)) {
    return openRetaxed(transaction, lanes, family);
  }
  const orders = order === null ? family.orders : [...family.orders, order];
  const revision = await nextPosition(transaction);
  await transaction.query(
    'UPDATE patch_families SET published = $2, orders = $3, revision = $4 WHERE family_uid = $1',
    [family.uid, JSON.stringify(published), JSON.stringify(orders), revision],
  );
  if (order !== null) await noteArrivals(transaction, newestOrder(family), order);
  return openRetaxed(transaction, lanes, { ...family, published, orders, revision });
}

const publishedOf = (patches: readonly Patch[]): PatchFamily['published'] =>
  Object.fromEntries(
    patches.map((patch) => [patch.id, { uid: patch.uid, countsAs: firstOfChain(patches, patch).uid }]),
  );

/** Whether the order of a family changed as often as it can. */
export const isOrderFinal = (family: PatchFamily): boolean => newestOrder(family).number >= PATCH_ORDERS_MAX;

/** @throws LIMIT_REACHED when the order changed too often to change again */
export function assertOrderMayChange(family: PatchFamily): void {
  if (!isOrderFinal(family)) return;
  const detail = `The order of the patches of family "${family.id}" changed ${PATCH_ORDERS_MAX} times, the most there can be.`;
  throw new LadderError('LIMIT_REACHED', detail, {}, { status: 422 });
}

/** The order of the patches that count as themselves; null: it is the newest one. */
function orderAfter(family: PatchFamily, patches: readonly Patch[], sinceMs: number): PatchOrder | null {
  const own = patches.filter(({ sameAs }) => sameAs === null).map(({ uid }) => uid);
  const { number, patches: before } = newestOrder(family);
  if (isDeepStrictEqual(own, [...before])) return null;
  assertOrderMayChange(family);
  return { number: number + 1, sinceMs, patches: own };
}

/** Those that stand behind another patch than before, or are new, came with this order. */
async function noteArrivals(transaction: SqlRunner, before: PatchOrder, after: PatchOrder): Promise<void> {
  const predecessorIn = ({ patches }: PatchOrder, uid: number): number | undefined => patches[patches.indexOf(uid) - 1];
  const arrived = after.patches.filter(
    (uid) => !before.patches.includes(uid) || predecessorIn(before, uid) !== predecessorIn(after, uid),
  );
  await transaction.query('UPDATE patches SET came_with = $2 WHERE patch_uid = ANY($1::int[])', [
    arrived,
    after.number,
  ]);
}
