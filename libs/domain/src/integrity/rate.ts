import type { RateRule } from './integrity-options.js';

/**
 * Whether a run is at least the (`runs` + 1)-th accepted within the `seconds` that end with it; one exactly so long
 * before it is within them.
 * @param acceptedAtMs of the run, Unix ms
 * @param earlier when the player's last `runs` runs before it were accepted, held and unchanged ones too; more do no harm
 */
export function isTooFast({ runs, seconds }: RateRule, acceptedAtMs: number, earlier: readonly number[]): boolean {
  const fromMs = acceptedAtMs - seconds * 1000;
  return earlier.filter((atMs) => atMs >= fromMs && atMs <= acceptedAtMs).length >= runs;
}
