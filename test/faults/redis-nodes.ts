import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import type { RedisProcess } from '../integration/nodes/redis-process.js';

const SLOTS = 16_384;
const FORMED_WITHIN_MS = 60_000;

/** Makes one cluster of masters that run with `--cluster-enabled yes`, the slots shared out evenly. */
export async function formCluster(nodes: readonly RedisProcess[]): Promise<void> {
  const clients = nodes.map(({ port }) => new Redis(port, '127.0.0.1'));
  try {
    const share = Math.ceil(SLOTS / nodes.length);
    for (const [at, client] of clients.entries()) {
      await client.call('CLUSTER', 'SET-CONFIG-EPOCH', at + 1);
      await client.call('CLUSTER', 'ADDSLOTSRANGE', at * share, Math.min(SLOTS, (at + 1) * share) - 1);
      if (at > 0) await client.call('CLUSTER', 'MEET', '127.0.0.1', nodes[0]!.port);
    }
    const endsAtMs = Date.now() + FORMED_WITHIN_MS;
    const isFormed = (info: string): boolean =>
      info.includes('cluster_state:ok') && info.includes(`cluster_known_nodes:${nodes.length}`);
    while (!(await Promise.all(clients.map((client) => client.cluster('INFO')))).every(isFormed)) {
      if (Date.now() > endsAtMs) throw new Error(`the masters did not become a cluster in ${FORMED_WITHIN_MS} ms`);
      await sleep(100);
    }
  } finally {
    for (const client of clients) client.disconnect();
  }
}
