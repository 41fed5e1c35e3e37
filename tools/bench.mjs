import { mkdirSync } from 'node:fs';
import { cpus } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { cpuSecondsOf } from './bench/cpu.mjs';
import * as ranks from './bench/ranks.mjs';
import * as scopes from './bench/scopes.mjs';
import { prepare, projectRoot } from './build.mjs';
import { stopSteps } from './commands.mjs';
import { dataDirectory, makeDataDirectory } from './data-directory.mjs';
import { onInterruption } from './interruption.mjs';
import { requireNode } from './node-version.mjs';
import { describeFailure, Problem } from './problem.mjs';
import { step } from './progress.mjs';
import { RunningProcesses } from './running.mjs';
import { startKafka } from './services/kafka.mjs';
import { removeDataDirectory } from './services/postgres-account.mjs';
import { startPostgres } from './services/postgres.mjs';
import { startRedis } from './services/redis.mjs';
import { choosePorts, startStandalone } from './standalone.mjs';

const benchmarks = { scopes, ranks };
const help = `Measures the service on this machine, on services and data of its own.

${Object.entries(benchmarks)
  .map(([name, { description }]) => `  npm run bench -- ${name.padEnd(10)} ${description}`)
  .join('\n')}

  --kafka            with the log in Kafka instead of PostgreSQL
  --submissions <n>  scopes: how many submissions a round has
  --entries <n>      ranks: how many entries the board has (1000000)
  --reads <n>        ranks: how many reads each figure is of (2000)
  --layouts <names>  ranks: only some of ${Object.keys(ranks.layouts).join(',')}
  --json <file>      ranks: writes the figures there, too
`;

const sharedDir = dataDirectory(projectRoot, process.env);
const dataDir = join(sharedDir, `bench-${process.pid}`);
let running = null;
let ending = null;

function end(code) {
  ending ??= (async () => {
    await stopSteps();
    await running?.stopAll();
    removeDataDirectory(dataDir);
    process.exit(code);
  })();
  return ending;
}

function fail(error) {
  if (ending !== null) return;
  console.error(`\n${describeFailure(error)}\n`);
  void end(1);
}

/** How far the ranks are behind the ledger, in log positions, and which position was drawn last. */
function ledgerOf(pool) {
  const progress = `
    SELECT (SELECT last_value FROM ladder_position)::float8 AS drawn,
      coalesce(sum(greatest(0, o.newest - p.position)), 0)::float8 AS behind
    FROM (SELECT lane, max(position) AS newest FROM outbox WHERE topic = 'entry-changed' GROUP BY lane) AS o
    LEFT JOIN projected_positions AS p USING (lane)`;
  return { pool, progress: async () => (await pool.query(progress)).rows[0] };
}

function countOf(values, name) {
  if (values[name] === undefined) return undefined;
  const count = Number(values[name]);
  if (Number.isInteger(count) && count > 0) return count;
  throw new Problem(`--${name} must be a number such as 20000.`);
}

function layoutsOf({ layouts }) {
  const names = layouts?.split(',');
  const unknown = names?.find((name) => !Object.hasOwn(ranks.layouts, name));
  if (unknown !== undefined) {
    throw new Problem(`--layouts has no "${unknown}"; it has ${Object.keys(ranks.layouts).join(', ')}.`);
  }
  return names;
}

async function main() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      kafka: { type: 'boolean' },
      submissions: { type: 'string' },
      entries: { type: 'string' },
      reads: { type: 'string' },
      layouts: { type: 'string' },
      json: { type: 'string' },
      help: { type: 'boolean', short: 'h' },
    },
  });
  const benchmark = benchmarks[positionals[0]];
  if (values.help || benchmark === undefined) return console.log(help);
  const submissions = countOf(values, 'submissions');
  const [entries, reads] = ['entries', 'reads'].map((name) => countOf(values, name));
  const options = { entries, reads, wanted: layoutsOf(values), json: values.json && resolve(values.json) };
  requireNode(projectRoot);
  makeDataDirectory(sharedDir);
  await prepare(projectRoot);
  makeDataDirectory(dataDir);
  running = new RunningProcesses(dataDir, fail);
  const cacheDir = join(sharedDir, 'cache');
  mkdirSync(cacheDir, { recursive: true });
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, LOG_LEVEL: 'warn' };
  const context = { root: projectRoot, dataDir, cacheDir, env, running };
  const ports = await choosePorts(env);
  const postgres = await startPostgres(context);
  const redis = await startRedis(context);
  const kafka = values.kafka ? await startKafka(context) : null;
  const start = () => startStandalone(context, { ...ports, postgres, redis, kafka });
  let app = await start();
  const pids = () => [app.entry, postgres.process, redis.process, kafka?.process].filter(Boolean).map(({ pid }) => pid);
  const service = {
    url: app.url,
    key: app.adminKey,
    cpuSeconds: () => pids().reduce((sum, pid) => sum + cpuSecondsOf(pid), 0),
  };
  const installation = {
    root: projectRoot,
    redisUrl: redis.url,
    services: [postgres, redis].map(({ describe }) => describe.replace(/ on port.*/, '')).join(', '),
    command: `npm run bench -- ${process.argv.slice(2).join(' ')}`,
    stop: () => app.entry.stop(),
    start: async () => void (app = await start()),
  };
  const pool = new pg.Pool({ connectionString: postgres.url, max: 1 });
  // When something fails, PostgreSQL is stopped under it.
  pool.on('error', () => {});
  console.log(
    `\nNode ${process.versions.node}, ${cpus().length} × ${cpus()[0].model}, ${postgres.describe}, ${redis.describe}`,
  );
  const database = ledgerOf(pool);
  console.log(`\n${await benchmark.run({ service, installation, submissions, step, database, options })}\n`);
  await pool.end();
}

onInterruption(() => void end(130));
try {
  await main();
  await end(0);
} catch (error) {
  fail(error);
}
