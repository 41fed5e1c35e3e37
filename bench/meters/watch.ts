import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { cpuSecondsOf, machineCpuSeconds } from './cpu.js';

/** The processes that are measured, by their names. */
export interface Metered {
  pids(): Record<string, number>;
  /** Seconds of CPU that all of them together, or those of these names, have used. */
  cpuSeconds(...names: string[]): number;
}

/** What knows how many events the ranks are behind the ledger. */
export interface Following {
  eventsBehind(): Promise<number>;
}

/** What was spent on each request. */
export interface Spent {
  /** Microseconds of CPU, by process. */
  cpu: Record<string, number>;
  /** The part of the machine's CPU that others took who have nothing to do with the benchmark. */
  others: number;
}

const lookEveryMs = 100;
const drainedWithinMs = 10_000;

/**
 * Does something again and again beside a load.
 * @returns the load's result
 * @throws what either of them throws
 */
export async function beside<Result>(
  load: () => Promise<Result>,
  everyMs: number,
  look: () => Promise<void>,
): Promise<Result> {
  let over = false;
  const looking = (async () => {
    while (!over) {
      await look();
      await sleep(everyMs);
    }
  })();
  // A look that fails ends the wait for the load.
  const failing = new Promise<never>((_, reject) => looking.catch(reject));
  try {
    return await Promise.race([load(), failing]);
  } finally {
    over = true;
    await looking.catch(() => {});
  }
}

/** How many events the ranks were behind at most, looked at from time to time. */
export class BehindWatch {
  most = 0;

  constructor(private readonly database: Following) {}

  async look(): Promise<void> {
    this.most = Math.max(this.most, await this.database.eventsBehind());
  }
}

/**
 * Waits until the ranks show everything.
 * @returns how long that took, ms
 * @throws Error when it takes longer than ten seconds
 */
export async function untilProjected(database: Following): Promise<number> {
  const startedAt = performance.now();
  for (;;) {
    const events = await database.eventsBehind();
    const waitedMs = performance.now() - startedAt;
    if (events === 0) return waitedMs;
    if (waitedMs > drainedWithinMs) {
      throw new Error(`The ranks are still ${events} events behind ${drainedWithinMs / 1000} s after the load.`);
    }
    await sleep(lookEveryMs);
  }
}

interface Reading {
  at: number;
  machine: number;
  ours: number;
  of: Record<string, number>;
}

/**
 * Starts to count CPU.
 * @returns a function that says, for so many requests since then, what was spent on each
 */
export function cpuMeter(service: Metered): (count: number) => Spent {
  const read = (): Reading => ({
    at: performance.now(),
    machine: machineCpuSeconds(),
    ours: cpuSecondsOf(process.pid),
    of: Object.fromEntries(Object.keys(service.pids()).map((name) => [name, service.cpuSeconds(name)])),
  });
  const before = read();
  return (count) => {
    const after = read();
    const seconds = (after.at - before.at) / 1000;
    const foreign = after.machine - before.machine - (after.ours - before.ours);
    return {
      // What was started meanwhile counts from its start.
      cpu: Object.fromEntries(
        Object.entries(after.of).map(([name, used]) => [name, ((used - (before.of[name] ?? 0)) * 1e6) / count]),
      ),
      others: Math.max(0, foreign / (seconds * availableParallelism())),
    };
  };
}
