import { compareSortKeys, rangeShardOf, type RankStyle, type SortKey } from '@laddercast/domain';
import type {
  MarksReading,
  PageReading,
  PlacementReading,
  PlayerReading,
  ProjectedEntry,
  RankList,
  Reading,
} from '../ranks/rank-projection.js';
import { sortKeyOfIndexValue, versionOfIndexValue } from '../redis/redis-index-value.js';
import {
  countKeys,
  placeRows,
  RangeConsistentLook,
  runWithLooks,
  rankIn,
  sumOf,
  type Tried,
} from './range-consistent-look.js';
import { lookUpInRanges, type FoundInRanges } from './range-player-lookup.js';
import { RangePlaces, type Candidate } from './range-places.js';
import { countIn, rowsAround, rowsIn, type ShardLook, type ShardRows } from './range-read-calls.js';
import { sumReadings, type RunShards } from '../hash-shards/redis-rank-pages.js';
import { allShards } from '../redis/redis-keys.js';
import { readMarks, type ShardCall } from '../hash-shards/redis-shard-calls.js';

/** Rows that are read on both sides of a page, so that it is whole although some came or went before it meanwhile. */
const MARGIN_ROWS = 8;

/** A player's entry as it was found in its shard, with the rows around it. */
interface FoundPlayer {
  candidate: Candidate;
  rows: ReturnType<typeof placeRows>;
}

/**
 * Reads lists whose shards are by score: what stands before a shard are the sizes of those before it. Each reading looks
 * at every shard, and says by {@link RangeConsistentLook} whether it is exact.
 */
export class RangeReader {
  private readonly looks: RangeConsistentLook;
  private readonly places: RangePlaces;

  constructor(
    private readonly run: RunShards,
    session: () => number,
  ) {
    this.looks = new RangeConsistentLook(run, session);
    this.places = new RangePlaces(run);
  }

  async page(list: RankList, offset: number, limit: number, style: RankStyle): Promise<PageReading> {
    const { answer, reading } = await this.looks.exactly(list, (before, isLast) =>
      this.tryPage(list, offset, limit, style, before, isLast),
    );
    return { ...reading, entries: answer };
  }

  async player(
    list: RankList,
    playerId: string,
    above: number,
    below: number,
    style: RankStyle,
  ): Promise<PlayerReading> {
    const { answer, reading } = await this.looks.exactly(list, (before, isLast) =>
      this.tryPlayer(list, playerId, { above, below }, style, before, isLast),
    );
    return { ...reading, ...answer };
  }

  async lookup(list: RankList, playerIds: readonly string[], style: RankStyle): Promise<Reading & FoundInRanges> {
    const { answer, reading } = await this.looks.exactly(list, (_before, isLast) =>
      lookUpInRanges(this.run, this.places, list, playerIds, style, isLast),
    );
    return { ...reading, ...answer };
  }

  async rankOfKey(list: RankList, key: SortKey, style: RankStyle): Promise<Reading & { rank: number }> {
    const shard = rangeShardOf(list.boundaries!, key.score);
    const { answer, reading } = await this.looks.exactly(list, async () => {
      const { answers, shards } = await runWithLooks(this.run, list, [
        { shard, call: countIn(list, shard, [key], style) },
      ]);
      return { shards, answer: rankIn(shards, shard, answers[0]!.counted[0]!, style) };
    });
    return { ...reading, rank: answer };
  }

