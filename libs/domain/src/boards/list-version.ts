import { SHARDS_MAX } from './board.js';
import type { ListVersions } from './layout.js';

/** What a list's version is computed from, beside its counters. */
export interface VersionedList {
  shards: number;
  versions: ListVersions;
}

/** New counters begin at a value that grows with time since this moment: 2026-01-01. */
const COUNTERS_SINCE_MS = Date.UTC(2026, 0, 1);
/** More changes than a shard can sustain in a millisecond. */
const CHANGES_PER_MS = 100;
/**
 * A list's next version begins at so many times the highest value that its counters can have reached: see
 * {@link versionsAfter}.
 */
const BASE_PER_CHANGE = 2;

/** The counter value that belongs to a time (Unix ms). */
const counterAt = (atMs: number): number => Math.floor((atMs - COUNTERS_SINCE_MS) * CHANGES_PER_MS);

/**
 * The first value of a shard's counter that is made at `atMs` (Unix ms). It is above every value that an earlier
 * counter of the shard, lost with its Redis, can have reached, so a list's version never falls. And it is never below
 * the list's floor, even if the process's clock is slow, so every change counts. The sum over 64 shards stays exact for
 * two decades.
 */
export const counterStart = ({ versions }: Pick<VersionedList, 'versions'>, atMs: number): number =>
  Math.max(versions.floor, counterAt(atMs));

/**
 * The version of a list with these counters. Each counter adds what it is above the list's floor, and a shard without
 * changes adds nothing, so a new list's version does not depend on which of its shards have changed.
 */
export const versionOfCounters = ({ versions }: Pick<VersionedList, 'versions'>, counters: readonly number[]): number =>
  counters.reduce((sum, counter) => sum + Math.max(0, counter - versions.floor), versions.base);

/**
 * An upper bound of all versions of the list that were read before `atMs` (Unix ms), in this generation or earlier
 * ones.
 */
export const versionBeyond = ({ shards, versions }: VersionedList, atMs: number): number =>
  versions.base + shards * Math.max(0, counterAt(atMs) - versions.floor);

/**
 * Makes the versions of a new generation, or of a board that was reset, continue above those before it, in every list
 * of the board. Lists of scopes have one shard in both, so the base must not depend on the number of shards of the new
 * generation.
 *
 * The list of a window begins above that of all time by what a counter gains until the window begins
 * ({@link versionsOf}), so twice that bound is above them all.
 * @param before `shards`: the most shards that one of its lists has
 * @param openedAtMs the new lists have no counters before this, Unix ms
 * @param atMs the latest moment at which the old lists are read, Unix ms
 */
export const versionsAfter = ({ shards, versions }: VersionedList, openedAtMs: number, atMs: number): ListVersions => ({
  base: versions.base + BASE_PER_CHANGE * shards * Math.max(0, counterAt(atMs) - versions.floor),
  floor: Math.max(0, counterAt(openedAtMs)),
});

/** The versions of a board that is created at `atMs` (Unix ms): above those of any board that had the id before. */
export const firstVersions = (atMs: number): ListVersions =>
  versionsAfter({ shards: SHARDS_MAX, versions: { base: 0, floor: 0 } }, atMs, atMs);

/**
 * The versions of a window's list. Windows follow each other under one name, so each list begins above the highest
 * version that the list before it can have reached by then, whichever of its shards had changed.
 * @param ofBoard the list's shards, and the versions of its generation
 * @param startsAtMs when the window began, Unix ms; null: with the board
 */
export function versionsOf(ofBoard: VersionedList, startsAtMs: number | null): ListVersions {
  const hasBegunLater = startsAtMs !== null && counterAt(startsAtMs) > ofBoard.versions.floor;
  return hasBegunLater ? versionsAfter(ofBoard, startsAtMs, startsAtMs) : ofBoard.versions;
}
