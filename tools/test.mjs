import { randomInt } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, statfsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { findChromium } from './browser.mjs';
import { prepare, projectRoot } from './build.mjs';
import { stopSteps } from './commands.mjs';
import { dataDirectory, makeDataDirectory } from './data-directory.mjs';
import { onInterruption } from './interruption.mjs';
import { answerHelp } from './help.mjs';
import { findKcat } from './kcat.mjs';
import { tryLock } from './lock.mjs';
import { requireNode } from './node-version.mjs';
import { describeFailure, Problem } from './problem.mjs';
import { step } from './progress.mjs';
import { RunningProcesses } from './running.mjs';
import { findKafka } from './services/kafka-jars.mjs';
import { startKafka } from './services/kafka.mjs';
import { removeDataDirectory } from './services/postgres-account.mjs';
import { startPostgres } from './services/postgres.mjs';
import { findRedisBinary } from './services/redis-binary.mjs';
import { startRedis } from './services/redis.mjs';
import { findSchemathesis } from './services/schemathesis.mjs';
import {
  errorsFileOf,
  failureLines,
  summarise,
  summariseBoth,
  summaryLine,
  worthAnotherLook,
} from './test-summary.mjs';

const help = `Runs the tests, on services that it starts for them and stops again.

  npm test                       all of them
  npm test -- libs/ledger        those of a folder, or whose path holds this
  npm test -- -t 'a name'        those of a name
  npm test -- --help             this text

A run of all tests, and each in CI, looks once more, alone, at up to ten failed files of those that run
processes or ask servers (tools, test/{browser,client,e2e,faults,integration,operation} and
test/property), with the same chances, and names the tests that passed then: what fails twice has failed. What else is given
goes to vitest. DATABASE_URL and REDIS_URL are used where they are set. REQUIRE_KAFKA=1, REQUIRE_BROWSER=1
and REQUIRE_SCHEMATHESIS=1 make a failure of what is left out otherwise. SEED=… repeats chances, SCHEMATHESIS_EXAMPLES=… and FUZZ_RUNS=… try more of them.`;

answerHelp(help);
const env = process.env;
/** What must be free for the data of a run to be kept in memory, its programs included. */
const memoryBytesMin = 8 * 1024 ** 3;
const sharedDir = dataDirectory(projectRoot, env);
/** Where the data of runs is. */
const runsDir = memoryDirectory() ?? sharedDir;
const dataDir = join(runsDir, `test-${process.pid}`);
/** Test files that run side by side: most of them wait most of the time. */
const workers = 3;
/**
 * No test ends the machine: what a killed PostgreSQL had handed to the system is there when it starts again, also where nothing
 * waited for a disk. What the service sets for itself, such as `synchronous_commit`, stays as it is.
 */
const quickPostgres = { fsync: 'off', full_page_writes: 'off', max_wal_size: '256MB' };
/** What random tests begin with, unless SEED says. */
const runSeed = randomInt(2 ** 31);
const reportFile = join(dataDir, 'report.json');
const againFile = join(dataDir, 'report-again.json');
let running = null;
let lock = null;
let ending = null;

/**
 * A folder in memory, where there is enough of that: a run makes and drops hundreds of databases of a thousand files each, and
 * some file systems take longer for a new file the more were removed a moment ago. null: none, or `DATA_DIR` says where.
 */
function memoryDirectory() {
  const mount = '/dev/shm';
  if (env.DATA_DIR || !existsSync(mount)) return null;
  const { bavail, bsize } = statfsSync(mount);
  if (Math.min(bavail * bsize, process.availableMemory()) < memoryBytesMin) return null;
  const folder = join(mount, `laddercast-${process.getuid()}`);
  // Everybody may make folders there.
  return existsSync(folder) && statSync(folder).uid !== process.getuid() ? null : folder;
}

