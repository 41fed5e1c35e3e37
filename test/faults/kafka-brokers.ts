import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '@laddercast/testing';
import type { Admin } from 'kafkajs';
import { withKafkaAdmin } from './kafka-admin.js';

interface Broker {
  id: number;
  port: number;
  config: string;
  child: ChildProcess | null;
}

interface KafkaProgram {
  java: string;
  jars: string;
}

export interface KafkaBrokersOptions {
  /** Listeners beside the one that takes everybody: name, and where clients reach it (`localhost:9093`). */
  listeners?: Record<string, string>;
  /** Settings of the brokers beside those of every test. */
  values?: Record<string, string>;
  /** Users of SCRAM, as `StorageTool format --add-scram` takes them. */
  scramUsers?: readonly string[];
}

const READY_WITHIN_MS = 90_000;
/** The quick one of the two compilers alone: a broker that lives for a minute is started with a third less CPU. */
const QUICK_TO_START = ['-XX:TieredStopAtLevel=1'];
const fromTools = (file: string): string => new URL(`../../tools/${file}`, import.meta.url).href;

/**
 * Brokers of a scenario's own, from the jars that the tools fetch: one, or three of which any two go on (replication 3,
 * min.insync.replicas 2). Data live until {@link stop}, so that a broker that was killed comes back with what it had.
 */
export class KafkaBrokers {
  private constructor(
    private readonly program: KafkaProgram,
    private readonly folder: string,
    private readonly brokers: Broker[],
  ) {}

  static async start(count: 1 | 3, options: KafkaBrokersOptions = {}): Promise<KafkaBrokers> {
    const program = await findProgram();
    const folder = mkdtempSync(join(tmpdir(), 'ladder-kafka-'));
    const clusterId = randomBytes(16).toString('base64url');
    const nodes = await Promise.all(
      Array.from({ length: count }, async (_, at) => ({
        id: at + 1,
        port: await freePort(),
        controllerPort: await freePort(),
      })),
    );
    const voters = nodes.map(({ id, controllerPort }) => `${id}@127.0.0.1:${controllerPort}`).join(',');
    const brokers = nodes.map(({ id, port, controllerPort }): Broker => {
      const config = join(folder, `server-${id}.properties`);
      const logs = join(folder, `logs-${id}`);
      mkdirSync(logs);
      writeFileSync(config, properties({ id, port, controllerPort, voters, logs, count }, options));
      format(program, clusterId, config, options.scramUsers);
      return { id, port, config, child: null };
    });
    const started = new KafkaBrokers(program, folder, brokers);
    try {
      for (const broker of brokers) started.launch(broker);
      await started.ready();
    } catch (error) {
      await started.stop();
      throw error;
    }
    return started;
  }

  /** `host:port,…` of all, as KAFKA_BROKERS has it. */
  get addresses(): string {
    return this.brokers.map(({ port }) => `127.0.0.1:${port}`).join(',');
  }

  /** kill -9. */
  async kill(id: number): Promise<void> {
    await this.end(this.broker(id), 'SIGKILL');
  }

  /** It keeps its connections, and answers nothing. */
  pause(id: number): void {
    this.broker(id).child?.kill('SIGSTOP');
  }

  resume(id: number): void {
    this.broker(id).child?.kill('SIGCONT');
  }

  /** Starts one that was killed, on its data, and waits until all that run answer. */
  async restart(id: number): Promise<void> {
    this.launch(this.broker(id));
    await this.ready();
  }

  async killAll(): Promise<void> {
    await Promise.all(this.brokers.map((broker) => this.end(broker, 'SIGKILL')));
  }

  async restartAll(): Promise<void> {
    for (const broker of this.brokers) if (broker.child === null) this.launch(broker);
    await this.ready();
  }

  /** The broker that leads a partition. */
  async leaderOf(topic: string, partition: number): Promise<number> {
    const { topics } = await this.withAdmin((admin) => admin.fetchTopicMetadata({ topics: [topic] }));
    return topics[0]!.partitions.find(({ partitionId }) => partitionId === partition)!.leader;
  }

  withAdmin<T>(work: (admin: Admin) => Promise<T>): Promise<T> {
    const running = this.brokers.filter(({ child }) => child !== null);
    return withKafkaAdmin(running.map(({ port }) => `127.0.0.1:${port}`).join(','), work);
  }

  async stop(): Promise<void> {
    await Promise.all(this.brokers.map((broker) => this.end(broker, 'SIGKILL')));
    rmSync(this.folder, { recursive: true, force: true });
  }

