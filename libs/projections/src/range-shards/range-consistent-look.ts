import {
  decodeSortKey,
  LadderError,
  rangeShardOf,
  valueKeyOf,
  versionOfCounters,
  type RankStyle,
  type SortKey,
} from '@laddercast/domain';
import { LRUCache } from 'lru-cache';
import { chunksOf, groupBy } from '../redis/chunks.js';
import type { ProjectedEntry, RankList, Reading } from '../ranks/rank-projection.js';
import { countIn, type CountedKey, type ShardLook } from './range-read-calls.js';
import { allShards, nameOfList } from '../redis/redis-keys.js';
import type { RunShards } from '../hash-shards/redis-rank-pages.js';
import { nameOf } from '../hash-shards/redis-rank-rows.js';
import type { ShardCall } from '../hash-shards/redis-shard-calls.js';

/** One look at every shard of a list, within one session with the store. */
export interface ListLook {
  session: number;
  shards: ShardLook[];
}

/** What one try at a question found. */
export interface Tried<Answer> {
  /** Looks at every shard, each from after the last that was read of it. */
  shards: ShardLook[];
  /** null: the list changed while it was asked, and the question has to be asked again. */
  answer: Answer | null;
  /** How much more the answer can be off than the looks say. */
  doubt?: number;
}

/** Sort keys that one call counts: far more than the places of one player. */
const COUNT_CHUNK = 100;
/** Tries until an answer is exact. Each takes a millisecond or so. */
const EXACT_TRIES = 3;
/** Tries until there is an answer at all. */
const TRIES_MAX = 8;
/** Lists whose last look is remembered; the one read longest ago makes room. */
const LISTS_MAX = 1000;

/**
 * Asks lists by ranges so that it is known whether each entry was counted once: between the last look before the question
 * and the looks that came with the answer no entry crossed, and none was crossing. A list that is quiet takes one try,
 * because the last look of this process is remembered.
 */
export class RangeConsistentLook {
  private readonly remembered = new LRUCache<string, ListLook>({ max: LISTS_MAX });

  constructor(
    private readonly run: RunShards,
    private readonly session: () => number,
  ) {}

  /**
   * @param ask is given the look before, and whether it is the last try: then it answers as well as it can
   * @throws PROJECTION_UNAVAILABLE when the connection was replaced all the time
   */
  async exactly<Answer>(
    list: RankList,
    ask: (before: ShardLook[], isLast: boolean) => Promise<Tried<Answer>>,
  ): Promise<{ answer: Answer; reading: Reading }> {
    const name = nameOfList(list);
    let before = this.remembered.get(name);
    if (before?.session !== this.session()) before = await this.look(list);
    for (let tries = 1; tries <= TRIES_MAX; tries += 1) {
      const isLast = tries === TRIES_MAX;
      const { shards, answer, doubt = 0 } = await ask(before.shards, isLast);
      const now: ListLook = { session: this.session(), shards };
      const isOneSession = now.session === before.session;
      const bound = doubt + doubtBetween(before.shards, shards);
      this.remembered.set(name, now);
      before = now;
      if (answer === null || !isOneSession) continue;
      if (bound === 0) return { answer, reading: readingOf(list, shards) };
      if (tries < EXACT_TRIES) continue;
      return { answer, reading: { ...readingOf(list, shards), accuracy: 'estimated', errorBound: bound } };
    }
    throw new LadderError('PROJECTION_UNAVAILABLE', 'The list changes faster than it can be read.', {
      retryAfterSeconds: 1,
    });
  }

  private async look(list: RankList): Promise<ListLook> {
    const session = this.session();
    return { session, shards: await lookAtAll(this.run, list) };
  }
}

/** Looks at every shard of a list. */
export async function lookAtAll(run: RunShards, list: RankList): Promise<ShardLook[]> {
  const answers = await run(allShards(list).map((shard) => countIn(list, shard, [], 'ordinal')));
  return answers.map(({ look }) => look);
}

/** How many entries may have been counted in no shard, or in two: 0 proves that none was. */
export function doubtBetween(before: readonly ShardLook[], now: readonly ShardLook[]): number {
  return now.reduce((sum, { crossings, pending }, shard) => {
    const earlier = before[shard]!;
    return sum + earlier.pending + pending + Math.abs(crossings - earlier.crossings);
  }, 0);
}