function end(summary, failures = []) {
  ending ??= (async () => {
    let failure = null;
    try {
      await stopSteps();
      await running?.stopAll();
      lock?.release();
      removeDataDirectory(dataDir);
    } catch (error) {
      failure = error;
    }
    const lines = failure === null ? failures : [...failures, describeFailure(failure)];
    for (const line of lines) step(`Failed: ${line}`);
    const counts = failure === null ? summary : { ...summary, failed: summary.failed + 1 };
    console.log(summaryLine(counts));
    process.exit(counts.failed > 0 || counts.passed === 0 ? 1 : 0);
  })();
  return ending;
}

function fail(error) {
  if (ending !== null) return;
  console.error(`\n${describeFailure(error)}\n`);
  // What was running when it failed is one failure, beside what had been reported.
  void end({ passed: 0, failed: 1, skipped: 0 });
}

/** Removes what killed runs left: their processes first, then their data. */
async function removeLeftovers() {
  for (const dir of new Set([sharedDir, runsDir])) {
    for (const name of readdirSync(dir).filter((entry) => /^test-\d+$/.test(entry))) {
      const folder = join(dir, name);
      const claim = tryLock(join(folder, 'test.lock'));
      if (claim.release === undefined) continue;
      await new RunningProcesses(folder).stopLeftovers();
      removeDataDirectory(folder);
    }
  }
}

async function kafkaFor(context) {
  if (!env.KAFKA_BROKERS) {
    try {
      await findKafka(context.cacheDir, env);
    } catch (error) {
      if (env.REQUIRE_KAFKA === '1') throw new Problem(`REQUIRE_KAFKA=1, and there is no Kafka. ${error.message}`);
      step('Tests on Kafka are skipped:');
      console.log(error.message.replaceAll(/^/gm, '    '));
      return null;
    }
  }
  // Quick to start rather than quick for long: a third less of what it computes in a run.
  return startKafka({ ...context, javaFlags: ['-XX:TieredStopAtLevel=1'] });
}

function chromium() {
  const found = findChromium(env);
  if (found.command !== undefined) return found.command;
  if (env.REQUIRE_BROWSER === '1') throw new Problem(`REQUIRE_BROWSER=1, and there is no Chromium: ${found.missing}.`);
  step(`Tests in a browser are skipped: ${found.missing}`);
  return null;
}

function kcat() {
  const found = findKcat(env);
  if (found.command !== undefined) return found.command;
  if (env.REQUIRE_KAFKA === '1') throw new Problem(`REQUIRE_KAFKA=1, and there is no kcat: ${found.missing}.`);
  step(`Tests that write to Kafka with another client are skipped: ${found.missing}`);
  return null;
}

async function schemathesis({ root, cacheDir }) {
  const found = await findSchemathesis(root, cacheDir, env);
  if (found.command !== undefined) return found.command;
  if (env.REQUIRE_SCHEMATHESIS === '1') {
    throw new Problem(`REQUIRE_SCHEMATHESIS=1, and there is no schemathesis: ${found.missing}.`);
  }
  step(`The test that tries openapi.json against the service is skipped: ${found.missing}`);
  return null;
}