  private broker(id: number): Broker {
    const found = this.brokers.find((broker) => broker.id === id);
    if (!found) throw new Error(`There is no broker ${id}.`);
    return found;
  }

  private launch(broker: Broker): void {
    const { java, jars } = this.program;
    const output = openSync(`${broker.config}.log`, 'a');
    const args = [
      '-Dlog4j2.level=WARN',
      '-Xms128m',
      '-Xmx512m',
      '-XX:+UseSerialGC',
      ...QUICK_TO_START,
      '-cp',
      join(jars, '*'),
      'kafka.Kafka',
      broker.config,
    ];
    broker.child = spawn(java, args, { cwd: this.folder, stdio: ['ignore', output, output] });
    closeSync(output);
  }

  private async end(broker: Broker, signal: NodeJS.Signals): Promise<void> {
    const { child } = broker;
    broker.child = null;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill(signal);
    await exited;
  }

  /** The last that each had to say. */
  private logs(): string {
    return this.brokers
      .map(({ id, config }) => `broker ${id}: ${readFileSync(`${config}.log`, 'utf8').slice(-1500)}`)
      .join('\n');
  }

  /** Until there is a controller, and every broker that runs is known to it. */
  private async ready(): Promise<void> {
    const running = this.brokers.filter(({ child }) => child !== null).length;
    const giveUpAt = performance.now() + READY_WITHIN_MS;
    for (;;) {
      const known = await this.withAdmin((admin) => admin.describeCluster()).catch(() => null);
      if (known !== null && known.controller !== null && known.brokers.length >= running) return;
      const dead = this.brokers.find(({ child }) => child !== null && child.exitCode !== null);
      if (dead) throw new Error(`Broker ${dead.id} ended with code ${dead.child!.exitCode}.\n${this.logs()}`);
      if (performance.now() > giveUpAt) {
        throw new Error(`The brokers did not answer within ${READY_WITHIN_MS} ms.\n${this.logs()}`);
      }
      await sleep(200);
    }
  }
}

async function findProgram(): Promise<KafkaProgram> {
  const { findKafka } = (await import(fromTools('services/kafka-jars.mjs'))) as {
    findKafka: (cacheDir: string) => Promise<KafkaProgram>;
  };
  const { dataDirectory } = (await import(fromTools('data-directory.mjs'))) as {
    dataDirectory: (root: string) => string;
  };
  return findKafka(join(dataDirectory(process.cwd()), 'cache'));
}

function properties(
  node: { id: number; port: number; controllerPort: number; voters: string; logs: string; count: number },
  { listeners = {}, values: more = {} }: KafkaBrokersOptions,
): string {
  const { id, port, controllerPort, voters, logs, count } = node;
  const inSync = Math.min(2, count);
  const beside = Object.entries(listeners)
    .map(([name, address]) => `,${name}://${address}`)
    .join('');
  const values = {
    'process.roles': 'broker,controller',
    'node.id': id,
    'controller.quorum.voters': voters,
    listeners: `PLAINTEXT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${controllerPort}${beside}`,
    'advertised.listeners': `PLAINTEXT://127.0.0.1:${port}${beside}`,
    'listener.security.protocol.map': 'PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT',
    'controller.listener.names': 'CONTROLLER',
    'inter.broker.listener.name': 'PLAINTEXT',
    'log.dirs': logs,
    'log.retention.hours': 7 * 24,
    'auto.create.topics.enable': false,
    'group.initial.rebalance.delay.ms': 0,
    'offsets.topic.num.partitions': 4,
    'transaction.state.log.num.partitions': 4,
    'share.coordinator.state.topic.num.partitions': 4,
    'default.replication.factor': count,
    'min.insync.replicas': inSync,
    'offsets.topic.replication.factor': count,
    'transaction.state.log.replication.factor': count,
    'transaction.state.log.min.isr': inSync,
    'share.coordinator.state.topic.replication.factor': count,
    'share.coordinator.state.topic.min.isr': inSync,
    ...more,
  };
  return Object.entries(values)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('');
}

function format(
  { java, jars }: KafkaProgram,
  clusterId: string,
  config: string,
  scramUsers: readonly string[] = [],
): void {
  const users = scramUsers.flatMap((user) => ['--add-scram', user]);
  const tool = ['-Xmx256m', ...QUICK_TO_START, '-cp', join(jars, '*'), 'kafka.tools.StorageTool'];
  const { status, stderr } = spawnSync(java, [...tool, 'format', `--cluster-id=${clusterId}`, '-c', config, ...users], {
    encoding: 'utf8',
    timeout: 60_000,
  });
  if (status !== 0) throw new Error(`The data directory of a broker could not be prepared: ${stderr}`);
}
