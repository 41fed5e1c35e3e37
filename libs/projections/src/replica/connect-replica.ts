import { installationId, type Lanes, type PostgresDatabase } from '@laddercast/ledger';
import type { Environment } from '@laddercast/platform';
import { Logger } from '@nestjs/common';
import type { ShardCounters } from '../hash-shards/shard-counters.js';
import type { ProjectionWatch } from '../recovery/read-guard.js';
import { accessToRedis } from '../redis/connect-redis.js';
import { RedisConnection } from '../redis/redis-connection.js';
import { NoReplica, type ReplicaReads } from '../sketches/replica-reads.js';
import { RedisReplicaReads } from './redis-replica-reads.js';

/** A replica is near, or of no use. */
const ANSWER_WITHIN_MS = 500;

/** The replica of the settings, not connected yet; none where the master is read. */
export async function replicaOf(
  environment: Environment,
  database: PostgresDatabase,
  master: RedisConnection,
  watch: ProjectionWatch,
  lanes: Lanes,
  counters: ShardCounters,
): Promise<ReplicaReads> {
  const { REDIS_READ_FROM, REDIS_REPLICA_URL, REDIS_URL } = environment;
  if (REDIS_READ_FROM === 'master') return new NoReplica();
  const log = new Logger('replica');
  let said = '';
  const replica = new RedisConnection({
    url: REDIS_REPLICA_URL ?? REDIS_URL,
    ...accessToRedis(environment),
    namespace: `${await installationId(database)}:`,
    isReplica: true,
    commandTimeoutMs: ANSWER_WITHIN_MS,
    onError: ({ message }) => {
      if (message !== said) log.warn(`The replica: ${message}`);
      said = message;
    },
  });
  return new RedisReplicaReads(master, replica, { guard: watch, lanes, counters });
}
