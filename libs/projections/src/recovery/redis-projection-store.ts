import { Injectable } from '@nestjs/common';
import { ProjectionStore, type ShardKey } from './projection-store.js';
import { RedisConnection } from '../redis/redis-connection.js';
import { generationOfKey, isCounterKey, isOurKey, isStampKey, stampKey } from '../redis/redis-keys.js';
import { callOf, redisScripts } from '../redis/redis-scripts.js';

/** The keys of an installation in Redis. */
@Injectable()
export class RedisProjectionStore extends ProjectionStore {
  constructor(private readonly redis: RedisConnection) {
    super();
  }

  async stamp(): Promise<number> {
    const stamps = await Promise.all(this.stampKeys().map((key) => this.redis.command('GET', key)));
    return Math.max(0, ...stamps.map((stamp) => Number(String(stamp ?? '0'))));
  }

  async setStamp(stamp: number): Promise<void> {
    await Promise.all(this.stampKeys().map((key) => this.redis.command('SET', key, stamp)));
  }

  async memoryUse(): Promise<number> {
    const limited = (await this.redis.nodeStates()).filter(({ memoryMaxBytes }) => memoryMaxBytes > 0);
    return Math.max(0, ...limited.map(({ memoryBytes, memoryMaxBytes }) => memoryBytes / memoryMaxBytes));
  }

  async *shardKeys(): AsyncGenerator<ShardKey[]> {
    for await (const keys of this.redis.keys()) {
      yield keys.flatMap((key) => {
        const generation = generationOfKey(key);
        return generation ? [{ key, ...generation }] : [];
      });
    }
  }

  async remove(keys: readonly string[]): Promise<number> {
    const removed = await Promise.all(keys.map((key) => this.removeOne(key)));
    return removed.reduce((sum, one) => sum + one, 0);
  }

  async empty(signal: AbortSignal): Promise<number> {
    let removed = 0;
    for await (const keys of this.redis.keys()) {
      signal.throwIfAborted();
      const ours = keys.filter((key) => isOurKey(key) && !isStampKey(key));
      await Promise.all(ours.map((key) => this.redis.command('UNLINK', key)));
      removed += ours.length;
    }
    return removed;
  }

  private async removeOne(key: string): Promise<number> {
    if (!isCounterKey(key)) return (await this.redis.command('UNLINK', key)) as number;
    const [dropped] = await this.redis.run([callOf(redisScripts.dropCounter, [key], [])]);
    return dropped as number;
  }

  private stampKeys(): string[] {
    return this.redis.tagsOfMasters(stampKey).map(stampKey);
  }
}
