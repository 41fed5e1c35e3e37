import type { Lanes, SqlRunner } from '@laddercast/ledger';
import { sleep } from '@laddercast/platform';
import type { Admin } from 'kafkajs';
import { topicName, type KafkaOptions } from './kafka-connection.js';
import { kafkaLibrary } from './kafka-library.js';
import type { LogLine } from '../delivery/log-line.js';
import { TOPICS } from '../topics.js';

const HOUR_MS = 3_600_000;
/** How long Kafka keeps events: a consumer that is away for longer rebuilds from PostgreSQL. */
export const RETENTION_MS = 7 * 24 * HOUR_MS;
/** A topic that keeps events for less than this is refused: a consumer that is away for a night would lose events. */
export const RETENTION_MS_MIN = 24 * HOUR_MS;

/** The topics of this installation cannot be used as they are; the message says what to do. */
export class KafkaTopicError extends Error {}

/** How long partitions that were added may take until the brokers know them. */
const PARTITIONS_TIMEOUT_MS = 10_000;
const LOOK_AGAIN_AFTER_MS = 100;

type Topics = Pick<KafkaOptions, 'prefix' | 'lanes'>;

const namesOf = ({ prefix }: Topics): string[] => TOPICS.map((topic) => topicName(prefix, topic));

/**
 * Makes the topics and partitions that are missing, and checks those that are there.
 * @param database asked for the lanes where a topic has more partitions than this process knows lanes
 * @throws KafkaTopicError when a topic has a number of partitions that there never were lanes, or keeps events too short
 */
export async function prepareTopics(admin: Admin, options: Topics, database: SqlRunner): Promise<void> {
  const names = namesOf(options);
  await makeTopics(admin, options);
  const most = Math.max(...(await countPartitions(admin, names)).values());
  if (most > options.lanes.count) await options.lanes.refresh(database);
  await makePartitions(admin, options);
  await checkPartitions(admin, options);
  await checkRetention(admin, names);
}

async function makeTopics(admin: Admin, options: Topics): Promise<void> {
  const names = namesOf(options);
  const present = new Set(await admin.listTopics());
  const missing = names.filter((name) => !present.has(name));
  if (missing.length > 0) {
    // Another process may make them at the same time; the checks below find what it made.
    await admin.createTopics({
      waitForLeaders: true,
      topics: missing.map((topic) => ({
        topic,
        numPartitions: options.lanes.count,
        configEntries: [{ name: 'retention.ms', value: String(RETENTION_MS) }],
      })),
    });
  }
}

/**
 * Gives each topic the partitions of lanes that were added since it was made, and waits until the brokers know them.
 * @throws when they do not in time
 */
export async function makePartitions(admin: Admin, options: Topics): Promise<void> {
  const { count } = options.lanes;
  const tooFew = async (): Promise<string[]> =>
    [...(await countPartitions(admin, namesOf(options)))]
      .filter(([, partitions]) => partitions < count && wereLanes(partitions, options.lanes))
      .map(([topic]) => topic);
  const topics = await tooFew();
  if (topics.length === 0) return;
  let refusal: unknown;
  const request = { topicPartitions: topics.map((topic) => ({ topic, count })) };
  // Another process may make them at the same time: then they are there.
  await admin.createPartitions(request).catch((error: unknown) => (refusal = error));
  for (let waitedMs = 0; (await tooFew()).length > 0; waitedMs += LOOK_AGAIN_AFTER_MS) {
    if (waitedMs >= PARTITIONS_TIMEOUT_MS || refusal instanceof Error)
      throw refusal ?? new Error('brokers do not know them yet');
    await sleep(LOOK_AGAIN_AFTER_MS);
  }
}

/** Whether there were so many lanes before they were raised. */
const wereLanes = (count: number, lanes: Lanes): boolean => lanes.since(count - 1) !== lanes.since(count);

async function countPartitions(admin: Admin, names: string[]): Promise<Map<string, number>> {
  const { topics } = await admin.fetchTopicMetadata({ topics: names });
  return new Map(topics.map(({ name, partitions }) => [name, partitions.length]));
}

async function checkPartitions(admin: Admin, options: Topics): Promise<void> {
  const { count } = options.lanes;
  for (const [name, partitions] of await countPartitions(admin, namesOf(options))) {
    if (partitions === count) continue;
    throw new KafkaTopicError(
      `The Kafka topic "${name}" has ${partitions} partition(s), and the ledger has ${count} lane(s): they must be ` +
        'the same number. Set LEDGER_LANES back to what this installation was made with, or use another KAFKA_PREFIX, ' +
        'or delete the topic while everything that it holds is handled.',
    );
  }
}

async function checkRetention(admin: Admin, names: string[]): Promise<void> {
  const { resources } = await admin.describeConfigs({
    includeSynonyms: false,
    resources: names.map((name) => ({
      type: kafkaLibrary().ConfigResourceTypes.TOPIC,
      name,
      configNames: ['retention.ms'],
    })),
  });
  for (const { resourceName, configEntries } of resources) {
    const value = Number(configEntries.find((entry) => entry.configName === 'retention.ms')?.configValue);
    // −1 is for ever.
    if (value === -1 || value >= RETENTION_MS_MIN) continue;
    throw new KafkaTopicError(
      `The Kafka topic "${resourceName}" keeps events for ${value / HOUR_MS} h; at least 24 h are needed, 168 h are ` +
        `usual: kafka-configs.sh --alter --entity-type topics --entity-name ${resourceName} ` +
        `--add-config retention.ms=${RETENTION_MS}`,
    );
  }
}

/** The broker's default: it keeps messages as they came. */
const AS_PRODUCED = 'producer';

/**
 * Makes a topic that other systems write, if it is missing. An existing one is taken as it is, whatever its partitions.
 * The broker keeps its messages uncompressed: producers may use any compression, and kafkajs reads only gzip.
 */
export async function prepareIntakeTopic(
  admin: Admin,
  topic: string,
  { lanes, log }: Pick<KafkaOptions, 'lanes' | 'log'>,
): Promise<void> {
  if ((await admin.listTopics()).includes(topic)) return warnOfCompression(admin, topic, log);
  await admin.createTopics({
    waitForLeaders: true,
    topics: [
      {
        topic,
        numPartitions: lanes.count,
        configEntries: [
          { name: 'retention.ms', value: String(RETENTION_MS) },
          { name: 'compression.type', value: 'uncompressed' },
        ],
      },
    ],
  });
}

async function warnOfCompression(admin: Admin, topic: string, log: LogLine): Promise<void> {
  const { resources } = await admin.describeConfigs({
    includeSynonyms: false,
    resources: [{ type: kafkaLibrary().ConfigResourceTypes.TOPIC, name: topic, configNames: ['compression.type'] }],
  });
  const value = resources[0]?.configEntries.find((entry) => entry.configName === 'compression.type')?.configValue;
  if (value === 'uncompressed' || value === 'gzip') return;
  const kept = value === AS_PRODUCED ? 'as producers compress them' : `compressed with ${value}`;
  log(
    'warn',
    `The Kafka topic "${topic}" keeps messages ${kept}; only gzip and none can be read. Let the broker see to it: ` +
      `kafka-configs.sh --alter --entity-type topics --entity-name ${topic} --add-config compression.type=uncompressed`,
  );
}
