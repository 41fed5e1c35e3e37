import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { prepare, projectRoot } from './build.mjs';
import { stopSteps } from './commands.mjs';
import { dataDirectory, makeDataDirectory } from './data-directory.mjs';
import { onInterruption } from './interruption.mjs';
import { tryLock } from './lock.mjs';
import { requireNode } from './node-version.mjs';
import { describeFailure, Problem } from './problem.mjs';
import { step } from './progress.mjs';
import { RunningProcesses } from './running.mjs';
import { startKafka } from './services/kafka.mjs';
import { startPostgres } from './services/postgres.mjs';
import { startRedis } from './services/redis.mjs';
import { choosePorts, startStandalone } from './standalone.mjs';
import { buildTeamApp, findTeamApp } from './team-app.mjs';

const help = `Starts Laddercast with everything it needs, until Ctrl-C.

  npm start                the log is kept in PostgreSQL
  npm start -- --kafka     the log is kept in Kafka
  npm start -- --app examples/team-app
                           builds and runs the app of a team (docs/extending.md), here or in any other folder
  npm start -- --help      this text

PostgreSQL, Redis or Valkey, and Kafka are those of DATABASE_URL, REDIS_URL and KAFKA_BROKERS where these are set;
else they are started here, with their data under DATA_DIR (.data). PORT is 3000, or the next free one when it is not
set. All settings: .env.example.`;

const env = process.env;
const dataDir = dataDirectory(projectRoot, env);
/** Where `npm run demo` finds the service while it runs. */
const addressFile = join(dataDir, 'address');
let running = null;
let lock = null;
let ending = null;

function end(exitCode) {
  ending ??= (async () => {
    let code = exitCode;
    try {
      if (lock !== null) rmSync(addressFile, { force: true });
      await stopSteps();
      await running?.stopAll();
    } catch (error) {
      console.error(describeFailure(error));
      code = 1;
    }
    lock?.release();
    process.exit(code);
  })();
  return ending;
}

function fail(error) {
  if (ending !== null) return;
  console.error(`\n${describeFailure(error)}\n`);
  void end(1);
}

function onInterrupt(reason) {
  if (ending !== null) return step('Stopping already; every part has its time limit');
  step(`${reason}: stopping what was started`);
  void end(0);
}

function takeLock() {
  const result = tryLock(join(dataDir, 'start.lock'));
  if (result.release !== undefined) return result;
  throw new Problem(
    `Laddercast is already running on ${dataDir} (npm start, pid ${result.holder}).\n` +
      'Stop that one with Ctrl-C, or start a second one on data of its own: DATA_DIR=.data/second npm start',
  );
}

async function main() {
  const { values } = parseArgs({
    options: { kafka: { type: 'boolean' }, app: { type: 'string' }, help: { type: 'boolean', short: 'h' } },
  });
  if (values.help) return console.log(help);
  requireNode(projectRoot);
  const teamApp = values.app === undefined ? null : findTeamApp(values.app);
  makeDataDirectory(dataDir);
  lock = takeLock();
  running = new RunningProcesses(dataDir, fail);
  await running.stopLeftovers();
  await prepare(projectRoot);
  if (teamApp !== null) await buildTeamApp(projectRoot, teamApp);
  const cacheDir = join(dataDir, 'cache');
  mkdirSync(cacheDir, { recursive: true });
  const context = { root: projectRoot, dataDir, cacheDir, env, running };
  const ports = await choosePorts(env);
  const withKafka = values.kafka || env.EVENT_LOG === 'kafka';
  // None of them needs another.
  const [postgres, redis, kafka] = await Promise.all([
    startPostgres(context),
    startRedis(context),
    withKafka ? startKafka(context) : null,
  ]);
  const app = await startStandalone(context, { ...ports, postgres, redis, kafka }, teamApp);
  writeFileSync(addressFile, `${app.url}\n`);
  for (const service of [postgres, redis, kafka]) if (service !== null) step(`  ${service.describe}`);
  step(`  logs and data: ${dataDir}`);
  step('Ready. Ctrl-C stops it.');
  console.log(`\nLive page: ${app.url}`);
  console.log(
    `Admin key (development): ${app.adminKeyFile === null ? 'the one of BOOTSTRAP_ADMIN_KEY' : app.adminKey}\n`,
  );
}

onInterruption(onInterrupt);
try {
  await main();
} catch (error) {
  if (String(error?.code).startsWith('ERR_PARSE_ARGS')) fail(new Problem(`${error.message}\n\n${help}`));
  else fail(error);
}
