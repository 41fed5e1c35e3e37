// Real: a Kafka broker, PostgreSQL with the outbox, the relay between them. A killed process is one whose sockets broke.
import { randomBytes } from 'node:crypto';
import { connect, Socket } from 'node:net';
import type { EntryChanged } from '@laddercast/domain';
import {
  KafkaEventLog,
  KafkaRelayTarget,
  KafkaTopicError,
  OutboxRelay,
  PostgresEventLog,
  RELAY_GROUP,
  TOPICS,
  type KafkaOptions,
} from '@laddercast/event-log';
import { Lanes, PostgresDatabase } from '@laddercast/ledger';
import {
  createTestDatabase,
  eventLogConformance,
  laneRaiseConformance,
  optionalService,
  OutboxWriter,
  type EventLogHarness,
  type LaneRaiseHarness,
  type TestDatabase,
} from '@laddercast/testing';
import kafkajs from 'kafkajs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const LANES = 2;
const SKIPPED = 'the tests on Kafka: no broker. Set KAFKA_BROKERS, or install a JDK 17+ and Maven.';
const brokers = optionalService('TEST_KAFKA_BROKERS')?.split(',') ?? [];

const kafkaOptions = (prefix: string, lanes = new Lanes(LANES)): KafkaOptions => ({
  brokers,
  prefix,
  lanes,
  log: () => undefined,
});

if (brokers.length === 0) {
  it.skipIf(process.env.REQUIRE_KAFKA !== '1')(`skips ${SKIPPED}`, () => {
    throw new Error(`REQUIRE_KAFKA=1 does not allow to skip ${SKIPPED}`);
  });
}

describe.skipIf(brokers.length === 0)('KafkaEventLog', () => {
  const prefix = `test-${randomBytes(4).toString('hex')}`;
  let testDatabase: TestDatabase;
  let database: PostgresDatabase;
  let outbox: PostgresEventLog;
  let relay: OutboxRelay;
  let log: KafkaEventLog;
  let harness: EventLogHarness;

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    database = new PostgresDatabase({ url: testDatabase.url });
    await database.open({ migrate: true });
    log = new KafkaEventLog(database, kafkaOptions(prefix));
    await log.start();
    outbox = new PostgresEventLog(database, { lanes: new Lanes(LANES), log: () => undefined });
    relay = new OutboxRelay(outbox, new KafkaRelayTarget(kafkaOptions(prefix)));
    relay.start();
    harness = { lanes: LANES, database, openProcess: () => openKafkaProcess(database, kafkaOptions(prefix)) };
  });

  afterAll(async () => {
    await relay?.stop();
    await outbox?.close();
    await log?.close();
    await database?.close();
    await testDatabase?.drop();
    await withAdmin((admin) => admin.deleteTopics({ topics: TOPICS.map((topic) => `${prefix}.${topic}`) }));
  });

  laneRaiseConformance(openRaised);

  eventLogConformance({ harness: () => harness, takeoverMs: 60_000, bulkMs: 60_000 });

  it('parks what Kafka does not take, and relays what stands around it', async () => {
    const boardUid = 77;
    const seen: string[] = [];
    const subscription = await log.consume('too-large', ['entry-changed'], async (batch) => {
      for (const { event, key } of batch.records)
        if ((event as EntryChanged).boardUid === boardUid) seen.push(key.slice(0, 5));
    });
    const tooLarge = `large-${'x'.repeat(1_100_000)}`;
    const positions = await new OutboxWriter(database).write(0, boardUid, ['one', tooLarge, 'two']);
    await expect.poll(() => [...new Set(seen)]).toEqual(['one', 'two']);
    const letters = await database.query<{ position: number; cause: string }>(
      'SELECT position, cause FROM dead_letters WHERE consumer_group = $1',
      [RELAY_GROUP],
    );
    expect(letters.map(({ position }) => position)).toEqual([positions[1]]);
    expect(letters[0]!.cause).toMatch(/larger than/);
    expect((await log.lag(RELAY_GROUP)).map(({ events }) => events)).toEqual([0, 0]);
    await subscription.stop();
  });

  it('makes the topics that a later release adds, and keeps what those that are there hold', async () => {
    const older = `${prefix}-older`;
    const [first, ...added] = TOPICS.map((topic) => `${older}.${topic}`);
    try {
      await withAdmin(async (admin) => {
        await admin.createTopics({ waitForLeaders: true, topics: [{ topic: first!, numPartitions: LANES }] });
      });
      const before = await withAdmin((admin) => admin.fetchTopicOffsets(first!));
      for (const start of ['the first', 'another']) {
        const started = new KafkaEventLog(database, kafkaOptions(older));
        await started.start();
        await started.close();
        const { topics } = await withAdmin((admin) => admin.fetchTopicMetadata({ topics: [first!, ...added] }));
        expect(
          topics.map(({ partitions }) => partitions.length),
          start,
        ).toEqual(TOPICS.map(() => LANES));
      }
      expect(await withAdmin((admin) => admin.fetchTopicOffsets(first!))).toEqual(before);
    } finally {
      await withAdmin((admin) => admin.deleteTopics({ topics: [first!, ...added] }));
    }
  });

  it('refuses topics with another number of partitions than lanes, and says what to do', async () => {
    const other = new KafkaEventLog(database, kafkaOptions(prefix, new Lanes(LANES + 1)));
    await expect(other.start()).rejects.toThrow(KafkaTopicError);
    await expect(other.start()).rejects.toThrow(/2 partition\(s\), and the ledger has 3 lane\(s\).*LEDGER_LANES/);
  });

  it('refuses a topic that keeps events for less than a day, and says what to do', async () => {
    const short = `${prefix}-short`;
    const topic = `${short}.${TOPICS[0]}`;
    await withAdmin((admin) =>
      admin.createTopics({
        waitForLeaders: true,
        topics: [{ topic, numPartitions: LANES, configEntries: [{ name: 'retention.ms', value: '3600000' }] }],
      }),
    );
    try {
      const refused = new KafkaEventLog(database, kafkaOptions(short)).start();
      await expect(refused).rejects.toThrow(/keeps events for 1 h; at least 24 h are needed.*retention\.ms=604800000/);
    } finally {
      await withAdmin((admin) => admin.deleteTopics({ topics: TOPICS.map((name) => `${short}.${name}`) }));
    }
  });

  it('says which brokers it cannot reach', async () => {
    const nowhere = { ...kafkaOptions(prefix), brokers: ['127.0.0.1:1'], startTimeoutMs: 100 };
    await expect(new KafkaEventLog(database, nowhere).start()).rejects.toThrow(/127\.0\.0\.1:1 \(KAFKA_BROKERS\)/);
  });
});

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

