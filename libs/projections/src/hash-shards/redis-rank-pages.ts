import { compareSortKeys, versionOfCounters, type RankStyle, type SortKey } from '@laddercast/domain';
import type { PageReading, ProjectedEntry, RankList, Reading } from '../ranks/rank-projection.js';
import { allShards } from '../redis/redis-keys.js';
import { isTied, rankRows } from './redis-rank-rows.js';
import { countBetter, readRows, type ShardCall, type ShardReading } from './redis-shard-calls.js';

/** Runs calls of several shards together. */
export type RunShards = <Answer>(calls: readonly ShardCall<Answer>[]) => Promise<Answer[]>;

/** A run of rows over all shards, in order, from one reading of each shard. */
export interface RowsReading extends Reading {
  /** The page, and the rows before it that were read to find it. */
  rows: SortKey[];
  /** The 0-based place of the first of the rows in the whole list. */
  index: number;
}

/** When a page is read how; the defaults suit any list, tests use smaller ones. */
export interface PageLimits {
  /** Up to here the first rows of every shard are simply read and merged. */
  mergedRowsMax: number;
  /** Once a cut is this close to the offset, the rows between them are read and skipped. */
  skippedRowsMax: number;
}

export const PAGE_LIMITS: PageLimits = { mergedRowsMax: 256, skippedRowsMax: 64 };
/** How often rows are read again whose ranks are counted apart, while the list changes in between. */
export const COUNT_TRIES_MAX = 3;
/** Halving a range of 10^15 entries to three quarters takes 120 rounds; a list that is not being written takes two or three. */
const ROUNDS_MAX = 128;

/** A cut through all shards: where it runs in each (0-based), and how many entries stand before it in all. */
interface Cut {
  indexes: number[];
  before: number;
}

/** Adds up what the shards say of themselves. */
export function sumReadings(list: RankList, readings: readonly ShardReading[]): Reading {
  return {
    total: readings.reduce((sum, { total }) => sum + total, 0),
    listVersion: versionOfCounters(
      list,
      readings.map(({ counter }) => counter),
    ),
  };
}

/**
 * The ranks of a page in a style. Those that its rows share are told by the rows before it, where these reach back to one that
 * does not share them: all ranks are of one reading then.
 * @returns null where what shares the rank of the first row begins before all that was read
 */
export function rankPage(
  list: RankList,
  { rows, index }: Pick<RowsReading, 'rows' | 'index'>,
  offset: number,
  style: RankStyle,
): ProjectedEntry[] | null {
  const skipped = offset - index;
  const first = rows[skipped];
  if (style === 'ordinal' || first === undefined) return rankRows(list, rows.slice(skipped), offset, 'ordinal', null);
  if (index > 0 && isTied(list, rows[0]!, first)) return null;
  return rankRows(list, rows, index, style, index).slice(skipped);
}

/** A reading whose ranks were counted in part by a later one: each change between the two moves a rank by one at most. */
export function withCount<Read extends Reading>(reading: Read, counted: Reading): Read {
  const changes = Math.abs(counted.listVersion - reading.listVersion);
  return changes === 0 ? reading : { ...reading, accuracy: 'estimated', errorBound: changes };
}

/**
 * Reads `limit` rows from `offset` of a list with several shards, and some that stand before them: near the top by merging
 * their first rows, deeper by finding where each shard crosses the offset.
 */
export async function readMergedRows(
  run: RunShards,
  list: RankList,
  offset: number,
  limit: number,
  limits: PageLimits,
): Promise<RowsReading> {
  const shards = allShards(list);
  const top = shards.map(() => 0);
  if (offset + limit <= Math.max(limit, limits.mergedRowsMax)) {
    return readFromCut(run, list, { indexes: top, before: 0 }, offset, limit);
  }
  const totals = (await run(shards.map((shard) => countBetter(list, shard, [])))).map(({ total }) => total);
  const cut = await findCut(run, list, totals, offset, limits.skippedRowsMax);
  return readFromCut(run, list, cut, offset, limit);
}

/** A page as {@link readMergedRows} reads it, with ranks in a style: all of one reading, else marked as estimated. */
export async function readMergedPage(
  run: RunShards,
  list: RankList,
  { offset, limit, style }: { offset: number; limit: number; style: RankStyle },
  limits: PageLimits,
): Promise<PageReading> {
  for (let tries = 1; ; tries += 1) {
    const { rows, index, ...reading } = await readMergedRows(run, list, offset, limit, limits);
    const entries = rankPage(list, { rows, index }, offset, style);
    if (entries !== null) return { ...reading, entries };
    const page = rows.slice(offset - index);
    const { before, ...counted } = await countStyled(run, list, page[0]!, style);
    const worth = withCount(reading, counted);
    if (worth.accuracy && tries < COUNT_TRIES_MAX) continue;
    return { ...worth, entries: rankRows(list, page, offset, style, before) };
  }
}