async function settings(context) {
  const browser = chromium();
  const foreignClient = kcat();
  const apiTester = await schemathesis(context);
  const postgres = await startPostgres(context, { connectionsMax: 100 * workers, more: quickPostgres });
  const redis = await startRedis(context);
  // Test files empty their Redis: each worker of vitest has one, or there is one worker.
  const others = [];
  for (let worker = 2; worker <= workers && !env.REDIS_URL; worker += 1) {
    others.push([`TEST_REDIS_URL_${worker}`, (await startRedis(context, `-${worker}`)).url]);
  }
  const redisBinary = redis.binary ?? (await findRedisBinary(context.cacheDir, env).catch(() => null))?.command;
  const kafka = await kafkaFor(context);
  const given = {
    TEST_DATABASE_URL: postgres.url,
    // On a server that goes with the run, databases are copies of one.
    TEST_DATABASE_MIGRATED: env.DATABASE_URL ? undefined : 'ladder_migrated',
    TEST_REDIS_URL: redis.url,
    ...Object.fromEntries(others),
    TEST_WORKERS: String(1 + others.length),
    TEST_REDIS_BINARY: redisBinary,
    TEST_KAFKA_BROKERS: kafka?.brokers,
    TEST_KCAT: foreignClient ?? undefined,
    TEST_CHROMIUM: browser ?? undefined,
    TEST_SCHEMATHESIS: apiTester ?? undefined,
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

async function runVitest(given, args, report) {
  const ofErrors = join(projectRoot, 'tools/errors-reporter.mjs');
  const reporters = ['--reporter=default', '--reporter=json', `--reporter=${ofErrors}`, `--outputFile.json=${report}`];
  // The services of these tests are those above, and not those that an installation may have set.
  const own = ['DATABASE_URL', 'REDIS_URL', 'KAFKA_BROKERS'];
  const rest = Object.fromEntries(Object.entries(env).filter(([name]) => !own.includes(name)));
  const vitest = await running.launch({
    name: 'vitest',
    command: process.execPath,
    args: [join(projectRoot, 'node_modules/vitest/vitest.mjs'), 'run', ...reporters, ...args],
    cwd: projectRoot,
    env: {
      ...rest,
      ...given,
      NODE_ENV: 'test',
      NODE_COMPILE_CACHE: join(dataDir, 'compiled'),
      TEST_MODULE_CACHE: join(dataDir, 'modules'),
      TEST_RUN_SEED: String(runSeed),
      ERRORS_FILE: errorsFileOf(report),
    },
    signals: [
      ['SIGTERM', 5_000],
      ['SIGKILL', 5_000],
    ],
    group: true,
    output: 'terminal',
    logPath: join(dataDir, 'vitest.log'),
    mayEnd: true,
  });
  return vitest.exited;
}

async function main() {
  requireNode(projectRoot);
  makeDataDirectory(sharedDir);
  makeDataDirectory(runsDir);
  await prepare(projectRoot);
  await removeLeftovers();
  makeDataDirectory(dataDir);
  lock = tryLock(join(dataDir, 'test.lock'));
  running = new RunningProcesses(dataDir, fail);
  const cacheDir = join(sharedDir, 'cache');
  mkdirSync(cacheDir, { recursive: true });
  const given = await settings({ root: projectRoot, dataDir, cacheDir, env, running });
  const args = process.argv.slice(2);
  step(`Running the tests${args.length > 0 ? ` (${args.join(' ')})` : ''}`);
  const { code, signal } = await runVitest(given, args, reportFile);
  if (ending !== null) return;
  if (!existsSync(reportFile)) step(`vitest wrote no report (${signal ?? `exit code ${code}`})`);
  const looksAgain = args.length === 0 || env.CI === 'true';
  const failed = looksAgain ? worthAnotherLook(reportFile, projectRoot) : [];
  if (failed.length > 0) return lookAgain(given, failed);
  await end(summarise(reportFile, code ?? 1), failureLines([reportFile], projectRoot, code ?? 1));
}

/** A machine that is busy elsewhere can fail what runs in processes: alone it has the machine for itself. */
async function lookAgain(given, files) {
  step(`Once more, alone: ${files.join(', ')}`);
  const { code } = await runVitest({ ...given, TEST_WORKERS: '1' }, files, againFile);
  if (ending !== null) return;
  const { passedAgain, ...counts } = summariseBoth(reportFile, againFile, code ?? 1);
  for (const name of passedAgain) step(`Failed at first, and passed alone: ${name}`);
  await end(counts, failureLines([reportFile, againFile], projectRoot, code ?? 1));
}

onInterruption((reason) => fail(new Problem(`${reason}: the tests were interrupted.`)));
try {
  await main();
} catch (error) {
  fail(error);
}
