/** Counters count from here, by time: 2026-01-01. */
const COUNTERS_SINCE_MS = Date.UTC(2026, 0, 1);
/** More changes than a shard takes in a millisecond for long. */
const CHANGES_PER_MS = 100;

/**
 * Where a shard's counter that is made at `atMs` (Unix ms) begins: beyond every value that an earlier counter of the
 * shard, lost with its Redis, can have had, so that a list's version never falls. The sum over 64 shards stays exact for
 * decades.
 */
export const counterStart = (atMs: number): number => Math.floor((atMs - COUNTERS_SINCE_MS) * CHANGES_PER_MS);

/** A version of a list of so many shards that none which was read before `atMs` (Unix ms) can be above. */
export const versionBeyond = (shards: number, atMs: number): number => Math.max(0, shards * counterStart(atMs));