  async placement(list: RankList, playerId: string, after: SortKey, before: SortKey | null): Promise<PlacementReading> {
    const keys = before === null ? [after] : [after, before];
    const { answer, reading } = await this.looks.exactly(list, async (_before, isLast) => {
      const own = (await this.places.of(list, [playerId])).get(playerId)!;
      const { counted, shards } = await countKeys(
        this.run,
        list,
        [...keys, ...own.candidates.map(({ key }) => key)],
        'ordinal',
      );
      const standing = own.candidates.filter((_, at) => counted[keys.length + at]!.isThere);
      // Its own entry is left out of the count: so it has to be known where that was.
      const isKnown = (own.isSettled && standing.length === 1) || (await this.places.areStill(list, [own]));
      if (!isKnown && !isLast) return { shards, answer: null };
      const ranks = keys.map((key, at) => {
        const rank = rankIn(shards, rangeShardOf(list.boundaries!, key.score), counted[at]!, 'ordinal');
        return rank - standing.filter((place) => compareSortKeys(place.key, key) < 0).length;
      });
      return { shards, answer: { ranks, own, standing: standing.length }, doubt: isKnown ? 0 : 1 };
    });
    const { ranks, own, standing } = answer;
    return {
      ...reading,
      total: reading.total - standing + 1,
      after: ranks[0]!,
      before: before === null ? null : ranks[1]!,
      version: own.version,
    };
  }

  /** The marks of each shard, with the version that they are of, and looks behind them. */
  async readMarks(list: RankList, step: number, stepsMax: number): Promise<MarksReading> {
    const { answer, reading } = await this.looks.exactly(list, async () => {
      const answers = await this.run(allShards(list).map((shard) => readMarks(list, shard, step, stepsMax)));
      const { shards } = await runWithLooks(this.run, list, []);
      return { shards, answer: answers };
    });
    const marks = answer.map(({ total, step: taken, keys }) => ({ total, step: taken, keys }));
    return { ...reading, ...sumReadings(list, answer), shards: marks };
  }

  async total(list: RankList): Promise<Reading> {
    const { reading } = await this.looks.exactly(list, async () => {
      const { shards } = await runWithLooks(this.run, list, []);
      return { shards, answer: true };
    });
    return reading;
  }

  async entryVersion(list: RankList, playerId: string): Promise<number | null> {
    return (await this.places.of(list, [playerId])).get(playerId)!.version;
  }

  private async tryPage(
    list: RankList,
    offset: number,
    limit: number,
    style: RankStyle,
    before: readonly ShardLook[],
    isLast: boolean,
  ): Promise<Tried<ProjectedEntry[]>> {
    const calls = pageCalls(list, Math.max(0, offset - MARGIN_ROWS), offset + limit + MARGIN_ROWS, style, before);
    const { answers, shards } = await runWithLooks(this.run, list, calls);
    const placed = answers.flatMap((rows, at) => placeRows(list, calls[at]!.shard, rows, shards, style));
    const total = sumOf(shards, ({ total }) => total);
    const end = Math.min(offset + limit, total);
    const onPage = placed.filter(({ index }) => index >= offset && index < end);
    if (onPage.length < end - offset && !isLast) return { shards, answer: null };
    const single = await this.places.withoutRepeats(list, placed);
    return { shards, answer: single.filter(({ index }) => index >= offset && index < end).map(({ entry }) => entry) };
  }

  private async tryPlayer(
    list: RankList,
    playerId: string,
    around: { above: number; below: number },
    style: RankStyle,
    before: readonly ShardLook[],
    isLast: boolean,
  ): Promise<Tried<Pick<PlayerReading, 'entry' | 'neighbours'>>> {
    const own = (await this.places.of(list, [playerId])).get(playerId)!;
    let shards = [...before];
    for (const candidate of own.candidates) {
      const tried = await this.tryCandidate(list, candidate, around, style, before);
      shards = tried.shards;
      if (tried.found === null) continue;
      if (!tried.isWhole && !isLast) return { shards, answer: null };
      return { shards, answer: await this.aroundOf(list, playerId, tried.found, around) };
    }
    if (own.candidates.length === 0) ({ shards } = await runWithLooks(this.run, list, []));
    // It went from everywhere while it was looked for, unless the index says that it may be nowhere, and still does.
    const isNowhere = own.mayBeNowhere && (isLast || (await this.places.areStill(list, [own])));
    if (isNowhere) return { shards, answer: { entry: null, neighbours: [] } };
    return isLast ? this.countedPlayer(list, own.candidates[0]!, style) : { shards, answer: null };
  }

