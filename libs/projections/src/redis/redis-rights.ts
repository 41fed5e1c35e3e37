import { untrustedCertificate } from '@laddercast/platform';
import { Command, type Redis } from 'ioredis';
import type { RedisConnection } from './redis-connection.js';
import { redisScripts } from './redis-scripts.js';

/** Commands on keys that are sent outside of scripts; those of scripts are found in the scripts. */
export const SENT_ALONE = [
  ...'DEL GET HGET HMGET HSCAN HVALS MGET PEXPIRE SADD SET SRANDMEMBER SREM UNLINK'.split(' '),
  ...'ZADD ZCARD ZRANGEBYSCORE ZREM ZREMRANGEBYRANK ZREMRANGEBYSCORE ZSCAN'.split(' '),
];
const OTHERS = [['EVAL', 'return 1', '0'], ['EVALSHA', '', '0'], ['SCAN', '0'], ['INFO']];
const OF_CLUSTER = [
  ['CLUSTER', 'INFO'],
  ['CLUSTER', 'SLOTS'],
];
const NO_SUCH_DATABASE = /DB index is out of range/;
const CALLED_BY_SCRIPT = /redis\.p?call\('(\w+)'/g;
const NAMED_MAX = 10;

/**
 * Why a Redis that is there will not do, as a sentence: its certificate is not trusted, it has no such database, or the user
 * lacks rights that the service needs. null: nothing is in the way, or nobody answers.
 */
export async function redisFault(redis: RedisConnection): Promise<string | null> {
  const client = redis.subscriber();
  let failure: unknown = null;
  client.on('error', (error) => (failure ??= error));
  try {
    await client.connect();
    const refused = await refusedCommands(client, redis);
    // The client goes on in database 0.
    if (NO_SUCH_DATABASE.test(String(failure)))
      return 'Redis has no database of the number that REDIS_URL ends with: correct it, or leave it out for number 0';
    if (refused.length === 0) return null;
    const named = [...refused.slice(0, NAMED_MAX), ...(refused.length > NAMED_MAX ? ['others'] : [])].join(', ');
    const where = `for keys and channels that begin with ${redis.namespace}`;
    return `Redis refuses the user of REDIS_URL ${named} ${where}: give it the rights that docs/operations/redis.md names`;
  } catch (error) {
    const distrust = untrustedCertificate(failure ?? error, 'Redis', 'REDIS_CA_FILE');
    return distrust === null ? null : `Redis cannot be used: ${distrust}`;
  } finally {
    client.disconnect();
  }
}

/** Rights are looked at when a command is queued in a transaction; this one is never executed. */
async function refusedCommands(client: Redis, redis: RedisConnection): Promise<string[]> {
  const send = (command: readonly string[]): Promise<unknown> =>
    client.sendCommand(new Command(command[0]!, command.slice(1))) as Promise<unknown>;
  const name = `${redis.namespace}rights`;
  const inCluster = redis.isCluster ? OF_CLUSTER : [];
  const queued = [...(await commandsOnKeys(name, send)), ...OTHERS, ...inCluster, ['PUBLISH', name, '']];
  const [begun, ...answers] = await Promise.allSettled([['MULTI'], ...queued, ['DISCARD']].map(send));
  // A user without the right to MULTI may still have all others; what is missing shows when it is used.
  if (begun!.status === 'rejected') return [];
  const refused = queued.filter((_, at) => isNotAllowed(answers[at]!));
  // Last: a connection that has subscribed does nothing else.
  const [listening] = await Promise.allSettled([client.subscribe(name)]);
  if (isNotAllowed(listening)) refused.push(['SUBSCRIBE']);
  return refused.map(([command, what]) => (command === 'CLUSTER' ? `CLUSTER ${what}` : command!));
}

const isNotAllowed = (answer: PromiseSettledResult<unknown>): boolean =>
  answer.status === 'rejected' && /^NOPERM\b/.test((answer.reason as Error).message);

/** Each with as many arguments as it takes at least: with fewer it is refused for that. */
async function commandsOnKeys(key: string, send: (command: string[]) => Promise<unknown>): Promise<string[][]> {
  const bodies = Object.values(redisScripts).map(({ body }) => body);
  const ofScripts = bodies.flatMap((body) => [...body.matchAll(CALLED_BY_SCRIPT)].map(([, name]) => name!));
  const names = [...new Set([...SENT_ALONE, ...ofScripts])].sort();
  const known = (await send(['COMMAND', 'INFO', ...names])) as ([name: string, arity: number] | null)[];
  return known.flatMap((info) => {
    if (info === null) return [];
    const [name, arity] = info;
    return [[String(name).toUpperCase(), key, ...Array<string>(Math.abs(arity) - 2).fill('0')]];
  });
}
