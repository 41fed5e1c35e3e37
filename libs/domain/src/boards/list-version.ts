import { SHARDS_MAX } from './board.js';
import type { ListVersions } from './layout.js';

/** What the version of a list is worked out from, beside its counters. */
export interface VersionedList {
  shards: number;
  versions: ListVersions;
}

/** Counters count from here, by time: 2026-01-01. */
const COUNTERS_SINCE_MS = Date.UTC(2026, 0, 1);
/** More changes than a shard takes in a millisecond for long. */
const CHANGES_PER_MS = 100;
/** A list's version goes on from so many times what its counters can have counted: see {@link versionsAfter}. */
const BASE_PER_CHANGE = 2;

/** The time (Unix ms) as counters count it. */
const counterAt = (atMs: number): number => Math.floor((atMs - COUNTERS_SINCE_MS) * CHANGES_PER_MS);

/**
 * Where a shard's counter that is made at `atMs` (Unix ms) begins: beyond every value that an earlier counter of the
 * shard, lost with its Redis, can have had, so that a list's version never falls; and where the list begins at the
 * earliest, whatever the clock of the process says, so that every change counts. The sum over 64 shards stays exact for
 * two decades.
 */
export const counterStart = ({ versions }: Pick<VersionedList, 'versions'>, atMs: number): number =>
  Math.max(versions.floor, counterAt(atMs));

/**
 * The version of a list whose shards have these counters: what they are above the list's floor, so that it does not
 * matter to a new list which of its shards have seen a change. One that saw none has the version of its beginning.
 */
export const versionOfCounters = ({ versions }: Pick<VersionedList, 'versions'>, counters: readonly number[]): number =>
  counters.reduce((sum, counter) => sum + Math.max(0, counter - versions.floor), versions.base);

/** A version of a list that none which was read before `atMs` (Unix ms), of this generation or earlier, can be above. */
export const versionBeyond = ({ shards, versions }: VersionedList, atMs: number): number =>
  versions.base + shards * Math.max(0, counterAt(atMs) - versions.floor);

/**
 * What makes the versions of a generation, or of a board that was reset, go on from those before it, in every list of
 * the board: those of scopes have one shard in both, so the base must not depend on how many the next one has.
 *
 * The lists of windows are beyond that of all time by as much as time has passed until they began ({@link versionsOf}),
 * so twice that is beyond them all.
 * @param before `shards`: the most that a list of it has
 * @param openedAtMs before which the next lists have no counters, Unix ms
 * @param atMs the latest moment at which the lists before are read, Unix ms
 */
export const versionsAfter = ({ shards, versions }: VersionedList, openedAtMs: number, atMs: number): ListVersions => ({
  base: versions.base + BASE_PER_CHANGE * shards * Math.max(0, counterAt(atMs) - versions.floor),
  floor: Math.max(0, counterAt(openedAtMs)),
});

/** The versions of a board that is made at `atMs` (Unix ms): beyond those of one that had the id before. */
export const firstVersions = (atMs: number): ListVersions =>
  versionsAfter({ shards: SHARDS_MAX, versions: { base: 0, floor: 0 } }, atMs, atMs);

/**
 * The versions of the list of a window: they go on from those of the window before it, whatever shards of that had
 * changed. Windows follow each other under one name, so each begins beyond what the one before can have come to by then.
 * @param ofBoard the list's shards, and what the generation says of versions
 * @param startsAtMs when the window began, Unix ms; null: with the board
 */
export function versionsOf(ofBoard: VersionedList, startsAtMs: number | null): ListVersions {
  const hasBegunLater = startsAtMs !== null && counterAt(startsAtMs) > ofBoard.versions.floor;
  return hasBegunLater ? versionsAfter(ofBoard, startsAtMs, startsAtMs) : ofBoard.versions;
}
