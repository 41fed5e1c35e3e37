import { newestOrder, patchIdOf, taxOrderOf, type Board, type PatchOrder } from '@laddercast/domain';
import { toTimestamp } from '@laddercast/platform';
import type { ResolvedList } from './list-resolver.js';

/** What an answer says of the tax that its scores are under. Source: contracts/patches.md, section 1. */
export interface ServedTax {
  /** The newest patch that it counts; null: none is published. */
  latest: string | null;
  /** Since when lists under this tax are served, RFC 3339. */
  since: string | null;
  perPatch: number;
  /** The tax that comes next, and how far its lists are, 0 … 1; null: this is the newest. */
  retaxing: { to: string | null; done: number } | null;
}

/**
 * The tax of a list; undefined on boards without decay.
 * @param doneOf how far the next lists of a board are, 0 … 1
 */
export function servedTaxOf(
  { board, list, window, edition }: ResolvedList,
  doneOf: (board: Board) => number,
): ServedTax | undefined {
  const { definition, patches, layouts } = board;
  if (!definition.decay || !patches || !list.tax) return undefined;
  // What ended before the tax that serves keeps its own.
  const isServing = edition === null && list.tax.number === (layouts.serving.taxOrder ?? 0);
  const sinceMs = isServing ? layouts.serving.taxedSinceMs : list.tax.sinceMs;
  const next = edition === null ? taxOrderOf(board, { taxOrder: newestOrder(patches).number }, window) : list.tax;
  // Who reads on in what served before is behind what serves already.
  const done = next.number === layouts.serving.taxOrder ? 1 : doneOf(board);
  return {
    latest: latestOf(board, list.tax),
    since: sinceMs === undefined ? null : toTimestamp(sinceMs),
    perPatch: definition.decay.perPatch,
    retaxing: next.number === list.tax.number ? null : { to: latestOf(board, next), done },
  };
}

function latestOf({ patches }: Board, order: PatchOrder): string | null {
  const latest = order.patches.at(-1);
  return latest === undefined ? null : (patchIdOf(patches!, latest) ?? null);
}