  /** Looks for an entry in the place where it may be, with what stands around it, over the edges of its shard too. */
  private async tryCandidate(
    list: RankList,
    candidate: Candidate,
    around: { above: number; below: number },
    style: RankStyle,
    before: readonly ShardLook[],
  ): Promise<{ shards: ShardLook[]; found: FoundPlayer | null; isWhole: boolean }> {
    const { above, below } = around;
    const own = candidate.shard;
    const calls: { shard: number; call: ShardCall<ShardRows> }[] = [
      ...edgeShards(before, own, -1, above).map((shard) => ({
        shard,
        call: rowsIn(list, shard, -above, above, style),
      })),
      { shard: own, call: rowsAround(list, own, candidate.key, around, style) },
      ...edgeShards(before, own, 1, below).map((shard) => ({ shard, call: rowsIn(list, shard, 0, below, style) })),
    ];
    const { answers, shards } = await runWithLooks(this.run, list, calls);
    const at = calls.findIndex(({ shard }) => shard === own);
    if (answers[at]!.rows.length === 0) return { shards, found: null, isWhole: true };
    const rows = calls.flatMap(({ shard }, index) => placeRows(list, shard, answers[index]!, shards, style));
    const index = rows.find(({ key }) => compareSortKeys(key, candidate.key) === 0)!.index;
    const total = sumOf(shards, ({ total }) => total);
    const [from, to] = [Math.max(0, index - above), Math.min(total, index + below + 1)];
    const isWhole = rows.filter((row) => row.index >= from && row.index < to).length === to - from;
    return { shards, found: { candidate, rows }, isWhole };
  }

  private async aroundOf(
    list: RankList,
    playerId: string,
    { candidate, rows }: FoundPlayer,
    { above, below }: { above: number; below: number },
  ): Promise<Pick<PlayerReading, 'entry' | 'neighbours'>> {
    const single = await this.places.withoutRepeats(list, rows, { playerId, key: candidate.key });
    const own = single.find(({ entry }) => entry.playerId === playerId)!;
    const neighbours = single.filter(({ index }) => index >= own.index - above && index <= own.index + below);
    return {
      entry: { ...own.entry, version: versionOfIndexValue(candidate.value) },
      neighbours: neighbours.map(({ entry }) => entry),
    };
  }

  /** The entry where the index says that it is to be: nobody else has seen it there. */
  private async countedPlayer(
    list: RankList,
    candidate: Candidate,
    style: RankStyle,
  ): Promise<Tried<Pick<PlayerReading, 'entry' | 'neighbours'>>> {
    const { shard, key, value, playerId } = candidate;
    const { answers, shards } = await runWithLooks(this.run, list, [
      { shard, call: countIn(list, shard, [key], style) },
    ]);
    const { better, styled } = answers[0]!.counted[0]!;
    const placed = { first: better, rows: [sortKeyOfIndexValue(value, playerId)], styled };
    const [row] = placeRows(list, shard, placed, shards, style);
    const entry = { ...row!.entry, version: versionOfIndexValue(value) };
    return { shards, answer: { entry, neighbours: [row!.entry] }, doubt: 1 };
  }
}

/** Reads the rows between two indexes of the list from the shards that hold them by the sizes given. */
function pageCalls(
  list: RankList,
  from: number,
  to: number,
  style: RankStyle,
  sizes: readonly ShardLook[],
): { shard: number; call: ShardCall<ShardRows> }[] {
  let before = 0;
  return allShards(list).flatMap((shard) => {
    const [first, last] = [Math.max(from - before, 0), to - before];
    before += sizes[shard]!.total;
    if (from >= before || last <= 0) return [];
    return [{ shard, call: rowsIn(list, shard, first, last - first, style) }];
  });
}

/** The shards on one side of a shard that together hold `wanted` rows by the sizes given, from the best to the worst. */
function edgeShards(sizes: readonly ShardLook[], own: number, step: 1 | -1, wanted: number): number[] {
  const shards: number[] = [];
  for (let shard = own + step, rows = 0; rows < wanted && sizes[shard] !== undefined; shard += step) {
    shards.push(shard);
    rows += sizes[shard]!.total;
  }
  return step < 0 ? shards.reverse() : shards;
}