/** Runs calls of shards together, beside looks at the shards that none of them goes to. */
export async function runWithLooks<Answer extends { look: ShardLook }>(
  run: RunShards,
  list: RankList,
  calls: readonly { shard: number; call: ShardCall<Answer> }[],
): Promise<{ answers: Answer[]; shards: ShardLook[] }> {
  const asked = new Set(calls.map(({ shard }) => shard));
  const answers: Answer[] = [];
  const shards: ShardLook[] = [];
  const take = (shard: number, { look }: { look: ShardLook }): void => {
    const known = shards[shard];
    shards[shard] = known === undefined ? look : laterOf(known, look);
  };
  const given = calls.map(({ shard, call: { read, ...asked } }, at): ShardCall<void> => ({
    ...asked,
    read: (raw) => take(shard, (answers[at] = read(raw))),
  }));
  const looks = allShards(list)
    .filter((shard) => !asked.has(shard))
    .map((shard): ShardCall<void> => {
      // Values of all shards before are counted in the style that needs them.
      const { read, ...asked } = countIn(list, shard, [], list.dense ? 'dense' : 'ordinal');
      return { ...asked, read: (raw) => take(shard, read(raw)) };
    });
  await run([...given, ...looks]);
  return { answers, shards };
}

/** Counts what stands before sort keys; those of one shard at one moment, so that each entry there has one place. */
export async function countKeys(
  run: RunShards,
  list: RankList,
  keys: readonly SortKey[],
  style: RankStyle,
): Promise<{ counted: CountedKey[]; shards: ShardLook[] }> {
  const byShard = groupBy(keys.keys(), (at) => rangeShardOf(list.boundaries!, keys[at]!.score));
  const calls = [...byShard].flatMap(([shard, places]) =>
    chunksOf(places, COUNT_CHUNK).map((chunk) => {
      const asked = chunk.map((at) => keys[at]!);
      return { shard, chunk, call: countIn(list, shard, asked, style) };
    }),
  );
  const { answers, shards } = await runWithLooks(run, list, calls);
  const counted: CountedKey[] = [];
  for (const [index, { chunk }] of calls.entries()) {
    for (const [of, at] of chunk.entries()) counted[at] = answers[index]!.counted[of]!;
  }
  return { counted, shards };
}

/** Of two looks at a shard the later one, with all that was crossing in either. */
function laterOf(a: ShardLook, b: ShardLook): ShardLook {
  const later = b.counter >= a.counter ? b : a;
  return { ...later, crossings: Math.max(a.crossings, b.crossings), pending: Math.max(a.pending, b.pending) };
}

function readingOf(list: RankList, shards: readonly ShardLook[]): Reading {
  return {
    total: sumOf(shards, ({ total }) => total),
    listVersion: versionOfCounters(
      list,
      shards.map(({ counter }) => counter),
    ),
  };
}

/** A row with its 0-based index in the list. */
export interface PlacedRow {
  index: number;
  key: SortKey;
  entry: ProjectedEntry;
}

/** A shard's rows as rows of the list. Equal values lie in one shard, so that its ranks go on from those before it. */
export function placeRows(
  list: RankList,
  shard: number,
  { first, rows, styled }: { first: number; rows: readonly SortKey[]; styled: number | null },
  shards: readonly ShardLook[],
  style: RankStyle,
): PlacedRow[] {
  const before = shards.slice(0, shard);
  const from = sumOf(before, ({ total }) => total) + first;
  let better = styled === null ? from : styledBefore(before, style) + styled;
  return rows.map((key, at) => {
    const index = from + at;
    const isTied =
      at > 0 && nameOf(valueKeyOf(list.ordering, key)) === nameOf(valueKeyOf(list.ordering, rows[at - 1]!));
    if (at > 0 && (style === 'ordinal' || !isTied)) better = style === 'dense' ? better + 1 : index;
    return { index, key, entry: { rank: better + 1, ...decodeSortKey(list.ordering, key) } };
  });
}

/** The rank of a key that was counted in its shard. */
export function rankIn(
  shards: readonly ShardLook[],
  shard: number,
  { better, styled }: CountedKey,
  style: RankStyle,
): number {
  const before = shards.slice(0, shard);
  return 1 + (styled === null ? sumOf(before, ({ total }) => total) + better : styledBefore(before, style) + styled);
}

/** What a style counts in all of some shards. */
export const styledBefore = (shards: readonly ShardLook[], style: RankStyle): number =>
  sumOf(shards, ({ total, values }) => (style === 'dense' ? values : total));

export const sumOf = <T>(items: readonly T[], numberOf: (item: T) => number): number =>
  items.reduce((sum, item) => sum + numberOf(item), 0);
