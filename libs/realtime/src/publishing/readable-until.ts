import type { ResolvedList } from '@laddercast/queries';

/**
 * How long a window that has ended is read from the projection before it is asked again whether it still should be;
 * less than the resolver's distance to the end of the keys.
 */
const ENDED_FOR_MS = 1500;

/**
 * Until when a list is read from where it says, by the ledger's time (Unix ms): a window is read from other standings from
 * its freeze on, and again after its end. Whatever is read when that may have come must be resolved anew.
 */
export function readableUntilMs({ window, edition, atMs }: ResolvedList): number {
  const { freezeAtMs, endsAtMs } = window;
  if (endsAtMs === null) return Infinity;
  // What is read from the projection now must not be after the freeze, also where that may just have come.
  if (atMs < endsAtMs) return edition === null ? Math.min(freezeAtMs ?? endsAtMs, endsAtMs) : endsAtMs;
  // Frozen standings were still shown where the end was not sure to have come.
  const isToChange = edition === null || edition.kind === 'frozen';
  return isToChange ? atMs + ENDED_FOR_MS : Infinity;
}
