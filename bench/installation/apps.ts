import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { appMain } from '../../tools/build.mjs';
import { freePort } from '../../tools/ports.mjs';
import { apiProcesses, untilAllServe } from './api-processes.js';
import { sharedMs } from '../figures/live-figures.js';

const readyWithinMs = 60_000;
const stoppedWithinMs = 20_000;
const lookEveryMs = 5;
const outputKept = 4000;
/** What a benchmark runs besides ends with it, however it ends. */
const children = new Set();
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL');
});

/** Limits that one machine full of clients would meet: they stay on, and are high. */
export const highLimits = {
  SOCKETS_PER_ADDRESS_MAX: '20000',
  RATE_LIMIT_ADDRESS_PER_SECOND: '1000000',
  RATE_LIMIT_KEY_PER_SECOND: '1000000',
};

/** Runs a program of Node as a child that ends with this process, its output kept for messages. */
export function runNode(args, options = {}) {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'], ...options });
  children.add(child);
  const running = { pid: child.pid, child, output: '', hasEnded: false };
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk) => (running.output = (running.output + chunk).slice(-outputKept)));
  }
  running.exited = new Promise((resolve) =>
    child.once('exit', (code, signal) => {
      children.delete(child);
      running.hasEnded = true;
      resolve({ code, signal });
    }),
  );
  return running;
}

/**
 * Starts one app of the service beside the installation's own, with the same services and key; an api in as many processes
 * as that one.
 * @param app api, projector, gateway or standalone
 * @param {{ env?: object, nodeArgs?: string[] }} how settings and arguments of Node beside
 * @returns `{ url, pid, child, output, madeAtMs, readyAtMs, msToReady, stop() }` once GET /health/ready answers 200
 * @throws Error with the end of its output when it ends first, or is not ready within a minute
 */
export async function startApp({ installation, service }, app, { env = {}, nodeArgs = [] } = {}) {
  const port = await freePort();
  const several = await apiProcesses(app === 'api' ? (installation.apiCount ?? 1) : 1);
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
        EVENT_LOG: installation.log ?? 'postgres',
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
  return Object.assign(running, { app, url, madeAtMs, readyAtMs, msToReady, stop: () => stopped(running) });
}

/** The service in processes of its own, instead of the installation's; `stop` ends them. */
export async function startApps(context, names, how = {}) {
  await context.installation.stop();
  const apps = [];
  const stop = async () => {
    for (const app of apps.reverse()) await app.stop();
  };
  try {
    for (const name of names) apps.push(await startApp(context, name, how[name]));
  } catch (error) {
    await stop();
    throw error;
  }
  return { ...Object.fromEntries(apps.map((app) => [app.app, app])), stop };
}

/** Tells a child to stop, and kills it when it does not. */
export async function stopped({ child, exited, hasEnded }) {
  if (hasEnded) return;
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), stoppedWithinMs);
  await exited;
  clearTimeout(timer);
}

async function isReady(url) {
  try {
    const { status } = await fetch(new URL('/health/ready', url), { signal: AbortSignal.timeout(3000) });
    return status === 200;
  } catch {
    return false;
  }
}
