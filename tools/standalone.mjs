import { join } from 'node:path';
import { appMain } from './build.mjs';
import { keptSecret } from './data-directory.mjs';
import { freePort, isPortFree, keepPort, nextFreePort } from './ports.mjs';
import { Problem } from './problem.mjs';
import { step } from './progress.mjs';
import { waitUntilReady } from './running.mjs';

const readyWaitMs = 300_000;
const probeTimeoutMs = 3_000;
const defaultPort = 3000;
const defaultMetricsPort = 9464;
/** @type {import('./process-identity.mjs').StopSignal[]} */
const stopSignals = [
  ['SIGTERM', 10_000],
  ['SIGKILL', 5_000],
];

/**
 * @typedef {object} AppServices what an app is started on
 * @property {number} port
 * @property {number} metricsPort
 * @property {{ url: string }} postgres
 * @property {{ url: string }} redis
 * @property {{ brokers: string } | null} kafka
 */

/**
 * The ports of REST and page, and of metrics: those of the environment, else free ones.
 * @param {Record<string, string | undefined>} env
 * @throws Problem
 */
export async function choosePorts(env) {
  const port = await choosePort('PORT', env.PORT, defaultPort);
  const metricsPort = await choosePort('METRICS_PORT', env.METRICS_PORT, defaultMetricsPort, [port]);
  for (const chosen of [port, metricsPort]) keepPort(chosen);
  return { port, metricsPort };
}

/**
 * Starts the service in one process and waits until it is ready.
 * @param {Omit<import('./running.mjs').StartContext, 'cacheDir'>} context
 * @param {AppServices} services
 * @param {{ name: string, main: string } | null} teamApp a team's program, in place of ours
 * @returns `{ url, adminKey, adminKeyFile, entry }`; `adminKeyFile` is null for a key of the environment
 * @throws Problem
 */
export async function startStandalone(context, services, teamApp = null) {
  const name = teamApp?.name ?? 'Laddercast';
  step(`Starting ${name} on port ${services.port}`);
  return startApp(context, services, { app: 'standalone', name, ...(teamApp !== null && { main: teamApp.main }) });
}

/**
 * Starts one app of the service and waits until it is ready; apps on the same data directory have the same keys.
 * @param {Omit<import('./running.mjs').StartContext, 'cacheDir'>} context
 * @param {AppServices} services
 * @param {{ app: string, name: string, nodeOptions?: string[], main?: string }} which `app`: its folder in apps/, by whose name its
 *   log is called; `main`: its program, where that is not ours
 * @returns as `startStandalone`
 * @throws Problem
 */
export async function startApp(
  { root, dataDir, env, running },
  services,
  { app, name, nodeOptions = [], main = appMain(app, root) },
) {
  const { port, metricsPort, postgres, redis, kafka } = services;
  const adminKeyFile = join(dataDir, 'admin-key');
  const adminKey = env.BOOTSTRAP_ADMIN_KEY || keptSecret(adminKeyFile);
  const entry = await running.launch({
    name,
    command: process.execPath,
    args: ['--max-semi-space-size=32', '--enable-source-maps', ...nodeOptions, main],
    cwd: root,
    env: {
      ...env,
      PORT: String(port),
      METRICS_PORT: String(metricsPort),
      DATABASE_URL: postgres.url,
      REDIS_URL: redis.url,
      EVENT_LOG: kafka === null ? 'postgres' : 'kafka',
      ...(kafka === null ? {} : { KAFKA_BROKERS: kafka.brokers }),
      DATA_DIR: dataDir,
      BOOTSTRAP_ADMIN_KEY: adminKey,
      JWT_SECRET: env.JWT_SECRET || keptSecret(join(dataDir, 'jwt-secret')),
    },
    signals: stopSignals,
    logPath: join(dataDir, `${app}.log`),
  });
  const { HOST = '' } = env;
  const host = ['', '0.0.0.0', '::'].includes(HOST) ? '127.0.0.1' : HOST;
  let missing = 'it does not answer yet';
  const check = async () => {
    const found = await notReady(`http://${host.includes(':') ? `[${host}]` : host}:${port}/health/ready`);
    missing = found ?? missing;
    return found === null;
  };
  await waitUntilReady(entry, check, readyWaitMs, () => `waiting for ${name} to be ready: ${missing}`);
  return {
    url: `http://localhost:${port}/`,
    adminKey,
    adminKeyFile: env.BOOTSTRAP_ADMIN_KEY ? null : adminKeyFile,
    entry,
  };
}

/**
 * A port that was asked for is taken or refused; only the default one gives way to the next.
 * @param {string} variable
 * @param {string | undefined} asked
 * @param {number} byDefault
 * @param {number[]} taken
 */
async function choosePort(variable, asked, byDefault, taken = []) {
  if (asked) {
    const port = Number(asked);
    if (!/^\d+$/.test(asked) || port > 65_535) {
      throw new Problem(`${variable} is "${asked}", which is not a port (1 to 65535, or 0 for any that is free).`);
    }
    if (port === 0) return freePort();
    if (taken.includes(port))
      throw new Problem(`${variable} is ${port}, and so is PORT: they need two different ports.`);
    if (await isPortFree(port)) return port;
    throw new Problem(
      `Port ${port} of ${variable} is in use by another program. Stop that one, or set ${variable} to another port.`,
    );
  }
  const port = await nextFreePort(byDefault, taken);
  if (port === null)
    throw new Problem(`No port from ${byDefault} to ${byDefault + 99} is free. Set ${variable} to one that is.`);
  if (port !== byDefault) step(`Port ${byDefault} is in use by another program, so ${variable} is ${port}`);
  return port;
}

/** @param {string} url */
async function notReady(url) {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(probeTimeoutMs) });
    const body = await response.text();
    return response.status === 200 ? null : reasonOf(body, response.status);
  } catch {
    return 'it does not answer yet';
  }
}

/**
 * What `/health/ready` says is missing, and why where it knows.
 * @param {string} body
 * @param {number} status
 */
export function reasonOf(body, status) {
  try {
    const { missing, components } = JSON.parse(body);
    if (missing.length > 0)
      return missing.map((/** @type {string} */ name) => components[name].reason ?? `${name} is missing`).join('; ');
  } catch {
    // Something else listens there.
  }
  return `${status} ${body.replace(/\s+/g, ' ').slice(0, 300)}`;
}