/** How much stands before a row in all shards, in a style. */
export async function countStyled(
  run: RunShards,
  list: RankList,
  row: SortKey,
  style: RankStyle,
): Promise<Reading & { before: number }> {
  const answers = await run(allShards(list).map((shard) => countBetter(list, shard, [row], style)));
  return { ...sumReadings(list, answers), before: sum(answers.map(({ better }) => better[0]!)) };
}

async function readFromCut(
  run: RunShards,
  list: RankList,
  cut: Cut,
  offset: number,
  limit: number,
): Promise<RowsReading> {
  const skipped = offset - cut.before;
  const answers = await run(cut.indexes.map((index, shard) => readRows(list, shard, index, skipped + limit)));
  const rows = answers.flatMap((answer) => answer.rows).sort(compareSortKeys);
  return { ...sumReadings(list, answers), rows: rows.slice(0, skipped + limit), index: cut.before };
}

/**
 * Finds a cut at most `skippedRowsMax` before `offset`. Each round takes a sort key from the entries between
 * the nearest cuts on both sides, and counts in every shard what is better: one of the two moves to it.
 * Entries that change between the rounds can only make the cut a little wrong; the rows are then still read once per
 * shard, so that no player is listed twice.
 */
async function findCut(
  run: RunShards,
  list: RankList,
  totals: readonly number[],
  offset: number,
  skippedRowsMax: number,
): Promise<Cut> {
  let low: Cut = { indexes: totals.map(() => 0), before: 0 };
  let high: Cut = { indexes: [...totals], before: sum(totals) };
  if (high.before <= offset) return { indexes: high.indexes, before: offset };
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    if (offset - low.before <= skippedRowsMax) return low;
    const wanted = offset - skippedRowsMax / 2 - low.before;
    // By turns where the offset would lie in evenly filled shards, and the middle, which halves whatever they hold.
    const fraction = round % 2 === 0 ? wanted / (high.before - low.before) : 0.5;
    const pivot = await readPivot(run, list, low, high, fraction);
    if (pivot === null) break;
    const counted = await run(totals.map((_, shard) => countBetter(list, shard, [pivot.key])));
    const indexes = counted.map(({ better }) => better[0]!);
    const before = sum(indexes);
    if (before > offset) {
      high = { indexes: indexes.map((index, shard) => Math.max(index, low.indexes[shard]!)), before };
    } else {
      // The pivot itself stands before the offset too, unless it is the very entry there.
      if (before < offset) indexes[pivot.shard]! += 1;
      low = { indexes, before: sum(indexes) };
    }
  }
  return spread(low, high, offset);
}

/** A key that has at least a quarter of the entries between the cuts on each side (for a fraction of one half). */
async function readPivot(
  run: RunShards,
  list: RankList,
  low: Cut,
  high: Cut,
  fraction: number,
): Promise<{ key: SortKey; shard: number } | null> {
  const ranges = low.indexes.map((from, shard) => ({ shard, from, weight: high.indexes[shard]! - from }));
  const filled = ranges.filter(({ weight }) => weight > 0);
  const found = await run(
    filled.map(({ shard, from, weight }) =>
      readRows(list, shard, from + Math.min(weight - 1, Math.floor(fraction * weight)), 1),
    ),
  );
  const candidates = found
    .map(({ rows }, at) => ({ key: rows[0], shard: filled[at]!.shard, weight: filled[at]!.weight }))
    .filter((candidate): candidate is { key: SortKey; shard: number; weight: number } => candidate.key !== undefined)
    .sort((a, b) => compareSortKeys(a.key, b.key));
  let half = sum(candidates.map(({ weight }) => weight)) / 2;
  return candidates.find(({ weight }) => (half -= weight) <= 0) ?? null;
}

/** The best that can be said when the list changes faster than it is read: the offset shared out between the cuts. */
function spread(low: Cut, high: Cut, offset: number): Cut {
  const fraction = (offset - low.before) / Math.max(1, high.before - low.before);
  const indexes = low.indexes.map((from, shard) =>
    Math.max(0, Math.floor(from + fraction * (high.indexes[shard]! - from))),
  );
  return { indexes, before: offset };
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
