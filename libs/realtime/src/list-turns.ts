import type { ResolvedList } from '@laddercast/queries';

/**
 * How long a window that has ended is read from the projection before it is asked again whether it still should be;
 * less than the resolver's distance to the end of the keys.
 */
const ENDED_FOR_MS = 1500;

/**
 * Until when a list that was resolved at `atMs` (both Unix ms) is read from where it says: a window is read from other
 * standings from its freeze on, and again after its end. Whatever is read later must be resolved anew.
 */
export function readableUntilMs({ window, edition }: ResolvedList, atMs: number): number {
  const { freezeAtMs, endsAtMs } = window;
  if (endsAtMs === null) return Infinity;
  if (freezeAtMs !== null && atMs < freezeAtMs) return freezeAtMs;
  if (atMs < endsAtMs) return endsAtMs;
  return edition === null ? atMs + ENDED_FOR_MS : Infinity;
}
