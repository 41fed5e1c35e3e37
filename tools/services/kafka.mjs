import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import { join } from 'node:path';
import { runStep } from '../commands.mjs';
import { keptSecret } from '../data-directory.mjs';
import { freePort } from '../ports.mjs';
import { Problem } from '../problem.mjs';
import { step } from '../progress.mjs';
import { waitUntilReady } from '../running.mjs';
import { doesNotAnswer } from './answers.mjs';
import { findKafka } from './kafka-jars.mjs';

const answerTimeoutMs = 5_000;
const readyWaitMs = 120_000;
/** @type {import('../process-identity.mjs').StopSignal[]} */
const stopSignals = [
  ['SIGTERM', 20_000],
  ['SIGKILL', 5_000],
];

/**
 * Kafka: the brokers of `KAFKA_BROKERS`, else one broker that is started with its data under `dataDir`.
 * @param {Omit<import('../running.mjs').StartContext, 'root'> & { javaFlags?: string[] }} context `javaFlags`: of the
 *   broker that is started, beside its own
 * @returns `{ brokers, origin, describe, process, stop() }`; brokers is `host:port,…`
 * @throws Problem
 */
export async function startKafka({ dataDir, cacheDir, env, running, javaFlags = [] }) {
  if (env.KAFKA_BROKERS) return fromEnvironment(env.KAFKA_BROKERS, env);
  const kafka = await findKafka(cacheDir, env);
  const folder = join(dataDir, 'kafka');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const clusterId = keptSecret(join(folder, 'cluster-id'), () => randomBytes(16).toString('base64url'));
  const [port, controllerPort] = [await freePort(), await freePort()];
  const config = join(folder, 'server.properties');
  const logs = join(folder, 'logs');
  writeFileSync(config, properties({ port, controllerPort, logs }));
  const classpath = [...javaFlags, '-cp', join(kafka.jars, '*')];
  if (!isFormatted(logs, clusterId)) await format(kafka.java, classpath, clusterId, config);
  step(`Starting Kafka ${kafka.version} on port ${port}`);
  const entry = await running.launch({
    name: 'Kafka',
    command: kafka.java,
    args: ['-Xms128m', '-Xmx512m', '-XX:+UseSerialGC', '-Dlog4j2.level=INFO', ...classpath, 'kafka.Kafka', config],
    cwd: folder,
    signals: stopSignals,
    logPath: join(dataDir, 'kafka.log'),
  });
  const brokers = `127.0.0.1:${port}`;
  await waitUntilReady(entry, async () => (await ask(brokers)) === null, readyWaitMs);
  const describe = `Kafka ${kafka.version} on port ${port} (of Maven Central)`;
  return { brokers, origin: 'maven', describe, process: entry, stop: () => entry.stop() };
}

function properties({ port, controllerPort, logs }) {
  const values = {
    'process.roles': 'broker,controller',
    'node.id': 1,
    'controller.quorum.voters': `1@127.0.0.1:${controllerPort}`,
    listeners: `PLAINTEXT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${controllerPort}`,
    'advertised.listeners': `PLAINTEXT://127.0.0.1:${port}`,
    'listener.security.protocol.map': 'PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT',
    'controller.listener.names': 'CONTROLLER',
    'inter.broker.listener.name': 'PLAINTEXT',
    // After a kill its controller takes the broker back when the session before is over, which is 9 s by default.
    'broker.session.timeout.ms': 3000,
    'broker.heartbeat.interval.ms': 500,
    'log.dirs': logs.replaceAll('\\', '/'),
    'log.retention.hours': 7 * 24,
    'auto.create.topics.enable': false,
    'group.initial.rebalance.delay.ms': 0,
    'offsets.topic.num.partitions': 8,
    'transaction.state.log.num.partitions': 8,
    'share.coordinator.state.topic.num.partitions': 8,
    'default.replication.factor': 1,
    'min.insync.replicas': 1,
    'offsets.topic.replication.factor': 1,
    'transaction.state.log.replication.factor': 1,
    'transaction.state.log.min.isr': 1,
    'share.coordinator.state.topic.replication.factor': 1,
    'share.coordinator.state.topic.min.isr': 1,
  };
  return Object.entries(values)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('');
}

/** Whether the folder was formatted to its end for this cluster: the file is the last that the formatting writes. */
function isFormatted(logs, clusterId) {
  const file = join(logs, 'meta.properties');
  return existsSync(file) && readFileSync(file, 'utf8').split(/\r?\n/).includes(`cluster.id=${clusterId}`);
}

async function format(java, classpath, clusterId, config) {
  const args = [
    '-Xmx256m',
    ...classpath,
    'kafka.tools.StorageTool',
    'format',
    '--ignore-formatted',
    // In one word: an id may begin with a hyphen.
    `--cluster-id=${clusterId}`,
    '-c',
    config,
  ];
  await runStep('Preparing the log directory of Kafka', java, args);
}

async function fromEnvironment(brokers, env) {
  for (const broker of brokers.split(',')) {
    if (/^\s*(\[[^\]]+\]|[^\s:/]+):\d{1,5}\s*$/.test(broker)) continue;
    throw new Problem(
      `KAFKA_BROKERS is not a list of brokers that can be used: "${brokers}". It looks like 127.0.0.1:9092,broker2:9092.`,
    );
  }
  step(`Asking the Kafka of KAFKA_BROKERS (${brokers})`);
  // The service itself names itself to brokers, by TLS; here it is enough that somebody listens.
  const isSecured = env.KAFKA_TLS === 'true' || env.KAFKA_SASL_MECHANISM;
  const error = isSecured ? await reach(brokers) : await ask(brokers);
  if (error !== null)
    throw doesNotAnswer('KAFKA_BROKERS', brokers, error, 'Start that broker, or correct the address.');
  return {
    brokers,
    origin: 'environment',
    describe: `Kafka of KAFKA_BROKERS (${brokers})`,
    process: null,
    stop: async () => {},
  };
}

/** The last failure, when no broker takes a connection. */
async function reach(brokers) {
  let failure = null;
  for (const broker of brokers.split(',')) {
    const [, host, port] = /^\s*\[?(.+?)\]?:(\d+)\s*$/.exec(broker);
    const socket = connect({ host, port: Number(port), timeout: answerTimeoutMs });
    failure = await new Promise((resolve) => {
      socket.once('connect', () => resolve(null));
      socket.once('error', resolve);
      socket.once('timeout', () => resolve(Object.assign(new Error('no answer in time'), { code: 'ETIMEDOUT' })));
    });
    socket.destroy();
    if (failure === null) return null;
  }
  return failure;
}

async function ask(brokers) {
  const { Kafka, logLevel } = await import('kafkajs');
  const kafka = new Kafka({
    clientId: 'laddercast-start',
    brokers: brokers.split(',').map((broker) => broker.trim()),
    logLevel: logLevel.NOTHING,
    connectionTimeout: answerTimeoutMs,
    requestTimeout: answerTimeoutMs,
    retry: { retries: 0 },
  });
  const admin = kafka.admin();
  try {
    await admin.connect();
    const { controller, brokers: known } = await admin.describeCluster();
    return controller === null || known.length === 0 ? new Error('it has no controller yet') : null;
  } catch (error) {
    return error.cause ?? error;
  } finally {
    await admin.disconnect().catch(() => {});
  }
}
