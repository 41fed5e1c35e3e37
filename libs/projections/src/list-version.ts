import type { ListVersions } from '@laddercast/domain';
import type { RankList } from './rank-projection.js';

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

/**
 * The version of a list whose shards have these counters: what they are above the list's floor, so that it does not
 * matter to a new generation which of its shards have seen a change.
 */
export const versionOfCounters = ({ versions }: Pick<RankList, 'versions'>, counters: readonly number[]): number =>
  counters.reduce((sum, counter) => sum + Math.max(0, counter - versions.floor), versions.base);

/** A version of a list that none which was read before `atMs` (Unix ms), of this generation or earlier, can be above. */
export const versionBeyond = ({ shards, versions }: Pick<RankList, 'shards' | 'versions'>, atMs: number): number =>
  versions.base + shards * Math.max(0, counterStart(atMs) - versions.floor);

/**
 * What makes the versions of a generation go on from those of the one before it, in every list of the board: those of
 * scopes have one shard in both, so the base must not depend on how many the next one has.
 * @param before `shards`: the most that a list of it has
 * @param openedAtMs before which the next generation has no counters, Unix ms
 * @param atMs the latest moment at which the one before is read, Unix ms
 */
export const versionsAfter = (
  before: { shards: number; versions: ListVersions },
  openedAtMs: number,
  atMs: number,
): ListVersions => ({ base: versionBeyond(before, atMs), floor: Math.max(0, counterStart(openedAtMs)) });
