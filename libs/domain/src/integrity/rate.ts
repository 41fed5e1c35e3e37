import type { RateRule } from './integrity-options.js';

/**
 * Whether a run is at least the (`runs` + 1)-th of its player that was accepted within the `seconds` that end with it; one
 * accepted exactly so long before is within them.
 * @param acceptedAtMs of the run, Unix ms
 * @param nthBeforeMs when the `runs`-th run before it was accepted, held and unchanged ones counted; null: there are not so many
 */
export const isTooFast = ({ seconds }: RateRule, acceptedAtMs: number, nthBeforeMs: number | null): boolean =>
  nthBeforeMs !== null && nthBeforeMs >= acceptedAtMs - seconds * 1000;
