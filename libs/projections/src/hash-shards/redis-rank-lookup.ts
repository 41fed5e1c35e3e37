import { chunksOf } from '../redis/chunks.js';
import {
  CIRCLE_ENTRIES_MAX,
  countedKey,
  decodeSortKey,
  shardOf,
  type RankStyle,
  type SortKey,
} from '@laddercast/domain';
import type { ProjectedEntry, RankList, Reading } from '../ranks/rank-projection.js';
import { sumReadings, type RunShards } from './redis-rank-pages.js';
import { nameOf } from './redis-rank-rows.js';
import { countBetter, readEntries, type EntryOfShard, type ShardCall, type ShardReading } from './redis-shard-calls.js';
import { growingCache } from '@laddercast/platform';

/** The most players of one lookup: those of the largest circle. */
export const LOOKUP_PLAYERS_MAX = CIRCLE_ENTRIES_MAX;
/** The most players, or sort keys, that one script call looks at: less than a millisecond of Redis. */
const LOOKUP_CHUNK = 100;
/** The most players whose sort keys are remembered, some 200 bytes each. */
const REMEMBERED_KEYS_MAX = 50_000;

/**
 * Looks up many players of a list at once, with exact ranks.
 *
 * A list with one shard takes one round trip. In others a player's rank needs its sort key counted in every other shard,
 * too, and the key is in its own: the key that a player had the last time is counted beside reading the present one.
 * Where they are the same, and always for those looked up a moment ago who have not scored since, that was all; the rest
 * takes a second round. What is remembered never decides a rank, only whether it is there already.
 */
export class RedisRankLookup {
  private readonly remembered = new RememberedKeys();

  constructor(private readonly runShards: RunShards) {}

  /** `versions`: of the state that each entry's rank is of, null where there is none. */
  async run(
    list: RankList,
    playerIds: readonly string[],
    style: RankStyle,
  ): Promise<Reading & { entries: (ProjectedEntry | null)[]; versions: (number | null)[] }> {
    if (playerIds.length > LOOKUP_PLAYERS_MAX) throw new RangeError(`at most ${LOOKUP_PLAYERS_MAX} players at once`);
    const counted = (key: SortKey): SortKey => countedKey(list.ordering, key, style);
    const players = [...new Set(playerIds)];
    const counts = new CountsOfShards(list, style);
    if (list.shards > 1) {
      for (const playerId of players) {
        const key = this.remembered.get(list, playerId);
        if (key) counts.want(shardOf(playerId, list.shards), counted(key));
      }
    }
    const reads = new EntriesOfShards(list, players, style);
    await this.runShards([...reads.calls, ...counts.takeCalls()]);
    if (list.shards > 1) {
      for (const playerId of players) this.remembered.set(list, playerId, reads.found.get(playerId)?.key);
      for (const [playerId, { key }] of reads.found) counts.want(shardOf(playerId, list.shards), counted(key));
      await this.runShards(counts.takeCalls());
    }
    const entries = playerIds.map((playerId) => {
      const entry = reads.found.get(playerId);
      if (entry === undefined) return null;
      const elsewhere = counts.of(shardOf(playerId, list.shards), counted(entry.key));
      const before = (entry.countBefore ?? entry.index) + elsewhere;
      return { rank: before + 1, ...decodeSortKey(list.ordering, entry.key) };
    });
    const versions = playerIds.map((playerId) => reads.found.get(playerId)?.version ?? null);
    return { entries, versions, ...sumReadings(list, reads.shards) };
  }
}

/** What the players' own shards say of them. */
class EntriesOfShards {
  readonly found = new Map<string, EntryOfShard>();
  /** One reading of each shard. */
  readonly shards: ShardReading[] = [];
  readonly calls: ShardCall<void>[];

  constructor(list: RankList, players: readonly string[], style: RankStyle) {
    const byShard: string[][] = Array.from({ length: list.shards }, () => []);
    for (const playerId of players) byShard[shardOf(playerId, list.shards)]!.push(playerId);
    // A shard without any of the players is asked as well: for its total.
    const asked = byShard.flatMap((ofShard, shard) =>
      (ofShard.length === 0 ? [[]] : chunksOf(ofShard, LOOKUP_CHUNK)).map((chunk) => ({ shard, chunk })),
    );
    this.calls = asked.map(({ shard, chunk }) =>
      taken(readEntries(list, shard, chunk, style), (answer) => {
        this.shards[shard] = answer;
        for (const [at, entry] of answer.entries.entries()) if (entry) this.found.set(chunk[at]!, entry);
      }),
    );
  }
}

/** How much stands before sort keys in a style, in the shards that do not hold them. */
class CountsOfShards {
  private readonly better: Map<string, number>[];
  private readonly wanted: Map<string, SortKey>[];

  constructor(
    private readonly list: RankList,
    private readonly style: RankStyle,
  ) {
    this.better = Array.from({ length: list.shards }, () => new Map<string, number>());
    this.wanted = this.better.map(() => new Map<string, SortKey>());
  }

  /** Has the key counted in every shard but its owner's, where it has not been. */
  want(owner: number, key: SortKey): void {
    const name = nameOf(key);
    for (const [shard, better] of this.better.entries()) {
      if (shard !== owner && !better.has(name)) this.wanted[shard]!.set(name, key);
    }
  }

  /** The calls for what is wanted. */
  takeCalls(): ShardCall<void>[] {
    return this.wanted.flatMap((wanted, shard) => {
      const keys = [...wanted];
      wanted.clear();
      return chunksOf(keys, LOOKUP_CHUNK).map((chunk) => {
        const call = countBetter(
          this.list,
          shard,
          chunk.map(([, key]) => key),
          this.style,
        );
        return taken(call, ({ better }) => {
          for (const [at, [name]] of chunk.entries()) this.better[shard]!.set(name, better[at]!);
        });
      });
    });
  }

  /** What stands before the key in all shards but its owner's. */
  of(owner: number, key: SortKey): number {
    const name = nameOf(key);
    return this.better.reduce((sum, better, shard) => (shard === owner ? sum : sum + better.get(name)!), 0);
  }
}

/** The sort keys that players had when they were looked up last. Who was looked up longest ago goes first. */
class RememberedKeys {
  private readonly keys = growingCache<string, { score: number; member: string }>(REMEMBERED_KEYS_MAX);

  get(list: RankList, playerId: string): SortKey | undefined {
    const key = this.keys.get(nameOfPlayer(list, playerId));
    return key && { score: key.score, member: Buffer.from(key.member, 'latin1') };
  }

  set(list: RankList, playerId: string, key: SortKey | undefined): void {
    const name = nameOfPlayer(list, playerId);
    // A string of its own: a Buffer would keep the whole slab that it was cut from.
    if (key) this.keys.set(name, { score: key.score, member: key.member.toString('latin1') });
    else this.keys.delete(name);
  }
}

const nameOfPlayer = ({ boardUid, windowUid, scope }: RankList, playerId: string): string =>
  `${boardUid}.${windowUid}.${scope} ${playerId}`;

/** The call, with its answer given to `take`: calls of different kinds travel together so. */
const taken = <Answer>({ read, ...asked }: ShardCall<Answer>, take: (answer: Answer) => void): ShardCall<void> => ({
  ...asked,
  read: (raw) => take(read(raw)),
});
