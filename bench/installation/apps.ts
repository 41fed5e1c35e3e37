import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { appMain } from '../../tools/build.mjs';
import { freePort } from '../../tools/ports.mjs';
import { apiProcesses, untilAllServe } from './api-processes.js';
import type { CleanState, Role, Settings } from './context.js';
import { sharedMs } from '../meters/process.js';

const readyWithinMs = 60_000;
const stoppedWithinMs = 20_000;
const lookEveryMs = 5;
const outputKept = 4000;
/** What a benchmark runs besides ends with it, however it ends. */
const children = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL');
});

/** Limits that one machine full of clients would meet: they stay on, and are high. */
export const highLimits = {
  SOCKETS_PER_ADDRESS_MAX: '20000',
  RATE_LIMIT_ADDRESS_PER_SECOND: '1000000',
  RATE_LIMIT_KEY_PER_SECOND: '1000000',
};

/** A child of this process, and the end of what it printed. */
export interface RunningChild {
  pid: number;
  child: ChildProcess;
  output: string;
  hasEnded: boolean;
  exited: Promise<void>;
}

/** One app of the service, once GET /health/ready answers 200. */
export interface RunningApp extends RunningChild {
  url: string;
  /** By `sharedMs`. */
  madeAtMs: number;
  readyAtMs: number;
  msToReady: number;
  stop(): Promise<void>;
}

/** Settings and arguments of Node beside the usual ones. */
export interface AppOptions {
  env?: Settings;
  nodeArgs?: string[];
}

/** Runs a program of Node as a child that ends with this process, its output kept for messages. */
export function runNode(args: readonly string[], options: SpawnOptions = {}): RunningChild {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'], ...options });
  if (child.pid === undefined) throw new Error(`${process.execPath} could not be started.`);
  children.add(child);
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const running: RunningChild = { pid: child.pid, child, output: '', hasEnded: false, exited };
  child.once('exit', () => {
    children.delete(child);
    running.hasEnded = true;
  });
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk) => (running.output = (running.output + chunk).slice(-outputKept)));
  }
  return running;
}

/**
 * Starts one app of the service beside the installation's own, with the same services and key; an api in as many processes
 * as that one.
 * @throws Error with the end of its output when it ends first, or is not ready within a minute
 */
export async function startApp(
  { installation, service }: Pick<CleanState, 'installation' | 'service'>,
  app: Role | 'standalone',
  { env = {}, nodeArgs = [] }: AppOptions = {},
): Promise<RunningApp> {
  const port = await freePort();
  const several = await apiProcesses(app === 'api' ? installation.apiCount : 1);
  const madeAtMs = sharedMs();
  const running = runNode(
    [
      ...(process.env.BENCH_NODE_ARGS ?? '--enable-source-maps').split(' ').filter(Boolean),
      ...nodeArgs,
      appMain(app, installation.root),
    ],
    {
      cwd: installation.root,
      env: {
        PATH: process.env.PATH,
        HOME: process.env.HOME,
        LOG_LEVEL: 'warn',
        PORT: String(port),
        METRICS_PORT: String(several.metricsPort),
        ...several.env,
        DATABASE_URL: installation.databaseUrl,
        REDIS_URL: installation.redisUrl,
        EVENT_LOG: installation.log,
        ...(installation.kafkaBrokers && { KAFKA_BROKERS: installation.kafkaBrokers }),
        BOOTSTRAP_ADMIN_KEY: service.key,
        ...highLimits,
        ...env,
      },
    },
  );
  const url = `http://127.0.0.1:${port}/`;
  while (!(await isReady(url))) {
    if (running.hasEnded) throw new Error(`The ${app} ended by itself:\n${running.output}`);
    if (sharedMs() - madeAtMs > readyWithinMs) {
      running.child.kill('SIGKILL');
      throw new Error(`The ${app} is not ready after ${readyWithinMs / 1000} s:\n${running.output}`);
    }
    await sleep(lookEveryMs);
  }
  await untilAllServe(several);
  const readyAtMs = sharedMs();
  const msToReady = readyAtMs - madeAtMs;
  return Object.assign(running, { url, madeAtMs, readyAtMs, msToReady, stop: () => stopped(running) });
}

/** The service in processes of its own, instead of the installation's; `stop` ends them. */
export async function startApps<Name extends Role>(
  context: Pick<CleanState, 'installation' | 'service'>,
  names: readonly Name[],
  how: Partial<Record<Name, AppOptions>> = {},
): Promise<Record<Name, RunningApp> & { stop(): Promise<void> }> {
  await context.installation.stop();
  const apps: [name: Name, app: RunningApp][] = [];
  const stop = async (): Promise<void> => {
    for (const [, app] of apps.reverse()) await app.stop();
  };
  try {
    for (const name of names) apps.push([name, await startApp(context, name, how[name])]);
  } catch (error) {
    await stop();
    throw error;
  }
  return { ...(Object.fromEntries(apps) as Record<Name, RunningApp>), stop };
}

/** Tells a child to stop, and kills it when it does not. */
export async function stopped({ child, exited, hasEnded }: RunningChild): Promise<void> {
  if (hasEnded) return;
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), stoppedWithinMs);
  await exited;
  clearTimeout(timer);
}

async function isReady(url: string): Promise<boolean> {
  try {
    const { status } = await fetch(new URL('/health/ready', url), { signal: AbortSignal.timeout(3000) });
    return status === 200;
  } catch {
    return false;
  }
}
