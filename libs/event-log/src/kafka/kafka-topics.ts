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

/**
 * Makes the topics that are missing, and checks those that are there.
 * @throws KafkaTopicError when a topic has another number of partitions than lanes, or keeps events too short
 */
export async function prepareTopics(admin: Admin, { prefix, lanes }: KafkaOptions): Promise<void> {
  const names = TOPICS.map((topic) => topicName(prefix, topic));
  const present = new Set(await admin.listTopics());
  const missing = names.filter((name) => !present.has(name));
  if (missing.length > 0) {
    // Another process may make them at the same time; the checks below find what it made.
    await admin.createTopics({
      waitForLeaders: true,
      topics: missing.map((topic) => ({
        topic,
        numPartitions: lanes,
        configEntries: [{ name: 'retention.ms', value: String(RETENTION_MS) }],
      })),
    });
  }
  await checkPartitions(admin, names, lanes);
  await checkRetention(admin, names);
}

async function checkPartitions(admin: Admin, names: string[], lanes: number): Promise<void> {
  const { topics } = await admin.fetchTopicMetadata({ topics: names });
  for (const { name, partitions } of topics) {
    if (partitions.length === lanes) continue;
    throw new KafkaTopicError(
      `The Kafka topic "${name}" has ${partitions.length} partition(s), and the ledger has ${lanes} lane(s): they must be ` +
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
        numPartitions: lanes,
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
