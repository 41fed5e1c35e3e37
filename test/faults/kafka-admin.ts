import kafkajs, { type Admin } from 'kafkajs';

/** Work with an admin client of the test's own. @param brokers `host:port,…` */
export async function withKafkaAdmin<T>(brokers: string, work: (admin: Admin) => Promise<T>): Promise<T> {
  const admin = new kafkajs.Kafka({ brokers: brokers.split(','), logLevel: kafkajs.logLevel.NOTHING }).admin();
  try {
    await admin.connect();
    return await work(admin);
  } finally {
    await admin.disconnect().catch(() => undefined);
  }
}

const EMPTY_WITHIN_MS = 20_000;
const LOOK_EVERY_MS = 500;

/** Forgets how far groups were, once their members, killed before, are known to be gone. */
export async function forgetGroups(brokers: string, groups: readonly string[]): Promise<void> {
  const giveUpAt = performance.now() + EMPTY_WITHIN_MS;
  for (;;) {
    const failure = await withKafkaAdmin(brokers, async (admin) => {
      const known = (await admin.listGroups()).groups.map(({ groupId }) => groupId);
      const left = groups.filter((group) => known.includes(group));
      if (left.length > 0) await admin.deleteGroups(left);
    }).then(
      () => null,
      (error: Error) => error,
    );
    if (failure === null) return;
    if (performance.now() > giveUpAt) throw failure;
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
}

/** Resolves once a group has read the topic to where it ends now. */
export async function untilRead(brokers: string, groupId: string, topic: string, withinMs = 60_000): Promise<void> {
  await withKafkaAdmin(brokers, async (admin) => {
    const ends = await admin.fetchTopicOffsets(topic);
    const giveUpAt = performance.now() + withinMs;
    for (;;) {
      const [read] = await admin.fetchOffsets({ groupId, topics: [topic] });
      const behind = ends.filter(({ partition, high }) => {
        const offset = read?.partitions.find((one) => one.partition === partition)?.offset ?? '-1';
        return high !== '0' && BigInt(offset) < BigInt(high);
      });
      if (behind.length === 0) return;
      if (performance.now() > giveUpAt) throw new Error(`${groupId} has not read ${topic} within ${withinMs} ms`);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  });
}

/** A record of a partition as it was produced. */
export interface ProducedRecord {
  offset: bigint;
  key: string;
  position: number;
}

/** Everything that a topic holds, by partition, in order. */
export async function readTopic(brokers: string, topic: string): Promise<Map<number, ProducedRecord[]>> {
  const kafka = new kafkajs.Kafka({ brokers: brokers.split(','), logLevel: kafkajs.logLevel.NOTHING });
  const ends = await withKafkaAdmin(brokers, (admin) => admin.fetchTopicOffsets(topic));
  const read = new Map(ends.map(({ partition }) => [partition, [] as ProducedRecord[]]));
  const isRead = (): boolean =>
    ends.every(({ partition, high, low }) => {
      const last = read.get(partition)!.at(-1);
      return BigInt(high) === BigInt(low) || (last !== undefined && last.offset >= BigInt(high) - 1n);
    });
  const consumer = kafka.consumer({ groupId: `reader-${process.pid}-${performance.now()}` });
  await consumer.connect();
  try {
    await consumer.subscribe({ topics: [topic], fromBeginning: true });
    await consumer.run({
      autoCommit: false,
      eachMessage: async ({ partition, message }) => {
        const position = Number(message.headers?.position?.toString());
        read.get(partition)!.push({ offset: BigInt(message.offset), key: String(message.key), position });
      },
    });
    const giveUpAt = performance.now() + EMPTY_WITHIN_MS;
    while (!isRead()) {
      if (performance.now() > giveUpAt) throw new Error(`${topic} could not be read to its end`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    return read;
  } finally {
    await consumer.disconnect();
  }
}
