import { mkdirSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { cpuSecondsOf } from './bench/cpu.mjs';
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

const benchmarks = { scopes };
const help = `Measures the service on this machine, on services and data of its own.

${Object.entries(benchmarks)
  .map(([name, { description }]) => `  npm run bench -- ${name.padEnd(10)} ${description}`)
  .join('\n')}

  --kafka            with the log in Kafka instead of PostgreSQL
  --submissions <n>  how many submissions a round has
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
  return { progress: async () => (await pool.query(progress)).rows[0] };
}

async function main() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { kafka: { type: 'boolean' }, submissions: { type: 'string' }, help: { type: 'boolean', short: 'h' } },
  });
  const benchmark = benchmarks[positionals[0]];
  if (values.help || benchmark === undefined) return console.log(help);
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
  const app = await startStandalone(context, { ...ports, postgres, redis, kafka });
  const pids = [app.entry, postgres.process, redis.process, kafka?.process].filter(Boolean).map(({ pid }) => pid);
  const service = {
    url: app.url,
    key: app.adminKey,
    cpuSeconds: () => pids.reduce((sum, pid) => sum + cpuSecondsOf(pid), 0),
  };
  const submissions = values.submissions === undefined ? undefined : Number(values.submissions);
  if (submissions !== undefined && !(Number.isInteger(submissions) && submissions > 0)) {
    throw new Problem('--submissions must be a number such as 20000.');
  }
  const pool = new pg.Pool({ connectionString: postgres.url, max: 1 });
  console.log(
    `\nNode ${process.versions.node}, ${cpus().length} × ${cpus()[0].model}, ${postgres.describe}, ${redis.describe}`,
  );
  console.log(`\n${await benchmark.run({ service, submissions, step, database: ledgerOf(pool) })}\n`);
  await pool.end();
}

onInterruption(() => void end(130));
try {
  await main();
  await end(0);
} catch (error) {
  fail(error);
}
