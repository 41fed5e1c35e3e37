// Real: a Kafka broker, PostgreSQL with the outbox, and two members of one group; what one of them asks the broker is
// held up, until the other has done what comes in between.
import { randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import type { EntryChanged } from '@laddercast/domain';
import {
  KafkaEventLog,
  KafkaRelayTarget,
  PostgresEventLog,
  PostgresLogEnds,
  OutboxRelay,
  TOPICS,
  type KafkaOptions,
} from '@laddercast/event-log';
import { Lanes, PostgresDatabase } from '@laddercast/ledger';
import {
  createTestDatabase,
  logsUnderTest,
  optionalService,
  OutboxWriter,
  type TestDatabase,
} from '@laddercast/testing';
import kafkajs from 'kafkajs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { withKafkaAdmin } from '../../faults/kafka-admin.js';

const BOARD_UID = 5;
const GROUP = 'score';
const POLL = { interval: 20 };
/** Numbers of the requests in Kafka's protocol. */
const OFFSET_FETCH = 9;
const JOIN_GROUP = 11;
const brokers = optionalService('TEST_KAFKA_BROKERS') ?? '';

describe.skipIf(!logsUnderTest().includes('kafka'))('a Kafka that lost nothing', () => {
  let prefix: string;
  let testDatabase: TestDatabase;
  let database: PostgresDatabase;
  let writer: OutboxWriter;
  const opened: { stop(): Promise<void> }[] = [];

  beforeEach(async () => {
    prefix = `test-${randomBytes(4).toString('hex')}`;
    testDatabase = await createTestDatabase();
    database = new PostgresDatabase({ url: testDatabase.url });
    await database.open({ migrate: true });
    writer = new OutboxWriter(database);
    const log = openLog();
    await log.start();
    const outbox = new PostgresEventLog(database, { lanes: new Lanes(1), log: () => undefined });
    const relay = new OutboxRelay(outbox, new KafkaRelayTarget(options(), new PostgresLogEnds(database)));
    relay.start();
    opened.push({ stop: () => outbox.close() }, relay);
  });
  afterEach(async () => {
    for (const one of opened.splice(0).reverse()) await one.stop();
    await database?.close();
    await testDatabase?.drop();
    await withKafkaAdmin(brokers, (admin) => admin.deleteTopics({ topics: TOPICS.map((one) => `${prefix}.${one}`) }));
  });

  const options = (): KafkaOptions => ({
    brokers: brokers.split(','),
    prefix,
    lanes: new Lanes(1),
    log: () => undefined,
  });
  const openLog = (connection?: KafkaOptions['connection']): KafkaEventLog => {
    const log = new KafkaEventLog(database, { ...options(), ...(connection && { connection }) });
    opened.push({ stop: () => log.close() });
    return log;
  };
  const topic = (): string => `${prefix}.entry-changed`;
  const write = (...players: string[]): Promise<number[]> => writer.write(0, BOARD_UID, players);
  const incarnation = (): Promise<number> => new PostgresLogEnds(database).incarnation();
  const endOf = async (): Promise<string> =>
    (await withKafkaAdmin(brokers, (admin) => admin.fetchTopicOffsets(topic())))[0]!.high;
  const committed = async (): Promise<string> => {
    const groupId = `${prefix}.${GROUP}`;
    const [read] = await withKafkaAdmin(brokers, (admin) => admin.fetchOffsets({ groupId, topics: [topic()] }));
    return read!.partitions[0]!.offset;
  };
  /** Consumes what it is given; resolves what it saw. */
  const consume = async (log: KafkaEventLog, before = (): Promise<void> => Promise.resolve()): Promise<string[]> => {
    const seen: string[] = [];
    await log.consume(GROUP, ['entry-changed'], async ({ records }) => {
      await before();
      seen.push(...records.map(({ event }) => (event as EntryChanged).playerId));
    });
    return seen;
  };

  it('is not taken for one that did when a member commits while another looks before it joins', async () => {
    const seen = await consume(openLog());
    await write('a');
    await expect.poll(committed, POLL).toBe('1');
    const asked = holding(OFFSET_FETCH, async (time) => {
      if (time > 1) return;
      await write('b', 'c');
      await expect.poll(committed, POLL).toBe('3');
    });
    const joining = openLog(asked.connection);
    const seenByJoining = await consume(joining);
    await expect.poll(() => asked.joins, POLL).toBeGreaterThan(0);
    await write('d');
    await expect.poll(() => [...seen, ...seenByJoining], POLL).toEqual(['a', 'b', 'c', 'd']);
    expect(await incarnation()).toBe(0);
  });

  it('is not taken for one that did when what a member has in hand is kept no more', async () => {
    let isHeld = false;
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    const seen = await consume(openLog(), async () => {
      if (isHeld) await released;
    });
    await write('a');
    await expect.poll(committed, POLL).toBe('1');
    isHeld = true;
    await write('b', 'c');
    await expect.poll(endOf, POLL).toBe('3');
    await deleteRecordsBefore(topic(), '3');
    const asked = holding(OFFSET_FETCH, async (time) => {
      // The first look finds that the group stands before what is kept; before the second one has come, it does not.
      if (time !== 2) return;
      release();
      await expect.poll(committed, POLL).toBe('3');
    });
    const seenByJoining = await consume(openLog(asked.connection));
    await expect.poll(() => asked.joins, POLL).toBeGreaterThan(0);
    await write('d');
    await expect.poll(() => [...seen, ...seenByJoining], POLL).toEqual(['a', 'b', 'c', 'd']);
    expect(await incarnation()).toBe(0);
  });

  it('is not taken for one that did when an offset is that of the marker of a transaction', async () => {
    const seen = await consume(openLog());
    await write('a');
    await expect.poll(() => seen, POLL).toEqual(['a']);
    await produceInTransaction(topic());
    // What comes next is not in one fetch with it.
    await expect.poll(committed, POLL).toBe('2');
    await write('b');
    await expect.poll(() => seen, POLL).toEqual(['a', 'b']);
    expect(await incarnation()).toBe(0);
  });

  it('is not taken for one that did when two relays append, and the first hears late what is known of the ends', async () => {
    const record = (position: number) => {
      const key = `player-${position}`;
      const payload = JSON.stringify({ type: 'entry-changed', boardUid: BOARD_UID, playerId: key, version: position });
      return { topic: 'entry-changed', lane: 0, position, key, payload, createdAtMs: Date.now() };
    };
    const other = new KafkaRelayTarget(options(), new PostgresLogEnds(database));
    let isFirst = true;
    const slow = new PostgresLogEnds({
      query: async (...asked: Parameters<PostgresDatabase['query']>) => {
        if (isFirst) {
          isFirst = false;
          await other.append([record(1001), record(1002)]);
        }
        return database.query(...asked);
      },
    } as PostgresDatabase);
    const relay = new KafkaRelayTarget(options(), slow);
    opened.push({ stop: () => relay.close() }, { stop: () => other.close() });
    await relay.append([record(1001), record(1002)]);
    await relay.append([record(1003)]);
    expect(await endOf()).toBe('5');
    expect(await incarnation()).toBe(0);
  });
});

/** Connections whose requests of one kind wait, each until the work for it is done. */
function holding(
  apiKey: number,
  work: (time: number) => Promise<void>,
): { connection: Pick<kafkajs.KafkaConfig, 'socketFactory'>; readonly joins: number } {
  let times = 0;
  let joins = 0;
  const hold = (socket: Socket): Socket => {
    const write = socket.write.bind(socket) as (request: Buffer, encoding: BufferEncoding) => boolean;
    const waiting = (request: Buffer, encoding: BufferEncoding): boolean => {
      // A request begins with its length, four bytes, and the number of its kind, two.
      const kind = request.readInt16BE(4);
      if (kind === JOIN_GROUP) joins += 1;
      if (kind !== apiKey) return write(request, encoding);
      times += 1;
      void work(times).then(() => write(request, encoding));
      return true;
    };
    return Object.assign(socket, { write: waiting });
  };
  const socketFactory: kafkajs.ISocketFactory = ({ host, port, onConnect }) => hold(connect({ host, port }, onConnect));
  return {
    connection: { socketFactory },
    get joins() {
      return joins;
    },
  };
}

async function deleteRecordsBefore(topic: string, offset: string): Promise<void> {
  await withKafkaAdmin(brokers, async (admin) => {
    // This admin knows no leader before it has asked for something.
    await admin.fetchTopicOffsets(topic);
    await admin.deleteTopicRecords({ topic, partitions: [{ partition: 0, offset }] });
  });
}

/** A record that no relay wrote, and after it the marker that takes an offset of its own; the record is parked. */
async function produceInTransaction(topic: string): Promise<void> {
  const kafka = new kafkajs.Kafka({ brokers: brokers.split(','), logLevel: kafkajs.logLevel.NOTHING });
  const producer = kafka.producer({
    transactionalId: topic,
    idempotent: true,
    maxInFlightRequests: 1,
    createPartitioner: kafkajs.Partitioners.DefaultPartitioner,
  });
  await producer.connect();
  try {
    const transaction = await producer.transaction();
    await transaction.send({ topic, messages: [{ partition: 0, key: 'foreign', value: 'null' }] });
    await transaction.commit();
  } finally {
    await producer.disconnect();
  }
}
