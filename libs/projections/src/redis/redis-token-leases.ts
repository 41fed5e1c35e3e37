import { TokenLeases, type Lease } from '@laddercast/platform';
import { Injectable } from '@nestjs/common';
import { RedisConnection } from './redis-connection.js';
import { tokensKey } from './redis-keys.js';
import { callOf, redisScripts } from './redis-scripts.js';

/** The buckets of all processes: a key each, which expires when the bucket is full, by the clock of Redis. */
@Injectable()
export class RedisTokenLeases extends TokenLeases {
  constructor(private readonly redis: RedisConnection) {
    super();
  }

  override async lease(
    bucket: string,
    { capacityMs, owedMs, wantedMs, leastMs }: Parameters<TokenLeases['lease']>[1],
  ): Promise<Lease> {
    const call = callOf(redisScripts.leaseTokens, [tokensKey(bucket)], [capacityMs, owedMs, wantedMs, leastMs]);
    const [answer] = await this.redis.run([call]);
    const [grantedMs, fillsForMs] = answer as [number, number];
    return { grantedMs, fillsForMs };
  }
}
