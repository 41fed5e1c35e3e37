import { nowMs } from '@laddercast/platform';
import type { Admin } from 'kafkajs';
import type { LaneLag } from '../event-log.js';

/** What waits in one partition: offsets from `from` to before `to`. */
interface Waiting {
  topic: string;
  lane: number;
  from: bigint;
  to: bigint;
}

/** The ages for which brokers are asked, in seconds: each twice the one before, up to more than Kafka keeps. */
const AGES = Array.from({ length: 21 }, (_, step) => 2 ** step);

/**
 * How far a group is behind in each lane, over these topics; a topic of another system may have more partitions than
 * lanes. `seconds` is rounded down to a power of two: brokers give the offset for a time, not the time for an offset.
 */
export async function readKafkaLag(
  admin: Admin,
  groupId: string,
  topics: readonly string[],
  lanes: number,
): Promise<LaneLag[]> {
  const committed = await admin.fetchOffsets({ groupId, topics: [...topics] });
  const waiting: Waiting[] = [];
  for (const topic of topics) {
    const offsets = committed.find((one) => one.topic === topic)?.partitions ?? [];
    for (const { partition, high, low } of await admin.fetchTopicOffsets(topic)) {
      const done = BigInt(offsets.find((one) => one.partition === partition)?.offset ?? '-1');
      const from = done < BigInt(low) ? BigInt(low) : done;
      if (from < BigInt(high)) waiting.push({ topic, lane: partition, from, to: BigInt(high) });
    }
  }
  const seconds = await ageOfOldest(admin, waiting);
  const count = waiting.reduce((most, { lane }) => Math.max(most, lane + 1), lanes);
  return Array.from({ length: count }, (_, lane) => ({
    lane,
    events: waiting.filter((one) => one.lane === lane).reduce((sum, { from, to }) => sum + Number(to - from), 0),
    seconds: seconds.get(lane) ?? 0,
  }));
}

/** For each lane the highest age that its oldest waiting record has passed. */
async function ageOfOldest(admin: Admin, waiting: readonly Waiting[]): Promise<Map<number, number>> {
  const seconds = new Map<number, number>();
  let older = [...waiting];
  for (const age of AGES) {
    if (older.length === 0) break;
    const instant = nowMs() - age * 1000;
    const firstAfter = new Map<string, bigint>();
    for (const topic of new Set(older.map((one) => one.topic))) {
      for (const { partition, offset } of await admin.fetchTopicOffsetsByTimestamp(topic, instant)) {
        firstAfter.set(`${topic}/${partition}`, BigInt(offset));
      }
    }
    older = older.filter(({ topic, lane, from }) => from < (firstAfter.get(`${topic}/${lane}`) ?? 0n));
    for (const { lane } of older) seconds.set(lane, age);
  }
  return seconds;
}
