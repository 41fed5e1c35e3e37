import { compareSortKeys, LadderError, playerIdIn, sortKeyIn, type SortKey } from '@laddercast/domain';
import type { RankList } from '../ranks/rank-projection.js';
import { packIndexValue } from '../redis/redis-index-value.js';
import { RangePlaces } from './range-places.js';
import { rowsIn } from './range-read-calls.js';
import { readEpoch, versionBytes, writeShard, type ShardWrite } from './range-writer.js';
import { allShards } from '../redis/redis-keys.js';
import type { RunShards } from '../hash-shards/redis-rank-pages.js';

const ROWS_AT_ONCE = 500;
/** Tries for one run of rows: each but the last ended because the shard's epoch did. */
const TRIES_MAX = 10;

/**
 * Takes entries out of a list by ranges that the index of their players knows nothing of. They come to be where a master
 * of a cluster forgets the removal of an entry that another master still knows to have crossed. Every row is read.
 * @returns how many there were
 */
export async function removeStrays(run: RunShards, list: RankList, keepUntilMs: number | null): Promise<number> {
  let removed = 0;
  for (const shard of allShards(list)) {
    for (let index = 0; ;) {
      const part = await removeStraysAmong(run, list, shard, index, keepUntilMs);
      removed += part.removed;
      index += part.rows - part.removed;
      if (part.rows < ROWS_AT_ONCE) break;
    }
  }
  return removed;
}

/**
 * Takes out those among some rows of a shard, from a 0-based index.
 * @returns how many rows there were, and how many of them were taken out
 */
export async function removeStraysAmong(
  run: RunShards,
  list: RankList,
  shard: number,
  index: number,
  keepUntilMs: number | null,
): Promise<{ rows: number; removed: number }> {
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    // The epoch first: whoever writes to the shard after the index was read is then known to it.
    const [epoch] = await run([readEpoch(list, shard)]);
    const [{ rows } = { rows: [] }] = await run([rowsIn(list, shard, index, ROWS_AT_ONCE, 'ordinal')]);
    const removed = await tryToRemove(run, list, shard, rows, { epoch: epoch!, keepUntilMs });
    if (removed !== null) return { rows: rows.length, removed };
  }
  throw writtenTooFast();
}

/**
 * Takes out those of these entries of a shard that the index of their players knows nothing of.
 * @returns how many there were
 */
export async function removeStraysOf(
  run: RunShards,
  list: RankList,
  shard: number,
  rows: readonly SortKey[],
  keepUntilMs: number | null,
): Promise<number> {
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const [epoch] = await run([readEpoch(list, shard)]);
    const removed = await tryToRemove(run, list, shard, rows, { epoch: epoch!, keepUntilMs });
    if (removed !== null) return removed;
  }
  throw writtenTooFast();
}

/** null: the epoch has ended. */
async function tryToRemove(
  run: RunShards,
  list: RankList,
  shard: number,
  rows: readonly SortKey[],
  { epoch, keepUntilMs }: { epoch: string; keepUntilMs: number | null },
): Promise<number | null> {
  const strays = await straysAmong(run, list, rows);
  if (strays.length === 0) return 0;
  const [answer] = await run([writeShard(list, shard, strays, epoch, { keepUntilMs })]);
  return answer!.done === null ? null : answer!.went;
}

const writtenTooFast = (): LadderError =>
  new LadderError('PROJECTION_UNAVAILABLE', 'A shard is written faster than it can be looked through.', {
    retryAfterSeconds: 1,
  });

async function straysAmong(run: RunShards, list: RankList, rows: readonly SortKey[]): Promise<ShardWrite[]> {
  const keys = rows.map((key) => ({
    key: sortKeyIn(list.ordering, key),
    playerId: playerIdIn(list.ordering, key.member),
  }));
  const places = await new RangePlaces(run).of(list, [...new Set(keys.map(({ playerId }) => playerId))]);
  return keys.flatMap(({ key, playerId }) => {
    const { read, candidates } = places.get(playerId)!;
    // What is unfinished is looked after, and a player without an index is brought back with one.
    if (read.value === null || read.places !== null) return [];
    if (candidates.some((candidate) => compareSortKeys(candidate.key, key) === 0)) return [];
    const place = packIndexValue({ playerId, version: 0, key });
    return [{ playerId, value: versionBytes(read.value), places: [place], isPending: false, isNoCrossing: false }];
  });
}
