// Real: a Kafka broker. What is done with the messages is written down by the tests.
import { randomBytes } from 'node:crypto';
import { KafkaIntake, LOG_BATCH_MAX, type IntakeHandler, type IntakeMessage } from '@laddercast/event-log';
import { Lanes } from '@laddercast/ledger';
import { optionalService } from '@laddercast/testing';
import kafkajs from 'kafkajs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const brokers = optionalService('TEST_KAFKA_BROKERS')?.split(',') ?? [];
const SKIPPED = 'the tests on Kafka: no broker. Set KAFKA_BROKERS, or install a JDK 17+ and Maven.';
const LANES = 2;
const SETTLED = { interval: 20 };

if (brokers.length === 0) {
  it.skipIf(process.env.REQUIRE_KAFKA !== '1')(`skips ${SKIPPED}`, () => {
    throw new Error(`REQUIRE_KAFKA=1 does not allow to skip ${SKIPPED}`);
  });
}

describe.skipIf(brokers.length === 0)('KafkaIntake', () => {
  const kafka = new kafkajs.Kafka({ brokers, logLevel: kafkajs.logLevel.NOTHING });
  let prefix: string;
  let topic: string;
  let lines: string[];
  let readers: KafkaIntake[];

  beforeEach(() => {
    prefix = `test-${randomBytes(4).toString('hex')}`;
    topic = `${prefix}.in.scores`;
    lines = [];
    readers = [];
  });
  afterEach(async () => {
    await Promise.all(readers.map((reader) => reader.stop()));
    await withAdmin((admin) => admin.deleteTopics({ topics: [topic] })).catch(() => undefined);
  });

  function read(handler: IntakeHandler): KafkaIntake {
    const log = (_level: string, line: string): void => void lines.push(line);
    const reader = new KafkaIntake({ brokers, prefix, lanes: new Lanes(LANES), log }, 'in.scores', handler);
    readers.push(reader);
    reader.start();
    return reader;
  }
  const makeTopic = (numPartitions: number, configEntries: { name: string; value: string }[] = []): Promise<boolean> =>
    withAdmin((admin) =>
      admin.createTopics({ waitForLeaders: true, topics: [{ topic, numPartitions, configEntries }] }),
    );
  async function write(messages: { partition: number; value: string }[]): Promise<void> {
    const producer = kafka.producer({ createPartitioner: kafkajs.Partitioners.DefaultPartitioner });
    await producer.connect();
    await producer.send({ topic, messages });
    await producer.disconnect();
  }
  async function withAdmin<T>(work: (admin: ReturnType<typeof kafka.admin>) => Promise<T>): Promise<T> {
    const admin = kafka.admin();
    await admin.connect();
    try {
      return await work(admin);
    } finally {
      await admin.disconnect();
    }
  }

  it('makes its topic with a partition for each lane, in which the broker undoes any compression', async () => {
    read(async () => undefined);
    await expect.poll(() => lines.join(), SETTLED).toContain('is read');
    const { topics } = await withAdmin((admin) => admin.fetchTopicMetadata({ topics: [topic] }));
    expect(topics[0]!.partitions).toHaveLength(LANES);
    const { resources } = await withAdmin((admin) =>
      admin.describeConfigs({
        includeSynonyms: false,
        resources: [{ type: kafkajs.ConfigResourceTypes.TOPIC, name: topic }],
      }),
    );
    const configured = resources[0]!.configEntries.map(({ configName, configValue }) => [configName, configValue]);
    expect(Object.fromEntries(configured)).toMatchObject({ 'compression.type': 'uncompressed' });
  });

  it('reads a topic that was there, whatever its partitions, each in order and in bounded batches', async () => {
    await makeTopic(5);
    const count = LOG_BATCH_MAX + 500;
    await write(Array.from({ length: 5 * count }, (_, i) => ({ partition: i % 5, value: String(Math.floor(i / 5)) })));
    const seen = new Map<number, string[]>();
    let largest = 0;
    read(async (messages) => {
      largest = Math.max(largest, messages.length);
      expect(new Set(messages.map(({ partition }) => partition)).size).toBe(1);
      const { partition } = messages[0]!;
      seen.set(partition, [...(seen.get(partition) ?? []), ...messages.map(({ value }) => String(value))]);
    });
    await expect.poll(() => [...seen.values()].flat().length, SETTLED).toBe(5 * count);
    const inOrder = Array.from({ length: count }, (_, i) => String(i));
    for (const partition of [0, 1, 2, 3, 4]) expect(seen.get(partition)).toEqual(inOrder);
    expect(largest).toBe(LOG_BATCH_MAX);
    expect(lines.join()).toContain('compression.type=uncompressed');
  });

  it('waits for brokers that are away, says so, and ends all the same', async () => {
    const log = (_level: string, line: string): void => void lines.push(line);
    const nowhere = { brokers: ['127.0.0.1:1'], prefix, lanes: new Lanes(LANES), log };
    const reader = new KafkaIntake(nowhere, 'in.scores', async () => undefined);
    reader.start();
    await expect.poll(() => lines.join(), SETTLED).toMatch(/in\.scores cannot be read yet: .*127\.0\.0\.1:1/);
    const stoppedAtMs = performance.now();
    await reader.stop();
    expect(performance.now() - stoppedAtMs).toBeLessThan(10_000);
    expect(lines.join()).not.toContain('is read.');
  });

  it('commits nothing that is not settled, and reads on behind what is', async () => {
    await makeTopic(1);
    await write([{ partition: 0, value: 'one' }]);
    const first: IntakeMessage[] = [];
    const waiting = read(async (messages, signal) => {
      first.push(...messages);
      await new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('ended'))));
    });
    await expect.poll(() => first.length, SETTLED).toBe(1);
    await waiting.stop();

    const again: IntakeMessage[] = [];
    const settling = read(async (messages) => void again.push(...messages));
    await expect.poll(() => again.map(({ offset, value }) => [offset, String(value)]), SETTLED).toEqual([[0, 'one']]);
    await settling.stop();

    await write([{ partition: 0, value: 'two' }]);
    const behind: string[] = [];
    read(async (messages) => void behind.push(...messages.map(({ value }) => String(value))));
    await expect.poll(() => behind, SETTLED).toEqual(['two']);
  });
});
