import { monotonicMs, sleep, type SentinelAddress } from '@laddercast/platform';
import { Redis, type RedisOptions } from 'ioredis';

const LOOK_EVERY_MS = 2000;
/** One that is left, and found again, is what a sentinel says that has not heard: it is left again no sooner. */
const LEFT_AGAIN_AFTER_MS = 10_000;

/**
 * Leaves a master once the sentinels call another server so, though it lives on: cut off from them it would go on to take
 * writes that are lost, and to be read. The client asks the sentinels then for whom to connect to. Until the client ends.
 */
export function followSentinels(client: Redis, { sentinels, master }: SentinelAddress, options: RedisOptions): void {
  const ended = new AbortController();
  client.once('end', () => ended.abort());
  const left = new Map<string, number>();
  const look = async (turn: number): Promise<void> => {
    if (client.status !== 'ready') return;
    const named = await runNamed({ ...options, ...sentinels[turn % sentinels.length]! }, master);
    const own = /^run_id:(\S+)/m.exec(await client.info('server'))?.[1];
    const isKnown = monotonicMs() - (left.get(named) ?? -Infinity) < LEFT_AGAIN_AFTER_MS;
    if (named === '' || own === undefined || named === own || isKnown) return;
    left.clear();
    left.set(named, monotonicMs());
    client.disconnect(true);
  };
  const follow = async (): Promise<void> => {
    for (let turn = 0; !ended.signal.aborted; turn += 1) {
      // A sentinel that does not answer says nothing: the next one is asked.
      await look(turn).catch(() => undefined);
      await sleep(LOOK_EVERY_MS, ended.signal);
    }
  };
  client.once('ready', () => void follow());
}

/** The run of the server that a sentinel calls the master; empty where it does not know it yet. */
async function runNamed(options: RedisOptions, master: string): Promise<string> {
  const sentinel = new Redis({ ...options, lazyConnect: true, enableReadyCheck: false, retryStrategy: () => null });
  sentinel.on('error', () => undefined);
  try {
    await sentinel.connect();
    const words = (await sentinel.call('SENTINEL', 'MASTER', master)) as string[];
    return words[words.indexOf('runid') + 1] ?? '';
  } finally {
    sentinel.disconnect();
  }
}
