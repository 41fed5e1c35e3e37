import { setTimeout as sleep } from 'node:timers/promises';

const lookEveryMs = 100;
const drainedWithinMs = 10_000;

/**
 * Does something again and again beside a load.
 * @returns the load's result
 * @throws what either of them throws
 */
export async function beside(load, everyMs, look) {
  let over = false;
  const looking = (async () => {
    while (!over) {
      await look();
      await sleep(everyMs);
    }
  })();
  // A look that fails ends the wait for the load.
  const failing = new Promise((_, reject) => looking.catch(reject));
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

  constructor(database) {
    this.database = database;
  }

  async look() {
    this.most = Math.max(this.most, await this.database.eventsBehind());
  }
}

/**
 * Waits until the ranks show everything.
 * @returns how long that took, ms
 * @throws Error when it takes longer than ten seconds
 */
export async function untilProjected(database) {
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

/** Microseconds of CPU for each of so many requests, by process. */
export function cpuMeter(service) {
  const names = Object.keys(service.pids());
  const read = () => Object.fromEntries(names.map((name) => [name, service.cpuSeconds(name)]));
  const before = read();
  return (count) => {
    const after = read();
    return Object.fromEntries(names.map((name) => [name, ((after[name] - before[name]) * 1e6) / count]));
  };
}
