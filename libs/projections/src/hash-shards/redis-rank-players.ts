import { compareSortKeys, shardOf, type RankStyle, type SortKey } from '@laddercast/domain';
import type { PlayerReading, RankList, Reading } from '../ranks/rank-projection.js';
import { COUNT_TRIES_MAX, countStyled, sumReadings, withCount, type RunShards } from './redis-rank-pages.js';
import { rankRows } from './redis-rank-rows.js';
import { allShards } from '../redis/redis-keys.js';
import { groupBy } from '../redis/chunks.js';
import {
  readAround,
  readPlayers,
  type KeyAsked,
  type PlayerAsked,
  type PlayerOfShard,
  type ShardReading,
} from './redis-shard-calls.js';

/** What a shard that does not hold a player's key has around it. */
interface Around {
  better: number;
  rows: SortKey[];
}

/**
 * Reads players of lists that are sharded by player with what stands around them: each player's own shard first, then, of
 * what was found there, the others.
 */
export class RedisRankPlayers {
  constructor(private readonly runShards: RunShards) {}

  /** @returns in the order asked */
  async run(list: RankList, asked: readonly PlayerAsked[], style: RankStyle): Promise<PlayerReading[]> {
    const readings = await this.readOnce(list, asked, style);
    for (let tries = 1; tries < COUNT_TRIES_MAX; tries += 1) {
      const doubted = [...readings.keys()].filter((at) => readings[at]!.accuracy !== undefined);
      if (doubted.length === 0) break;
      const again = await this.readOnce(
        list,
        doubted.map((at) => asked[at]!),
        style,
      );
      for (const [nth, at] of doubted.entries()) readings[at] = again[nth]!;
    }
    return readings;
  }

  private async readOnce(list: RankList, asked: readonly PlayerAsked[], style: RankStyle): Promise<PlayerReading[]> {
    const owners = asked.map(({ playerId }) => shardOf(playerId, list.shards));
    const own = await this.readOwn(list, asked, owners, style);
    const others = await this.readOthers(list, asked, owners, own.players);
    return Promise.all(
      asked.map(async (one, at) => {
        const player = own.players[at]!;
        const elsewhere = others.filter(({ shard }) => shard !== owners[at]);
        const reading = sumReadings(list, [own.shards.get(owners[at]!)!, ...elsewhere]);
        if (player.index === null) return { entry: null, neighbours: [], ...reading };
        const around = elsewhere.map((shard) => shard.around.get(at)!);
        return this.merged(list, one, player, { around, reading }, style);
      }),
    );
  }

  private async readOwn(
    list: RankList,
    asked: readonly PlayerAsked[],
    owners: readonly number[],
    style: RankStyle,
  ): Promise<{ players: PlayerOfShard[]; shards: Map<number, ShardReading> }> {
    const counted = list.shards === 1 ? style : 'ordinal';
    const placesOf = [...groupBy(asked.keys(), (at) => owners[at]!)];
    const answers = await this.runShards(
      placesOf.map(([shard, places]) => {
        const players = places.map((at) => asked[at]!);
        return readPlayers(list, shard, players, counted);
      }),
    );
    const players: PlayerOfShard[] = [];
    for (const [at, [, places]] of placesOf.entries()) {
      for (const [nth, place] of places.entries()) players[place] = answers[at]!.players[nth]!;
    }
    return { players, shards: new Map(placesOf.map(([shard], at) => [shard, answers[at]!])) };
  }

  /** Every shard that is not the own one of all players, with what it has around those of others, by their places. */
  private async readOthers(
    list: RankList,
    asked: readonly PlayerAsked[],
    owners: readonly number[],
    players: readonly PlayerOfShard[],
  ): Promise<(ShardReading & { shard: number; around: Map<number, Around> })[]> {
    const shards = allShards(list).filter((shard) => owners.some((owner) => owner !== shard));
    const wanted = shards.map((shard) =>
      players.flatMap((player, at) => (owners[at] === shard || player.index === null ? [] : [at])),
    );
    const keyOf = (at: number): KeyAsked => ({ ...asked[at]!, key: ownKey(players[at]!) });
    const answers = await this.runShards(shards.map((shard, nth) => readAround(list, shard, wanted[nth]!.map(keyOf))));
    return answers.map(({ around, ...reading }, nth) => ({
      ...reading,
      shard: shards[nth]!,
      around: new Map(wanted[nth]!.map((at, place) => [at, around[place]!])),
    }));
  }

  /** Ranks that the first row shares are counted by another reading: they are exact where that is of the same version. */
  private async merged(
    list: RankList,
    { above, below }: PlayerAsked,
    player: PlayerOfShard,
    others: { around: readonly Around[]; reading: Reading },
    style: RankStyle,
  ): Promise<PlayerReading> {
    const key = ownKey(player);
    const keys = [player, ...others.around].flatMap(({ rows }) => rows).sort(compareSortKeys);
    const at = keys.indexOf(key);
    const from = Math.max(0, at - above);
    const indexOfKey = others.around.reduce((total, { better }) => total + better, player.index!);
    const rows = keys.slice(from, at + below + 1);
    const index = indexOfKey - (at - from);
    // Nothing stands before the first of all, and so nothing shares its rank from there.
    const isCounted = style === 'ordinal' || index === 0 || player.countBefore !== null;
    const counted = isCounted ? null : await countStyled(this.runShards, list, rows[0]!, style);
    const neighbours = rankRows(list, rows, index, style, counted?.before ?? player.countBefore);
    const reading = counted === null ? others.reading : withCount(others.reading, counted);
    return { entry: { version: player.version!, ...neighbours[at - from]! }, neighbours, ...reading };
  }
}

const ownKey = ({ rows, index, firstIndex }: PlayerOfShard): SortKey => rows[index! - firstIndex]!;
