import { readFileSync } from 'node:fs';
import { installationId, type PostgresDatabase } from '@laddercast/ledger';
import { sleep, type Environment } from '@laddercast/platform';
import { Logger } from '@nestjs/common';
import { wordsOfEviction } from '../clients/redis-nodes.js';
import { RedisConnection, type RedisConnectionOptions } from './redis-connection.js';
import { redisFault } from './redis-rights.js';

/** How long a start waits for what Redis says, twice. */
const REDIS_WORD_WITHIN_MS = 2000;

/**
 * Connects to Redis. One that is away holds nobody up.
 * @throws where Redis refuses this process, with the way out
 */
export async function connectRedis(environment: Environment, database: PostgresDatabase): Promise<RedisConnection> {
  const log = new Logger('redis');
  let said = '';
  let isStarting = true;
  const redis = new RedisConnection({
    url: environment.REDIS_URL,
    ...accessToRedis(environment),
    namespace: `${await installationId(database)}:`,
    onError: (error) => {
      // The connection tries again for ever: each new kind of failure is said once, when it is known whether we start.
      if (isStarting || error.message === said) return;
      log.warn(`Redis: ${error.message}`);
      said = error.message;
    },
    onRefusal: (sentence) => {
      if (!isStarting) log.warn(sentence);
    },
  });
  const connecting = redis.connect().then(
    () => (said = ''),
    () => undefined,
  );
  const looking = Promise.race([redisFault(redis), sleep(REDIS_WORD_WITHIN_MS).then(() => null)]);
  // A Redis that is away holds nobody up: submissions go on, and it is tried again. One that refuses us never will be there.
  await Promise.race([connecting, sleep(REDIS_WORD_WITHIN_MS)]);
  await redis.masterStates(REDIS_WORD_WITHIN_MS);
  const fault = (await looking) ?? (redis.isUserRefused ? redis.refusal : null);
  isStarting = false;
  if (fault === null) {
    // It may be a matter of time, as in a fail-over: submissions go on meanwhile.
    if (redis.refusal !== null) log.warn(redis.refusal);
    warnOfEviction(redis, log);
    return redis;
  }
  await redis.close();
  await database.close();
  throw new Error(fault);
}

/** Says once, and again where it is another than before, that Redis is set up to drop keys. */
function warnOfEviction(redis: RedisConnection, log: Logger): void {
  let said = '';
  const look = async (): Promise<void> => {
    const words = wordsOfEviction(await redis.nodeStates());
    if (words !== said && words !== '') log.warn(words);
    said = words;
  };
  redis.onReady(() => void look());
  if (redis.isReady) void look();
}

/** Who this process is to Redis and its sentinels, beside what the address says, and whom it trusts to be one. */
export function accessToRedis({
  REDIS_CA_FILE,
  REDIS_SENTINEL_USERNAME,
  REDIS_SENTINEL_PASSWORD,
}: Environment): Pick<RedisConnectionOptions, 'ca' | 'sentinelUser'> {
  return {
    ...(REDIS_CA_FILE !== undefined && { ca: readFileSync(REDIS_CA_FILE, 'utf8') }),
    ...(REDIS_SENTINEL_PASSWORD !== undefined && {
      sentinelUser: {
        password: REDIS_SENTINEL_PASSWORD,
        ...(REDIS_SENTINEL_USERNAME !== undefined && { username: REDIS_SENTINEL_USERNAME }),
      },
    }),
  };
}
