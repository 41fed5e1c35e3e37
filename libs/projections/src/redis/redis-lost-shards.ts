import { counterStart } from '@laddercast/domain';
import { nowMs } from '@laddercast/platform';
import { Injectable } from '@nestjs/common';
import { chunksOf } from './chunks.js';
import type { RankList } from '../ranks/rank-projection.js';
import { RedisConnection } from './redis-connection.js';
import { counterKey, droppedKeys, LOST_KEY, nameOfShard, partsKeyOfCounter, shardOfCounter } from './redis-keys.js';
import { callOf, redisScripts } from './redis-scripts.js';

/** A shard as it is noted to have lost a key. */
export interface LostShard {
  /** See `nameOfShard`. */
  name: string;
  boardUid: number;
  windowUid: number;
  scope: number;
  generation: number;
  shard: number;
}

/** Shards that one look finds; the others wait for the next. */
const FOUND_AT_ONCE = 100;
const KEYS_CHUNK = 256;

/**
 * Shards that have lost a key: where that is noted, and the way back. A shard is `lost` (closed to readings and changes),
 * then emptied, then `filling` by somebody (open to changes alone), then counts again. Its counter says which.
 */
@Injectable()
export class RedisLostShards {
  constructor(private readonly redis: RedisConnection) {}

  /** Notes a shard that is closed already. */
  async note(list: RankList, shard: number): Promise<void> {
    await this.redis.command('SADD', LOST_KEY, nameOfShard(list, shard));
  }

  /** Closes a shard whose counter said so when a loss was seen, and notes it. A counter of another state knows already. */
  async report(counter: string, state: string): Promise<void> {
    const isOpen = state === '' || /^\d+$/.test(state);
    if (isOpen && !(await this.move(counter, state, 'lost'))) return;
    await this.redis.command('SADD', LOST_KEY, shardOfCounter(counter));
  }

  /** Some of the shards that are noted. */
  async noted(): Promise<LostShard[]> {
    const names = (await this.redis.command('SRANDMEMBER', LOST_KEY, FOUND_AT_ONCE)) as Buffer[];
    return names.map((name) => {
      const [boardUid, windowUid, scope, generation, shard] = String(name).split('.').map(Number) as [
        number,
        number,
        number,
        number,
        number,
      ];
      return { name: String(name), boardUid, windowUid, scope, generation, shard };
    });
  }

  async forget(name: string): Promise<void> {
    await this.redis.command('SREM', LOST_KEY, name);
  }

  /** How far a shard is on its way back; null: it counts. */
  async stateOf(list: RankList, shard: number): Promise<'lost' | 'filling' | null> {
    const state = String((await this.redis.command('GET', counterKey(list, shard))) ?? '');
    if (state === 'lost') return 'lost';
    return state.startsWith('filling') ? 'filling' : null;
  }

  /** Closes a shard, whatever it holds. @returns false when it was retired */
  close(list: RankList, shard: number): Promise<boolean> {
    return this.move(counterKey(list, shard), '*', 'lost');
  }

  /** Removes all keys of a closed shard. */
  async empty(list: RankList, shard: number): Promise<void> {
    for (const keys of chunksOf(droppedKeys(list, shard), KEYS_CHUNK)) await this.redis.command('UNLINK', ...keys);
  }

  /** Opens an emptied shard to changes. @param filler a name that nobody else has */
  fill(list: RankList, shard: number, filler: string, keepUntilMs: number | null): Promise<boolean> {
    return this.move(counterKey(list, shard), 'lost', `filling ${filler}`, keepUntilMs);
  }

  /**
   * Opens a filled shard to readings, under a higher counter than it ever had.
   * @returns false when another fills it, or it has lost a key meanwhile
   */
  finish(list: RankList, shard: number, filler: string): Promise<boolean> {
    return this.move(counterKey(list, shard), `filling ${filler}`, String(counterStart(list, nowMs())));
  }

  private async move(counter: string, from: string, to: string, keepUntilMs: number | null = null): Promise<boolean> {
    const until = keepUntilMs === null ? '' : Math.round(keepUntilMs);
    const keys = [counter, partsKeyOfCounter(counter)];
    const [moved] = await this.redis.run([callOf(redisScripts.moveShard, keys, [from, to, until])]);
    return moved === 1;
  }
}
