import { sleep } from '@laddercast/platform';
import type { Admin } from 'kafkajs';
import type { LogEnd } from '../postgres/postgres-log-ends.js';

/** A group's offset in a partition, and the records that are kept. */
interface Standing {
  place: string;
  /** The next offset that the group reads; negative: none. */
  offset: bigint;
  low: bigint;
  high: bigint;
}

/** What kafkajs commits for a member that found its offset out of range. */
const SET_BACK = -2n;
/** Between two looks: members commit what they have settled ten times a second. */
const LOOK_AGAIN_AFTER_MS = 1000;

/** Partitions that end below what they had acknowledged before this call, in words. */
export async function readLostEnds(admin: Admin, ends: readonly LogEnd[]): Promise<string[]> {
  const kept = await readKept(admin, new Set(ends.map(({ topic }) => topic)));
  return ends
    .filter(({ topic, partition, end }) => (kept.get(`${topic}/${partition}`)?.high ?? 0n) < end)
    .map(({ topic, partition, end }) => `${topic}/${partition} was filled up to ${end}`);
}

/**
 * Records that are gone before a group has read them, in words. Two looks must agree: another member may have such
 * records in hand, and commit them in between.
 */
export async function readMissed(admin: Admin, groupId: string, topics: readonly string[]): Promise<string[]> {
  const missed = (await readStandings(admin, groupId, topics)).filter(isOutside);
  if (missed.length === 0) return [];
  await sleep(LOOK_AGAIN_AFTER_MS);
  const now = new Map((await readStandings(admin, groupId, topics)).map((one) => [one.place, one]));
  const isStillMissed = ({ place, offset }: Standing): boolean => {
    const again = now.get(place);
    return again !== undefined && (again.offset === SET_BACK || (again.offset === offset && isOutside(again)));
  };
  return missed
    .filter(isStillMissed)
    .map(({ place, offset, low, high }) => `${groupId} stands at ${offset} of ${place}, which holds ${low} to ${high}`);
}

/**
 * Whether nobody in the group has read the records from `expected` on, which a member did not find. Two looks must
 * agree; otherwise another member has read them, or these offsets never had records.
 */
export async function isGapLost(
  admin: Admin,
  groupId: string,
  { topic, partition, expected }: { topic: string; partition: number; expected: bigint },
): Promise<boolean> {
  const look = async (): Promise<boolean> => {
    const low = (await readKept(admin, new Set([topic]))).get(`${topic}/${partition}`)?.low ?? 0n;
    if (low <= expected) return false;
    const stands = (await readOffsets(admin, groupId, [topic])).get(`${topic}/${partition}`) ?? SET_BACK;
    return stands < low;
  };
  if (!(await look())) return false;
  await sleep(LOOK_AGAIN_AFTER_MS);
  return look();
}

/**
 * One look. The beginning of what is kept is read before the group's offset, and the end after it: then a healthy group
 * lies between them. (In the other order a commit or a deletion could come between the readings.)
 */
async function readStandings(admin: Admin, groupId: string, topics: readonly string[]): Promise<Standing[]> {
  const names = new Set(topics);
  const before = await readKept(admin, names);
  const offsets = await readOffsets(admin, groupId, topics);
  const after = await readKept(admin, names);
  return [...offsets].map(([place, offset]) => {
    return { place, offset, low: before.get(place)?.low ?? 0n, high: after.get(place)?.high ?? 0n };
  });
}

/**
 * Whether records are gone that the group has not read. An offset beyond the end means that the partition it counted in
 * is gone.
 */
const isOutside = ({ offset, low, high }: Standing): boolean => offset >= 0n && (offset < low || offset > high);

/** By topic and partition: the next offset that the group reads; negative: none. */
export async function readOffsets(
  admin: Admin,
  groupId: string,
  topics: readonly string[],
): Promise<Map<string, bigint>> {
  const offsets = new Map<string, bigint>();
  for (const { topic, partitions } of await admin.fetchOffsets({ groupId, topics: [...topics] })) {
    for (const { partition, offset } of partitions) offsets.set(`${topic}/${partition}`, BigInt(offset));
  }
  return offsets;
}

/** By topic and partition: the first offset that is kept, and the one behind the last. */
export async function readKept(
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
