import { mkdirSync } from 'node:fs';
import { makeDataDirectory } from '../../tools/data-directory.mjs';
import { freePort } from '../../tools/ports.mjs';
import { step } from '../../tools/progress.mjs';
import { RunningProcesses, type RunningEntry, type StartContext } from '../../tools/running.mjs';
import { startKafka } from '../../tools/services/kafka.mjs';
import { removeDataDirectory } from '../../tools/services/postgres-account.mjs';
import { startPostgres } from '../../tools/services/postgres.mjs';
import { startRedis } from '../../tools/services/redis.mjs';
import { startApp, type AppServices } from '../../tools/standalone.mjs';
import { apiProcesses, untilAllServe, type ApiProcesses } from './api-processes.js';
import { cpuSecondsOf } from '../meters/cpu.js';
import type { Apps, CleanState, Log, Role, Service, Settings } from './context.js';
import { ledgerOf, watchingOptions } from './ledger.js';
import { poolOf } from './postgres-pool.js';

export interface InstallationOptions {
  root: string;
  cacheDir: string;
  /** Made here, and removed by `end()`. */
  dataDir: string;
  log: Log;
  apps: Apps;
  apiCount?: number;
  command: string;
  settings?: Settings;
  /** Arguments of Node, by process. */
  nodeOptions?: Record<string, string[]>;
  postgresSettings?: Record<string, string>;
  /** A process has ended that was not told to. */
  onDeath(error: Error): void;
  /** Gets what has to be stopped when the start fails. */
  onRunning(running: RunningProcesses): void;
}

type AppName = Role | 'standalone';

/** The processes of the service, by how it is run, in the order in which they start. */
const processesOf: Record<Apps, AppName[]> = { one: ['standalone'], apart: ['projector', 'api', 'gateway'] };

/** Limits stay on, so high that nothing measured reaches them. */
const settingsOfAll = {
  LOG_LEVEL: 'warn',
  RATE_LIMIT_KEY_PER_SECOND: '1000000',
  RATE_LIMIT_PLAYER_PER_SECOND: '1000000',
  RATE_LIMIT_ADDRESS_PER_SECOND: '1000000',
};

/**
 * Starts PostgreSQL, Redis or Valkey, Kafka when asked for, and the service on them, all of them empty, and waits until it
 * is ready.
 * @throws Problem
 */
export async function startInstallation(how: InstallationOptions): Promise<CleanState> {
  const {
    root,
    cacheDir,
    dataDir,
    log,
    apps,
    apiCount = 1,
    command,
    settings = {},
    nodeOptions = {},
    postgresSettings,
    onDeath,
    onRunning,
  } = how;
  for (const folder of [dataDir, cacheDir]) mkdirSync(folder, { recursive: true });
  makeDataDirectory(dataDir);
  const running = new RunningProcesses(dataDir, onDeath);
  onRunning(running);
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, ...settingsOfAll, ...settings };
  const context = { root, dataDir, cacheDir, env, running };
  const postgres = await startPostgres(context, { more: postgresSettings });
  const redis = await startRedis(context);
  const kafka = log === 'kafka' ? await startKafka(context) : null;
  const processes = new AppProcesses(
    context,
    { postgres, redis, kafka },
    {
      names: processesOf[apps],
      apiCount,
      nodeOptions,
    },
  );
  await processes.start();
  const pool = poolOf(postgres.url, '');
  const watching = poolOf(postgres.url, watchingOptions);
  const services = { postgres, redis, ...(kafka && { kafka }) };
  const pids = (): Record<string, number> => ({
    ...processes.pids,
    ...Object.fromEntries(
      Object.entries(services).flatMap(([name, { process: entry }]) => (entry === null ? [] : [[name, entry.pid]])),
    ),
  });
  return {
    service: serviceOf(processes, pids),
    installation: {
      root,
      dataDir,
      log,
      apps,
      apiCount,
      command,
      redisUrl: redis.url,
      databaseUrl: postgres.url,
      kafkaBrokers: kafka?.brokers ?? null,
      services: Object.values(services)
        .map(({ describe }) => describe.replace(/ on port.*/, ''))
        .join(', '),
      stop: () => processes.stop(),
      start: (options) => processes.start(options),
    },
    database: ledgerOf(pool, watching),
    end: async () => {
      await Promise.all([pool.end(), watching.end()]);
      await running.stopAll();
      removeDataDirectory(dataDir);
    },
  };
}

const serviceOf = (processes: AppProcesses, pids: () => Record<string, number>): Service => ({
  url: processes.urlOf('api'),
  gatewayUrl: processes.urlOf('gateway'),
  metricsUrlsOf: (role) => processes.metricsUrlsOf(role),
  get key() {
    return processes.adminKey;
  },
  pids,
  cpuSeconds: (...names) =>
    Object.entries(pids()).reduce(
      (sum, [name, pid]) => sum + (names.length === 0 || names.includes(name) ? cpuSecondsOf(pid) : 0),
      0,
    ),
});

interface AppPorts {
  port: number;
  metricsPort: number;
  several: ApiProcesses;
}

/** The service's own processes, each on the ports that it has drawn once. */
class AppProcesses {
  readonly #entries = new Map<AppName, RunningEntry>();
  readonly #ports = new Map<AppName, AppPorts>();
  #adminKey: string | null = null;

  constructor(
    private readonly context: StartContext,
    private readonly services: Omit<AppServices, 'port' | 'metricsPort'>,
    private readonly how: { names: readonly AppName[]; apiCount: number; nodeOptions: Record<string, string[]> },
  ) {}

  get adminKey(): string {
    if (this.#adminKey === null) throw new Error('The service was not started.');
    return this.#adminKey;
  }

  /** @param settings of this start alone */
  async start({ settings = {} }: { settings?: Settings } = {}): Promise<void> {
    const { names, apiCount, nodeOptions } = this.how;
    for (const name of names) {
      if (this.#ports.has(name)) continue;
      const several = await apiProcesses(name === 'api' ? apiCount : 1);
      this.#ports.set(name, { port: await freePort(), metricsPort: several.metricsPort, several });
    }
    step(`Starting ${names.join(', ')}`);
    // One by one: the first migrates the database.
    for (const name of names) {
      const which = { app: name, name, nodeOptions: nodeOptions[name] ?? [] };
      const { several, ...ports } = this.#portsOf(name);
      const context = { ...this.context, env: { ...this.context.env, ...settings, ...several.env } };
      const app = await startApp(context, { ...ports, ...this.services }, which);
      await untilAllServe(several);
      this.#adminKey = app.adminKey;
      this.#entries.set(name, app.entry);
    }
  }

  async stop(): Promise<void> {
    for (const [name, entry] of [...this.#entries].reverse()) {
      await entry.stop();
      this.#entries.delete(name);
    }
  }

  get pids(): Record<string, number> {
    return Object.fromEntries([...this.#entries].map(([name, { pid }]) => [name, pid]));
  }

  urlOf(role: Role): string {
    return `http://127.0.0.1:${this.#portsOfRole(role).port}/`;
  }

  metricsUrlsOf(role: Role): string[] {
    return this.#portsOfRole(role).several.metricsUrls;
  }

  #portsOfRole(role: Role): AppPorts {
    return this.#portsOf(this.how.names.includes(role) ? role : 'standalone');
  }

  #portsOf(name: AppName): AppPorts {
    const ports = this.#ports.get(name);
    if (ports === undefined) throw new Error(`${name} was not started.`);
    return ports;
  }
}