async function openRaised(): Promise<LaneRaiseHarness> {
  const prefix = `test-${randomBytes(4).toString('hex')}`;
  const testDatabase = await createTestDatabase();
  const database = new PostgresDatabase({ url: testDatabase.url });
  await database.open({ migrate: true });
  const relayLanes = new Lanes(LANES);
  const topics = new KafkaEventLog(database, kafkaOptions(prefix));
  await topics.start();
  await topics.close();
  const outbox = new PostgresEventLog(database, { lanes: relayLanes, log: () => undefined });
  const relay = new OutboxRelay(outbox, new KafkaRelayTarget(kafkaOptions(prefix, relayLanes)));
  relay.start();
  return {
    database,
    relayLanes,
    openProcess: async () => {
      const lanes = new Lanes(LANES);
      return { ...(await openKafkaProcess(database, kafkaOptions(prefix, lanes))), lanes };
    },
    close: async () => {
      await relay.stop();
      await outbox.close();
      await database.close();
      await testDatabase.drop();
      await withAdmin((admin) => admin.deleteTopics({ topics: TOPICS.map((topic) => `${prefix}.${topic}`) }));
    },
  };
}

async function openKafkaProcess(
  database: PostgresDatabase,
  options: KafkaOptions,
): ReturnType<EventLogHarness['openProcess']> {
  const sockets = new Set<Socket>();
  let isCut = false;
  const log = new KafkaEventLog(database, {
    ...options,
    connection: {
      socketFactory: ({ host, port, onConnect }) => {
        const socket = isCut ? new Socket().destroy(new Error('the network is cut')) : connect(port, host, onConnect);
        sockets.add(socket);
        return socket.on('close', () => sockets.delete(socket));
      },
    },
  });
  return {
    log,
    cut: () => {
      isCut = true;
      sockets.forEach((socket) => socket.destroy(new Error('the network was cut')));
    },
    mend: () => {
      isCut = false;
    },
    close: () => log.close(),
  };
}
