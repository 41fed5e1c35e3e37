import { setTimeout as sleep } from 'node:timers/promises';
import { freePort, isPortFree, keepPort } from '../../tools/ports.mjs';

/** The processes of one api, on one port. */
export interface ApiProcesses {
  count: number;
  /** That of the first; the others follow. */
  metricsPort: number;
  /** Settings that make them so many. */
  env: Record<string, string>;
  metricsUrls: string[];
}

const readyWithinMs = 60_000;
const lookEveryMs = 20;

/** How an api of so many processes is started and read. */
export async function apiProcesses(count: number): Promise<ApiProcesses> {
  const metricsPort = await freePorts(count);
  return {
    count,
    metricsPort,
    env: count === 1 ? {} : { API_PROCESSES: String(count) },
    metricsUrls: Array.from({ length: count }, (_, at) => `http://127.0.0.1:${metricsPort + at}/metrics`),
  };
}

/**
 * Waits until every process serves: the port answers as soon as the first one does.
 * @throws Error when one of them does not within a minute
 */
export async function untilAllServe({ count, metricsUrls }: ApiProcesses): Promise<void> {
  if (count === 1) return;
  const deadline = performance.now() + readyWithinMs;
  for (const url of metricsUrls) {
    while (!(await answers(url))) {
      if (performance.now() > deadline) throw new Error(`Not all ${count} api processes are there: none at ${url}.`);
      await sleep(lookEveryMs);
    }
  }
}

async function answers(url: string): Promise<boolean> {
  try {
    return (await fetch(url, { signal: AbortSignal.timeout(3000) })).ok;
  } catch {
    return false;
  }
}

/** The first of so many free ports one after the other. */
export async function freePorts(count: number): Promise<number> {
  for (;;) {
    const first = await freePort();
    const more = Array.from({ length: count - 1 }, (_, at) => first + 1 + at);
    const areFree = await Promise.all(more.map(isPortFree));
    if (areFree.includes(false)) continue;
    for (const port of more) keepPort(port);
    return first;
  }
}
