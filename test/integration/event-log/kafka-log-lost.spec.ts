// Real: a Kafka broker whose topics are deleted and emptied, PostgreSQL with the outbox, the relay between them.
import { randomBytes } from 'node:crypto';
import type { EntryChanged } from '@laddercast/domain';
import {
  KafkaEventLog,
  KafkaLogWatch,
  KafkaRelayTarget,
  OutboxRelay,
  PostgresEventLog,
  PostgresLogEnds,
  TOPICS,
  type KafkaOptions,
  type LogPartition,
} from '@laddercast/event-log';
import { Lanes, PostgresDatabase } from '@laddercast/ledger';
import { sleep } from '@laddercast/platform';
import { createTestDatabase, optionalService, OutboxWriter, type TestDatabase } from '@laddercast/testing';
import kafkajs from 'kafkajs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const LANES = 2;
const BOARD_UID = 5;
const SKIPPED = 'the tests on Kafka: no broker. Set KAFKA_BROKERS, or install a JDK 17+ and Maven.';
const brokers = optionalService('TEST_KAFKA_BROKERS')?.split(',') ?? [];
const POLL = { interval: 50 };

if (brokers.length === 0) {
  it.skipIf(process.env.REQUIRE_KAFKA !== '1')(`skips ${SKIPPED}`, () => {
    throw new Error(`REQUIRE_KAFKA=1 does not allow to skip ${SKIPPED}`);
  });
}

describe('ends of a log', () => {
  let testDatabase: TestDatabase;
  let database: PostgresDatabase;
  beforeEach(async () => ({ testDatabase, database } = await openDatabase()));
  afterEach(async () => {
    await database?.close();
    await testDatabase?.drop();
  });

  const place = { topic: 'ladder.entry-changed', partition: 1 };

  const append = async (ends: PostgresLogEnds, to: LogPartition, offset: bigint, records: number): Promise<void> =>
    ends.appended(await ends.known(), to, offset, records);

  it('grow by whichever relay appends, and an offset below them begins another incarnation, once', async () => {
    const [one, other] = [new PostgresLogEnds(database), new PostgresLogEnds(database)];
    await append(one, place, 0n, 100);
    await append(other, place, 100n, 50);
    await append(one, place, 150n, 1);
    expect(await one.incarnation()).toBe(0);
    await append(other, place, 0n, 5);
    expect(await one.incarnation()).toBe(1);
    // The other relay knows the old end still, and appends to what was made anew.
    await append(one, place, 5n, 5);
    await append(one, place, 10n, 5);
    await append(other, place, 15n, 5);
    expect(await one.incarnation()).toBe(1);
    expect(await one.written(1)).toContainEqual({ ...place, end: 20n });
    await append(other, place, 3n, 1);
    expect(await one.incarnation()).toBe(2);
  });

  it('of a relay that slept through a loss are not taken for those of the next incarnation', async () => {
    const [asleep, awake] = [new PostgresLogEnds(database), new PostgresLogEnds(database)];
    await append(asleep, place, 0n, 100);
    await append(awake, place, 100n, 1);
    await append(awake, place, 0n, 1);
    await append(asleep, { ...place, partition: 0 }, 400n, 1);
    expect(await awake.written(1)).toEqual([]);
  });

  it('are those of the next incarnation a second after it began, also for a relay that has seen nothing of the loss', async () => {
    const [relay, other] = [new PostgresLogEnds(database), new PostgresLogEnds(database)];
    await append(relay, place, 0n, 100);
    await other.declareLost(0, 'a gap that a consumer found');
    await sleep(1100);
    await append(relay, place, 100n, 1);
    await append(relay, place, 101n, 1);
    expect(await other.written(1)).toEqual([{ ...place, end: 102n }]);
    // So the next loss is noticed.
    await append(relay, place, 0n, 1);
    expect(await other.incarnation()).toBe(2);
  });
});

