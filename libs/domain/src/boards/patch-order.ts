import type { Board } from './board.js';
import type { Layout } from './layout.js';

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
  const orders = patches?.orders ?? [];
  const found = orders.findLast(
    ({ number, sinceMs }) => number <= taxOrder && (endsAtMs === null || sinceMs < endsAtMs),
  );
  // Before the first order nothing is behind anything.
  return found ?? NO_ORDER;
}

/** The order that holds at a moment, Unix ms. */
export const patchOrderAt = ({ orders }: PatchFamily, atMs: number): PatchOrder =>
  orders.findLast(({ sinceMs }) => sinceMs <= atMs) ?? NO_ORDER;

/** The newest order of a family. */
export const newestOrder = ({ orders }: PatchFamily): PatchOrder => orders.at(-1) ?? NO_ORDER;

/** How many patches a run is behind; a patch that came after the order is not behind it. */
export function patchesBehind({ patches }: PatchOrder, patch: number): number {
  const at = patches.indexOf(patch);
  return at < 0 ? 0 : patches.length - 1 - at;
}

/** The id of a patch by its number, of those that count as themselves. */
export function patchIdOf({ published }: PatchFamily, patch: number): string | undefined {
  return Object.keys(published).find((id) => published[id]!.uid === patch);
}
