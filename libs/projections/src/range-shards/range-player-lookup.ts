import { decodeSortKey, type RankStyle } from '@laddercast/domain';
import type { ProjectedEntry, RankList } from '../ranks/rank-projection.js';
import { versionOfIndexValue } from '../redis/redis-index-value.js';
import { countKeys, rankIn, type Tried } from './range-consistent-look.js';
import type { Candidate, PlayerPlaces, RangePlaces } from './range-places.js';
import type { CountedKey, ShardLook } from './range-read-calls.js';
import { LOOKUP_PLAYERS_MAX } from '../hash-shards/redis-rank-lookup.js';
import type { RunShards } from '../hash-shards/redis-rank-pages.js';

/** What there is of players, in the order asked. */
export interface FoundInRanges {
  entries: (ProjectedEntry | null)[];
  /** Of the state that each entry's rank is of, null where there is none. */
  versions: (number | null)[];
}

/** Looks up many players of a list by ranges: where the index has them, then what stands before them there. */
export async function lookUpInRanges(
  run: RunShards,
  places: RangePlaces,
  list: RankList,
  playerIds: readonly string[],
  style: RankStyle,
  isLast: boolean,
): Promise<Tried<FoundInRanges>> {
  if (playerIds.length > LOOKUP_PLAYERS_MAX) throw new RangeError(`at most ${LOOKUP_PLAYERS_MAX} players at once`);
  const players = await places.of(list, [...new Set(playerIds)]);
  const found = new Map<string, { candidate: Candidate; counted: CountedKey }>();
  const nowhere: PlayerPlaces[] = [];
  let lost = 0;
  let shards: ShardLook[] = [];
  let waiting = [...players.values()].filter(({ candidates }) => candidates.length > 0);
  for (let turn = 0; turn === 0 || waiting.length > 0; turn += 1) {
    const candidates = waiting.map((one) => one.candidates[turn]!);
    const keys = candidates.map(({ key }) => key);
    const answer = await countKeys(run, list, keys, style);
    shards = answer.shards;
    const missing: PlayerPlaces[] = [];
    for (const [at, candidate] of candidates.entries()) {
      const counted = answer.counted[at]!;
      const one = waiting[at]!;
      if (!counted.isThere && turn + 1 < one.candidates.length) missing.push(one);
      else if (!counted.isThere && one.mayBeNowhere) nowhere.push(one);
      else found.set(candidate.playerId, { candidate, counted });
      if (!counted.isThere && !missing.includes(one) && !one.mayBeNowhere) lost += 1;
    }
    waiting = missing;
  }
  if (!isLast && (lost > 0 || !(await places.areStill(list, nowhere)))) return { shards, answer: null };
  const entries = playerIds.map((playerId) => {
    const one = found.get(playerId);
    if (one === undefined) return null;
    return {
      rank: rankIn(shards, one.candidate.shard, one.counted, style),
      ...decodeSortKey(list.ordering, one.candidate.key),
    };
  });
  const versions = playerIds.map((playerId) => {
    const one = found.get(playerId);
    return one === undefined ? null : versionOfIndexValue(one.candidate.value);
  });
  return { shards, answer: { entries, versions }, doubt: lost };
}
