import { metrics, monotonicMs } from '@laddercast/platform';
import type { Redis } from 'ioredis';
import { serverOf } from './redis-address.js';

/** What a master says of itself. */
export interface RedisNodeState {
  /** Its address, host:port. */
  node: string;
  memoryBytes: number;
  /** 0: no limit. */
  memoryMaxBytes: number;
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
    seconds: (monotonicMs() - askedAtMs) / 1000,
  };
}

const histograms = new Map<string, { observe(seconds: number): void }>();

/** Notes how long a call took, by the name of its script. */
export function noteCall(name: string, beganAtMs: number): void {
  let histogram = histograms.get(name);
  if (!histogram) histograms.set(name, (histogram = metrics.redisSeconds.labels(name)));
  histogram.observe((monotonicMs() - beganAtMs) / 1000);
}
