import { mkdirSync } from 'node:fs';
import pg from 'pg';
import { makeDataDirectory } from '../../tools/data-directory.mjs';
import { freePort } from '../../tools/ports.mjs';
import { step } from '../../tools/progress.mjs';
import { RunningProcesses } from '../../tools/running.mjs';
import { startKafka } from '../../tools/services/kafka.mjs';
import { removeDataDirectory } from '../../tools/services/postgres-account.mjs';
import { startPostgres } from '../../tools/services/postgres.mjs';
import { startRedis } from '../../tools/services/redis.mjs';
import { startApp } from '../../tools/standalone.mjs';
import { apiProcesses, untilAllServe } from './api-processes.js';
import { cpuSecondsOf } from '../meters/cpu.js';
import { ledgerOf, watchingOptions } from './ledger.js';

/** The processes of the service, by how it is run, in the order in which they start. */
export const processesOf = { one: ['standalone'], apart: ['projector', 'api', 'gateway'] };

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
 * @param {{ root: string, cacheDir: string, dataDir: string, log: 'postgres' | 'kafka', apps: 'one' | 'apart', apiCount?: number,
 *   command: string, settings?: object,
 *   nodeOptions?: Record<string, string[]>, postgresSettings?: Record<string, string>, onDeath: (error: Error) => void, onRunning: (running: RunningProcesses) => void }} how
 *   `nodeOptions`: by process; `dataDir`: made here, and removed by `end()`; `onRunning` gets what has to be stopped when the start fails
 * @returns `{ service, installation, database, end() }`, as the parts of the benchmark get them
 * @throws Problem
 */
export async function startInstallation(how) {
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
  const pools = ['', watchingOptions].map((options) => poolOf(postgres.url, options));
  const services = { postgres, redis, ...(kafka && { kafka }) };
  const pids = () => ({
    ...processes.pids,
    ...Object.fromEntries(Object.entries(services).map(([name, { process: entry }]) => [name, entry.pid])),
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
      redisBinary: redis.binary,
      databaseUrl: postgres.url,
      kafkaBrokers: kafka?.brokers ?? null,
      services: Object.values(services)
        .map(({ describe }) => describe.replace(/ on port.*/, ''))
        .join(', '),
      stop: () => processes.stop(),
      start: (options) => processes.start(options),
    },
    database: ledgerOf(...pools),
    end: async () => {
      await Promise.all(pools.map((pool) => pool.end()));
      await running.stopAll();
      removeDataDirectory(dataDir);
    },
  };
}

function poolOf(connectionString, options) {
  const pool = new pg.Pool({ connectionString, max: 1, options });
  // When something fails, PostgreSQL is stopped under it.
  pool.on('error', () => {});
  return pool;
}

/** How the service is reached; the same before and after it was stopped and started again. */
const serviceOf = (processes, pids) => ({
  url: processes.urlOf('api'),
  gatewayUrl: processes.urlOf('gateway'),
  /** One of each process that the role has. */
  metricsUrlsOf: (role) => processes.metricsUrlsOf(role),
  get key() {
    return processes.adminKey;
  },
  /** Process ids by name: those of the service, postgres, redis, kafka. */
  pids,
  /** Seconds of CPU that all processes together, or those of these names, have used. */
  cpuSeconds: (...names) =>
    Object.entries(pids()).reduce(
      (sum, [name, pid]) => sum + (names.length === 0 || names.includes(name) ? cpuSecondsOf(pid) : 0),
      0,
    ),
});

/** The service's own processes, each on the ports that it has drawn once. */
class AppProcesses {
  #entries = new Map();
  #ports = new Map();
  adminKey = null;

  constructor(context, services, { names, apiCount, nodeOptions }) {
    Object.assign(this, { context, services, names, apiCount, nodeOptions });
  }

  /** @param settings of this start alone */
  async start({ settings = {} } = {}) {
    for (const name of this.names) {
      if (this.#ports.has(name)) continue;
      const several = await apiProcesses(name === 'api' ? this.apiCount : 1);
      this.#ports.set(name, { port: await freePort(), metricsPort: several.metricsPort, several });
    }
    step(`Starting ${this.names.join(', ')}`);
    // One by one: the first migrates the database.
    for (const name of this.names) {
      const which = { app: name, name, nodeOptions: this.nodeOptions[name] };
      const { several, ...ports } = this.#ports.get(name);
      const context = { ...this.context, env: { ...this.context.env, ...settings, ...several.env } };
      const app = await startApp(context, { ...ports, ...this.services }, which);
      await untilAllServe(several);
      this.adminKey = app.adminKey;
      this.#entries.set(name, app.entry);
    }
  }

  async stop() {
    for (const name of [...this.#entries.keys()].reverse()) {
      await this.#entries.get(name).stop();
      this.#entries.delete(name);
    }
  }

  get pids() {
    return Object.fromEntries([...this.#entries].map(([name, { pid }]) => [name, pid]));
  }

  urlOf(role) {
    return `http://127.0.0.1:${this.#portsOf(role).port}/`;
  }

  metricsUrlsOf(role) {
    return this.#portsOf(role).several.metricsUrls;
  }

  #portsOf(role) {
    return this.#ports.get(this.names.includes(role) ? role : 'standalone');
  }
}
