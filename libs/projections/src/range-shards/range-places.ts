import { isDeepStrictEqual } from 'node:util';
import { compareSortKeys, shardOf, type SortKey } from '@laddercast/domain';
import type { RankList } from '../ranks/rank-projection.js';
import { isEntryValue, sortKeyOfIndexValue } from '../redis/redis-index-value.js';
import type { PlacedRow } from './range-consistent-look.js';
import { finishedVersion, readPlaces, shardOfValue, type PlacesOfPlayer } from './range-writer.js';
import { chunksOf } from '../redis/chunks.js';
import type { RunShards } from '../hash-shards/redis-rank-pages.js';

const PLACES_CHUNK = 100;

/** A place where a player's entry may stand. */
export interface Candidate {
  playerId: string;
  value: Buffer;
  key: SortKey;
  shard: number;
}

/** What the index of its home says of a player. */
export interface PlayerPlaces {
  playerId: string;
  /** As it was read. */
  read: PlacesOfPlayer;
  /** Where its entry may stand, the newest first. */
  candidates: Candidate[];
  /** Whether it may stand in none of them, as long as the index says the same: it is new or removed. */
  mayBeNowhere: boolean;
  /** Whether there is an entry, and it can be in no other place, as long as the index says the same. */
  isSettled: boolean;
  /** The version of the entry, or of its removal, as far as that is finished. */
  version: number | null;
}

/** Finds where players' entries are. */
export class RangePlaces {
  constructor(private readonly run: RunShards) {}

  async of(list: RankList, playerIds: readonly string[]): Promise<Map<string, PlayerPlaces>> {
    const byHome = new Map<number, string[]>();
    for (const playerId of playerIds) {
      const home = shardOf(playerId, list.shards);
      byHome.set(home, [...(byHome.get(home) ?? []), playerId]);
    }
    const asked = [...byHome].flatMap(([home, ids]) => chunksOf(ids, PLACES_CHUNK).map((chunk) => ({ home, chunk })));
    const answers = await this.run(asked.map(({ home, chunk }) => readPlaces(list, home, chunk)));
    const found = new Map<string, PlayerPlaces>();
    for (const [at, { chunk }] of asked.entries()) {
      for (const [index, playerId] of chunk.entries())
        found.set(playerId, placesOf(list, playerId, answers[at]![index]!));
    }
    return found;
  }

  /** Whether the index says the same of the players as when it was read. */
  async areStill(list: RankList, players: readonly PlayerPlaces[]): Promise<boolean> {
    if (players.length === 0) return true;
    const ids = players.map(({ playerId }) => playerId);
    const now = await this.of(list, ids);
    return players.every(({ playerId, read }) => isDeepStrictEqual(read, now.get(playerId)!.read));
  }

  /**
   * Rows without those of players who are among them with a newer one; the places of what follows move up.
   * @param known a player whose row is known
   */
  async withoutRepeats(
    list: RankList,
    rows: readonly PlacedRow[],
    known?: { playerId: string; key: SortKey },
  ): Promise<PlacedRow[]> {
    const seen = new Map<string, number>();
    for (const { entry } of rows) seen.set(entry.playerId, (seen.get(entry.playerId) ?? 0) + 1);
    const repeated = [...seen].flatMap(([playerId, count]) => (count > 1 ? [playerId] : []));
    if (repeated.length === 0) return [...rows];
    const places = await this.of(list, repeated);
    const kept = new Map<string, PlacedRow>();
    for (const playerId of repeated) {
      const keys = places.get(playerId)!.candidates.map(({ key }) => key);
      if (known?.playerId === playerId) keys.unshift(known.key);
      const age = ({ key }: PlacedRow): number => {
        const at = keys.findIndex((candidate) => compareSortKeys(candidate, key) === 0);
        return at < 0 ? keys.length : at;
      };
      const [newest] = rows.filter(({ entry }) => entry.playerId === playerId).sort((a, b) => age(a) - age(b));
      kept.set(playerId, newest!);
    }
    let dropped = 0;
    return rows.flatMap((row) => {
      const newest = kept.get(row.entry.playerId);
      if (newest !== undefined && newest !== row) {
        dropped += 1;
        return [];
      }
      return [{ ...row, index: row.index - dropped, entry: { ...row.entry, rank: row.entry.rank - dropped } }];
    });
  }
}

function placesOf(list: RankList, playerId: string, read: PlacesOfPlayer): PlayerPlaces {
  const { value, places } = read;
  const values = [...(places ?? []), ...(value && isEntryValue(value) ? [value] : [])].reverse();
  const candidates = values.map((each) => ({
    playerId,
    value: each,
    key: sortKeyOfIndexValue(each, playerId),
    shard: shardOfValue(list, each),
  }));
  const isEntry = value !== null && isEntryValue(value);
  return {
    playerId,
    read,
    candidates,
    mayBeNowhere: !isEntry || places?.length === 0,
    isSettled: isEntry && places === null,
    version: finishedVersion(read),
  };
}
