import type { Admin } from 'kafkajs';
import type { LogEnd } from './postgres-log-ends.js';

/** Partitions that end below what was acknowledged of them, in words. */
export async function readLostEnds(admin: Admin, ends: readonly LogEnd[]): Promise<string[]> {
  const kept = await readKept(admin, new Set(ends.map(({ topic }) => topic)));
  return ends
    .filter(({ topic, partition, end }) => (kept.get(`${topic}/${partition}`)?.high ?? 0n) < end)
    .map(({ topic, partition, end }) => `${topic}/${partition} was filled up to ${end}`);
}

/** Records that a group has not read and that are not kept any more, in words. */
export async function readMissed(admin: Admin, groupId: string, topics: readonly string[]): Promise<string[]> {
  const kept = await readKept(admin, new Set(topics));
  const missed: string[] = [];
  for (const { topic, partitions } of await admin.fetchOffsets({ groupId, topics: [...topics] })) {
    for (const { partition, offset } of partitions) {
      const { low, high } = kept.get(`${topic}/${partition}`) ?? { low: 0n, high: 0n };
      const stands = BigInt(offset);
      // −1: nothing was committed, and everything kept is read. Beyond the end: what it counted in is gone.
      if (stands >= 0n && (stands < low || stands > high)) {
        missed.push(`${groupId} stands at ${offset} of ${topic}/${partition}, which holds ${low} to ${high}`);
      }
    }
  }
  return missed;
}

async function readKept(
  admin: Admin,
  topics: ReadonlySet<string>,
): Promise<Map<string, { low: bigint; high: bigint }>> {
  const kept = new Map<string, { low: bigint; high: bigint }>();
  for (const topic of topics) {
    for (const { partition, low, high } of await admin.fetchTopicOffsets(topic)) {
      kept.set(`${topic}/${partition}`, { low: BigInt(low), high: BigInt(high) });
    }
  }
  return kept;
}
