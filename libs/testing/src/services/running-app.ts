import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from './free-port.js';
import { createTestDatabase } from './postgres-test-database.js';
import { emptyTestRedis } from './redis-test-server.js';
import { optionalService, requiredService } from './services.js';

export type AppName = 'api' | 'projector' | 'gateway' | 'standalone';

/** A process of the service, as it was built, under test. */
export interface RunningApp {
  url: string;
  process: ChildProcess;
  /** Everything it wrote so far. */
  output(): string;
  /** SIGTERM, and SIGKILL after ten seconds. */
  stop(): Promise<void>;
}

/** The one service of a test, on a database of its own. */
export interface RunningStandalone extends RunningApp {
  adminKey: string;
  jwtSecret: string;
  databaseUrl: string;
}

const READY_WITHIN_MS = 60_000;
const STOPPED_WITHIN_MS = 10_000;

/** Settings that all processes of one installation share. */
export interface Installation {
  databaseUrl: string;
  redisUrl: string;
  adminKey: string;
  jwtSecret: string;
  settings?: Record<string, string>;
}

/** Ports that a process is to have, so that it is found there again when it is started anew. */
export interface AppPorts {
  port: number;
  metricsPort: number;
}

/** Starts one built app and waits until it is ready. */
export async function startApp(app: AppName, installation: Installation, ports?: AppPorts): Promise<RunningApp> {
  const main = join(process.cwd(), 'dist', 'bundle', `${app}.js`);
  if (!existsSync(main)) throw new Error(`${main} is missing: run "npm run build", or "npm test", which builds first.`);
  const { port, metricsPort } = ports ?? { port: await freePort(), metricsPort: await freePort() };
  const { NODE_COMPILE_CACHE } = process.env;
  // Without source maps: hundreds of starts in a run would each read them, a fifth of what a start computes.
  const child = spawn(process.execPath, [main], {
    env: {
      PATH: process.env.PATH,
      PORT: String(port),
      METRICS_PORT: String(metricsPort),
      DATABASE_URL: installation.databaseUrl,
      REDIS_URL: installation.redisUrl,
      BOOTSTRAP_ADMIN_KEY: installation.adminKey,
      JWT_SECRET: installation.jwtSecret,
      LOG_LEVEL: 'warn',
      // Servers of tests may be set to be quick rather than safe.
      DATABASE_MAY_FORGET: 'true',
      // Hundreds of starts in a run read the same programs: Node 22 and later compile them once.
      ...(NODE_COMPILE_CACHE !== undefined && { NODE_COMPILE_CACHE }),
      ...installation.settings,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const running: RunningApp = {
    url: `http://127.0.0.1:${port}`,
    process: child,
    output: () => output,
    stop: () => stopProcess(child),
  };
  await untilReady(running, app);
  return running;
}

/** Starts the whole service in one process on an empty database and an empty Redis. */
export async function startStandalone(settings: Record<string, string> = {}): Promise<RunningStandalone> {
  const database = await createTestDatabase();
  const installation: Installation = { ...newInstallation(database.url, await emptyTestRedis()), settings };
  const app = await startApp('standalone', installation).catch(async (error: unknown) => {
    await database.drop();
    throw error;
  });
  const stop = async (): Promise<void> => {
    await app.stop();
    await database.drop();
  };
  return {
    ...app,
    stop,
    adminKey: installation.adminKey,
    jwtSecret: installation.jwtSecret,
    databaseUrl: database.url,
  };
}

export function newInstallation(databaseUrl: string, redisUrl: string): Installation {
  const secret = (): string => randomBytes(24).toString('hex');
  return { databaseUrl, redisUrl, adminKey: secret(), jwtSecret: secret() };
}

async function untilReady(app: RunningApp, name: AppName): Promise<void> {
  const deadline = Date.now() + READY_WITHIN_MS;
  while (Date.now() < deadline) {
    if (app.process.exitCode !== null) break;
    const response = await fetch(`${app.url}/health/ready`).catch(() => null);
    if (response?.status === 200) return;
    await delay(50);
  }
  await app.stop();
  throw new Error(`The ${name} did not become ready. It wrote:\n${app.output()}`);
}

async function stopProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  const killer = setTimeout(() => child.kill('SIGKILL'), STOPPED_WITHIN_MS);
  await exited;
  clearTimeout(killer);
}

export type LogUnderTest = 'postgres' | 'kafka';

/** Both logs; the outbox alone, with a word why, where there is no broker and none is required. */
export function logsUnderTest(): LogUnderTest[] {
  if (optionalService('TEST_KAFKA_BROKERS') || process.env.REQUIRE_KAFKA === '1') return ['postgres', 'kafka'];
  process.stderr.write('Kafka is left out: there is no broker. Install a JDK 17+ and Maven, or set KAFKA_BROKERS.\n');
  return ['postgres'];
}

/** Settings of an installation on this log, in Kafka with topics of its own. */
export function settingsOfLog(log: LogUnderTest): Record<string, string> {
  if (log === 'postgres') return {};
  const prefix = `test-${randomBytes(6).toString('hex')}`;
  return { EVENT_LOG: 'kafka', KAFKA_BROKERS: requiredService('TEST_KAFKA_BROKERS'), KAFKA_PREFIX: prefix };
}
