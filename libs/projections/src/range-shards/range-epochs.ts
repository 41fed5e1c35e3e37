import { LRUCache } from 'lru-cache';
import type { RankList, RecoveryRun } from '../ranks/rank-projection.js';
import { allShards, nameOfList } from '../redis/redis-keys.js';
import { beginRecovery, newEpoch, readEpoch } from './range-writer.js';
import type { RunShards } from '../hash-shards/redis-rank-pages.js';

/** Lists whose epochs are remembered; the one used longest ago makes room. */
const LISTS_MAX = 1000;

/** The epochs of the shards of lists by ranges, as far as this process knows them. */
export class RangeEpochs {
  private readonly known = new LRUCache<string, string[]>({ max: LISTS_MAX });

  /** @param extendExpiry gives all keys of a shard a later expiry */
  constructor(
    private readonly run: RunShards,
    private readonly extendExpiry: (list: RankList, shard: number, keepUntilMs: number) => Promise<void>,
  ) {}

  /** Of each shard, as of now. */
  async of(list: RankList): Promise<string[]> {
    const name = nameOfList(list);
    let epochs = this.known.get(name);
    if (epochs === undefined) {
      epochs = await this.run(allShards(list).map((shard) => readEpoch(list, shard)));
      this.known.set(name, epochs);
    }
    return [...epochs];
  }

  learn(list: RankList, shard: number, epoch: string): void {
    const epochs = this.known.get(nameOfList(list));
    if (epochs !== undefined) epochs[shard] = epoch;
  }

  /** Has the shards know that a run brings back what was lost, once for each run and session with the store. */
  beginFor({ prepared }: RecoveryRun, list: RankList, session: number, keepUntilMs: number | null): Promise<void> {
    const name = `${session} ${nameOfList(list)}`;
    const known = prepared.get(name);
    if (known !== undefined) return known;
    const beginning = this.begin(list, keepUntilMs);
    prepared.set(name, beginning);
    beginning.catch(() => prepared.delete(name));
    return beginning;
  }

  private async begin(list: RankList, keepUntilMs: number | null): Promise<void> {
    const epochs = allShards(list).map(newEpoch);
    const wantLaterExpiry = await this.run(
      epochs.map((epoch, shard) => beginRecovery(list, shard, epoch, keepUntilMs)),
    );
    this.known.set(nameOfList(list), epochs);
    for (const shard of allShards(list).filter((each) => wantLaterExpiry[each])) {
      await this.extendExpiry(list, shard, keepUntilMs!);
    }
  }
}
