import { metrics, monotonicMs } from '@laddercast/platform';
import type { Redis } from 'ioredis';
import { serverOf } from './redis-address.js';

const SLOTS = 16_384;

/** What a master says of itself. */
export interface RedisNodeState {
  /** Its address, host:port. */
  node: string;
  memoryBytes: number;
  /** 0: no limit. */
  memoryMaxBytes: number;
  /** What it does at that limit; `noeviction` keeps every key. */
  policy: string;
  /** How long the answer took, in seconds. */
  seconds: number;
}

/** Asks each master for its memory; those that do not answer are left out. */
export async function readNodeStates(masters: readonly Redis[]): Promise<RedisNodeState[]> {
  const states = await Promise.allSettled(masters.map(readNodeState));
  return states.flatMap((state) => (state.status === 'fulfilled' ? [state.value] : []));
}

async function readNodeState(master: Redis): Promise<RedisNodeState> {
  const askedAtMs = monotonicMs();
  const text = await master.info('memory');
  const fieldOf = (name: string): number => Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(text)?.[1] ?? 0);
  return {
    node: serverOf(master),
    memoryBytes: fieldOf('used_memory'),
    memoryMaxBytes: fieldOf('maxmemory'),
    policy: /^maxmemory_policy:(\S+)/m.exec(text)?.[1] ?? 'noeviction',
    seconds: (monotonicMs() - askedAtMs) / 1000,
  };
}

/** That masters drop keys at their limit, and what to do; empty: none does. */
export function wordsOfEviction(states: readonly RedisNodeState[]): string {
  const evicting = states.filter(({ memoryMaxBytes, policy }) => memoryMaxBytes > 0 && policy !== 'noeviction');
  if (evicting.length === 0) return '';
  const which = evicting.map(({ node, policy }) => `${node} (${policy})`).join(', ');
  return `Redis drops keys when its memory is full, and with them scores out of lists: set maxmemory-policy noeviction at ${which}.`;
}

/** Removes nothing, and is refused all the same by a replica, and by a node of a cluster that has no such slot. */
const WRITE_NOTHING = "return redis.call('DEL', KEYS[1])";
/** A master that takes no writes for now is read all the same. */
const NO_WRITES_NOW = /^(NOREPLICAS|MISCONF)\b/;

/**
 * Asks a server by a script, as all that we do there is one: who may not run one gets no further than a ping.
 * @param key one that nobody has
 * @throws when it does not answer, or refuses
 */
export async function askServer(server: Redis, key: string): Promise<void> {
  await server.eval(WRITE_NOTHING, 1, key).catch((error: unknown) => {
    if (!NO_WRITES_NOW.test((error as Error).message)) throw error;
  });
}

/**
 * Asks a node of a cluster.
 * @throws when it does not answer, or refuses; CLUSTERDOWN, as Redis says it, where some slots are nobody's
 */
export async function askNode(node: Redis): Promise<void> {
  const [info] = await Promise.all([node.cluster('INFO'), node.eval('return 1', 0)]);
  const assigned = Number(/^cluster_slots_assigned:(\d+)/m.exec(info)?.[1] ?? SLOTS);
  if (assigned < SLOTS) throw new Error(`CLUSTERDOWN ${assigned} of ${SLOTS} slots are assigned`);
}

const histograms = new Map<string, { observe(seconds: number): void }>();

/** Notes how long a call took, by the name of its script. */
export function noteCall(name: string, beganAtMs: number): void {
  let histogram = histograms.get(name);
  if (!histogram) histograms.set(name, (histogram = metrics.redisSeconds.labels(name)));
  histogram.observe((monotonicMs() - beganAtMs) / 1000);
}
