import { LadderError } from '../errors.js';
import type { Board } from './board.js';
import type { Layout } from './layout.js';

/** The id of a patch: unique in its family. */
export const PATCH_ID_PATTERN = '^[a-z0-9][a-z0-9._-]{0,63}$';
/** The most patches of a family. Source: contracts/patches.md, section 1. */
export const PATCHES_MAX = 256;
/** The most times that the order of a family's patches may change. */
export const PATCH_ORDERS_MAX = 1024;

/** The published patches of a family in their order, from one moment on. It never changes: another order is another one. */
export interface PatchOrder {
  /** Counts from 1 in its family. */
  number: number;
  /** From when on it holds, Unix ms by the ledger's clock. */
  sinceMs: number;
  /** The numbers of the patches, the oldest first, without those that count as another one. */
  patches: readonly number[];
}

/** A published patch. */
export interface PublishedPatch {
  uid: number;
  /** The patch as which its runs count: itself, or the first one of a chain of hotfixes. */
  countsAs: number;
}

/** What boards know of a family of patches. */
export interface PatchFamily {
  uid: number;
  id: string;
  /** By their ids. */
  published: Readonly<Record<string, PublishedPatch>>;
  /** The oldest first; none: nothing is published. */
  orders: readonly PatchOrder[];
}

/** A window, as far as its tax goes. */
interface WindowEnd {
  /** Unix ms; null: it has none. */
  endsAtMs: number | null;
}

const NO_ORDER: PatchOrder = { number: 0, sinceMs: 0, patches: [] };

/**
 * The order of patches by which a generation of a board's lists taxes a window: that of the generation, or, of a window that
 * had ended when that came, the one that held at its end.
 */
export function taxOrderOf(
  { patches }: Pick<Board, 'patches'>,
  { taxOrder = 0 }: Pick<Layout, 'taxOrder'>,
  { endsAtMs }: WindowEnd,
): PatchOrder {
  return lastOrder(patches?.orders ?? [], taxOrder, endsAtMs ?? Infinity);
}

/** The order that held up to a moment, Unix ms: of standings as of then. Before the first nothing is behind anything. */
export const patchOrderAt = ({ orders }: Pick<PatchFamily, 'orders'>, atMs: number): PatchOrder =>
  lastOrder(orders, Infinity, atMs);

/** The order of that number; 0: the one before the first; undefined: who asks has not heard of it. */
export const patchOrderOf = ({ orders }: Pick<PatchFamily, 'orders'>, asked: number): PatchOrder | undefined =>
  asked === 0 ? NO_ORDER : orders.find(({ number }) => number === asked);

/** The last of the orders up to a number that held before a moment, Unix ms. */
const lastOrder = (orders: readonly PatchOrder[], numberMax: number, beforeMs: number): PatchOrder =>
  orders.findLast(({ number, sinceMs }) => number <= numberMax && sinceMs < beforeMs) ?? NO_ORDER;

/** The newest order of a family. */
export const newestOrder = ({ orders }: PatchFamily): PatchOrder => orders.at(-1) ?? NO_ORDER;

/**
 * A patch that runs may name.
 * @param status of the error: 404 in an address, 422 in a body
 * @throws PATCH_UNKNOWN
 */
export function publishedPatch({ id, published }: PatchFamily, patch: string, status: 404 | 422): PublishedPatch {
  if (Object.hasOwn(published, patch)) return published[patch]!;
  const detail = `The family "${id}" has no published patch "${patch}"; GET /v1/patches?family=${id} lists them.`;
  throw new LadderError('PATCH_UNKNOWN', detail, { patch, family: id }, { status });
}

/** How many patches a run is behind; a patch that came after the order is not behind it. */
export function patchesBehind({ patches }: PatchOrder, patch: number): number {
  const at = patches.indexOf(patch);
  return at < 0 ? 0 : patches.length - 1 - at;
}

/** What is known of a family never changes: another publication is another object. */
const idsOfPatches = new WeakMap<PatchFamily['published'], ReadonlyMap<number, string>>();

/** The id of a patch by its number. */
export function patchIdOf({ published }: PatchFamily, patch: number): string | undefined {
  let ids = idsOfPatches.get(published);
  if (ids === undefined) {
    ids = new Map(Object.entries(published).map(([id, { uid }]) => [uid, id]));
    idsOfPatches.set(published, ids);
  }
  return ids.get(patch);
}