describe.skipIf(brokers.length === 0)('a Kafka that lost events', () => {
  let prefix: string;
  let testDatabase: TestDatabase;
  let database: PostgresDatabase;
  let outbox: PostgresEventLog;
  let relay: OutboxRelay;
  let log: KafkaEventLog;
  let watch: KafkaLogWatch;
  let broughtBack: number;
  let seen: string[];

  beforeEach(async () => {
    prefix = `test-${randomBytes(4).toString('hex')}`;
    [broughtBack, seen] = [0, []];
    ({ testDatabase, database } = await openDatabase());
    log = new KafkaEventLog(database, options());
    await log.start();
    outbox = new PostgresEventLog(database, { lanes: new Lanes(LANES), log: () => undefined });
    relay = new OutboxRelay(outbox, new KafkaRelayTarget(options(), new PostgresLogEnds(database)));
    relay.start();
    watch = newWatch();
  });
  afterEach(async () => {
    await watch?.stop();
    await relay?.stop();
    await outbox?.close();
    await log?.close();
    await database?.close();
    await testDatabase?.drop();
    await withAdmin((admin) => admin.deleteTopics({ topics: TOPICS.map((topic) => `${prefix}.${topic}`) }));
  });

  const options = (): KafkaOptions => ({ brokers, prefix, lanes: new Lanes(LANES), log: () => undefined });
  const newWatch = (): KafkaLogWatch =>
    new KafkaLogWatch(log, database, {
      log: () => undefined,
      everyMs: 200,
      bringBack: async () => void (broughtBack += 1),
    });
  const topic = (): string => `${prefix}.entry-changed`;
  const write = (...players: string[]): Promise<number[]> => new OutboxWriter(database).write(0, BOARD_UID, players);
  const consume = (group = 'score') =>
    log.consume(group, ['entry-changed'], async ({ records }) => {
      seen.push(...records.map(({ event }) => (event as EntryChanged).playerId));
    });
  const endOf = async (): Promise<string> =>
    (await withAdmin((admin) => admin.fetchTopicOffsets(topic()))).find(({ partition }) => partition === 0)!.high;
  const deleteRecordsBefore = (offset: string): Promise<void> =>
    withAdmin(async (admin) => {
      // This admin knows no leader before it has asked for something.
      await admin.fetchTopicOffsets(topic());
      await admin.deleteTopicRecords({ topic: topic(), partitions: [{ partition: 0, offset }] });
    });
  /** Deleted, and there again: by the watch, or by an operator. */
  const deleteTopic = async (): Promise<void> => {
    await withAdmin((admin) => admin.deleteTopics({ topics: [topic()] }));
  };

  it('has them brought back once, and reads the topic that was made anew from its beginning', async () => {
    watch.start();
    const subscription = await consume();
    await write('a', 'b', 'c', 'd', 'e');
    await expect.poll(() => seen, POLL).toEqual(['a', 'b', 'c', 'd', 'e']);
    await subscription.stop();
    await write('f', 'g');
    await expect.poll(endOf, POLL).toBe('7');
    await deleteTopic();
    await write('h');
    await expect.poll(() => broughtBack, POLL).toBe(1);
    await consume();
    await write('i');
    await expect.poll(() => new Set(seen), POLL).toEqual(new Set(['a', 'b', 'c', 'd', 'e', 'h', 'i']));
    await new Promise((resolve) => setTimeout(resolve, 1500));
    expect(broughtBack).toBe(1);
  });

  it('is noticed although a consumer that runs stands beyond the new beginning', async () => {
    watch.start();
    await consume();
    await write('a', 'b', 'c');
    await expect.poll(() => seen, POLL).toEqual(['a', 'b', 'c']);
    await deleteTopic();
    await write(...Array.from({ length: 20 }, (_, i) => `new${i}`));
    await expect.poll(() => broughtBack, POLL).toBe(1);
    await expect.poll(() => new Set(seen).size, POLL).toBe(23);
  });

  it('is noticed in silence, when nothing more is written', async () => {
    await write('a', 'b', 'c');
    await expect.poll(endOf, POLL).toBe('3');
    await expect.poll(() => new PostgresLogEnds(database).written(0), POLL).toHaveLength(1);
    watch.start();
    await deleteTopic();
    await expect.poll(() => broughtBack, POLL).toBe(1);
  });

  it('is noticed by the group that had not read what is kept no more', async () => {
    watch.start();
    const subscription = await consume();
    await write('a');
    await expect.poll(() => seen, POLL).toEqual(['a']);
    await subscription.stop();
    await write('b', 'c', 'd');
    await expect.poll(endOf, POLL).toBe('4');
    await deleteRecordsBefore('3');
    expect(broughtBack).toBe(0);
    await consume();
    await expect.poll(() => broughtBack, POLL).toBe(1);
    await expect.poll(() => seen.includes('d'), POLL).toBe(true);
  });

  it('is no loss when everything was read, and none when bringing it back fails at first', async () => {
    await watch.stop();
    let failures = 1;
    watch = new KafkaLogWatch(log, database, {
      log: () => undefined,
      everyMs: 100,
      bringBack: async () => {
        if ((failures -= 1) >= 0) throw new Error('Redis is away');
        broughtBack += 1;
      },
    });
    watch.start();
    const subscription = await consume();
    await write('a', 'b');
    await expect.poll(() => seen, POLL).toEqual(['a', 'b']);
    await subscription.stop();
    await deleteRecordsBefore('2');
    await consume();
    await new Promise((resolve) => setTimeout(resolve, 1500));
    expect(failures).toBe(1);
    await deleteTopic();
    await write('c');
    await expect.poll(() => broughtBack, POLL).toBe(1);
  });
});

async function openDatabase(): Promise<{ testDatabase: TestDatabase; database: PostgresDatabase }> {
  const testDatabase = await createTestDatabase();
  const database = new PostgresDatabase({ url: testDatabase.url });
  await database.open({ migrate: true });
  return { testDatabase, database };
}

async function withAdmin<T>(
  work: (admin: ReturnType<InstanceType<typeof kafkajs.Kafka>['admin']>) => Promise<T>,
): Promise<T> {
  const admin = new kafkajs.Kafka({ brokers, logLevel: kafkajs.logLevel.NOTHING }).admin();
  await admin.connect();
  try {
    return await work(admin);
  } finally {
    await admin.disconnect();
  }
}
