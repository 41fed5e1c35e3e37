import { decodeMarks, encodeMarks, GLOBAL_SCOPE } from '@laddercast/domain';
import { Injectable } from '@nestjs/common';
import { RedisConnection } from '../redis/redis-connection.js';
import { ESTIMATED_KEY, sketchKey } from '../redis/redis-keys.js';
import { callOf, redisScripts } from '../redis/redis-scripts.js';
import { SketchStore, type SketchStamp, type StoredSketch } from './sketch-store.js';
import { nameOfRef, type ListRef } from '../ranks/snapshot-store.js';

/** How long a sketch outlives the last publication or confirmation, ms. */
const KEPT_MS = 60_000;

/** Sketches in Redis: a hash for each list. */
@Injectable()
export class RedisSketchStore extends SketchStore {
  constructor(private readonly redis: RedisConnection) {
    super();
  }

  async markInUse(lists: readonly ListRef[], untilMs: number): Promise<void> {
    if (lists.length === 0) return;
    const members = lists.flatMap((list) => [untilMs, nameOfRef(list)]);
    await this.redis.command('ZADD', ESTIMATED_KEY, 'GT', ...members);
  }

  async listsInUse(nowMs: number, limit: number): Promise<ListRef[]> {
    const [, members] = await Promise.all([
      this.redis.command('ZREMRANGEBYSCORE', ESTIMATED_KEY, '-inf', `(${nowMs}`),
      this.redis.command('ZRANGEBYSCORE', ESTIMATED_KEY, nowMs, '+inf', 'LIMIT', 0, limit),
    ]);
    return (members as Buffer[]).map((member) => {
      const [boardUid, windowUid, scope] = String(member).split('.').map(Number);
      return { boardUid: boardUid!, windowUid: windowUid!, scope: scope ?? GLOBAL_SCOPE };
    });
  }

  async stamps(lists: readonly ListRef[]): Promise<(SketchStamp | null)[]> {
    const found = lists.map((list) => this.redis.command('HMGET', sketchKey(list), 'generation', 'version', 'asOf'));
    return (await Promise.all(found)).map((fields) => stampOf(fields as (Buffer | null)[]));
  }

  async read(list: ListRef): Promise<StoredSketch | null> {
    const found = await this.redis.command('HMGET', sketchKey(list), 'generation', 'version', 'asOf', 'marks', 'doubt');
    const fields = found as (Buffer | null)[];
    const stamp = stampOf(fields);
    // Marks of another form are those of another release.
    const shards = fields[3] ? decodeMarks(fields[3]) : null;
    const doubt = Number(fields[4] ?? 0);
    return stamp && shards && { ...stamp, shards, ...(doubt > 0 && { doubt }) };
  }

  publish(list: ListRef, { shards, doubt = 0, ...stamp }: StoredSketch): Promise<boolean> {
    return this.write(list, stamp, encodeMarks(shards), doubt);
  }

  confirm(list: ListRef, stamp: SketchStamp): Promise<boolean> {
    return this.write(list, stamp, '', 0);
  }

  private async write(
    list: ListRef,
    { generation, listVersion, asOfMs }: SketchStamp,
    marks: Buffer | '',
    doubt: number,
  ): Promise<boolean> {
    const args = [generation, listVersion, asOfMs, marks, KEPT_MS, doubt];
    const [written] = await this.redis.run([callOf(redisScripts.publishSketch, [sketchKey(list)], args)]);
    return written === 1;
  }
}

function stampOf(fields: readonly (Buffer | null)[]): SketchStamp | null {
  if (fields.slice(0, 3).some((field) => field === null)) return null;
  const [generation, listVersion, asOfMs] = fields.map(Number);
  return { generation: generation!, listVersion: listVersion!, asOfMs: asOfMs! };
}
