import { mkdirSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { count, someOf } from './command-line/arguments.js';
import { Ending } from './command-line/ending.js';
import { tableOf } from './figures/figures.js';
import { GameLoad } from './games/game-load.js';
import { shapes } from './games/shapes.js';
import { Inspector } from './profiles/inspector.js';
import type { Log, Measuring } from './installation/context.js';
import { freePorts } from './installation/api-processes.js';
import { startInstallation } from './installation/installation.js';
import { makeLargeBoard, type LargeBoard } from './boards/large-board.js';
import { loadReads, shortNames, type ReadContext } from './parts/reads.js';
import type { Profile } from './profiles/profile-format.js';
import { functionOf, packageOf, selfTimes, type SelfTimes } from './profiles/self-time.js';
import { countingStatements, forgetStatements, topStatements, type Statement } from './profiles/statements.js';
import { unbundled } from './profiles/unbundled.js';
import { WriteLoad, type WriteContext } from './writes/writes.js';
import { prepare, projectRoot } from '../tools/build.mjs';
import { dataDirectory, makeDataDirectory } from '../tools/data-directory.mjs';
import { onInterruption } from '../tools/interruption.mjs';
import { freePort } from '../tools/ports.mjs';
import { step } from '../tools/progress.mjs';

type LoadContext = WriteContext & ReadContext & Measuring;

const defaults = { players: 20_000, improving: 50 };
const statementsMax = 15;
const statementLength = 110;
/** What was done a second. */
type Load = (seconds: number) => Promise<{ perSecond: number }>;

/** What loads, by its name on the command line. */
const loads: Record<string, (context: LoadContext, board: LargeBoard) => Load | Promise<Load>> = {
  submit: (context, board) => writes(context, board, 0),
  batch: (context, board) => writes(context, board, 100),
  games: (context) => games(context),
  ...Object.fromEntries(
    [...shortNames].map(([short, question]) => [
      short,
      (context: LoadContext, board: LargeBoard): Load =>
        (seconds) =>
          loadReads(context, board, question, { seconds }),
    ]),
  ),
};
const help = `Writes CPU profiles of the api and of the projector under load into .data/profiles (open them in the
developer tools of Chromium or VS Code), and prints what takes the time there and in PostgreSQL.

  npm run profile                    under ${Object.keys(loads).join(', ')}
  npm run profile -- submit exact    under some of them

  --seconds <n>    how long each is loaded (10)
  --entries <n>    how many entries the board has (1000000)
  --shards <n>     how many shards it has (1)
  --rows <n>       how many functions are printed (25)
  --windows <…>    its windows (alltime)
  --connections <n>    how many connections load it (64)
  --api-processes <n>  how many processes the api is: the profile is of the first of them (1)
  --kafka          with the log in Kafka
`;

const sharedDir = dataDirectory(projectRoot, process.env);
const runDir = join(sharedDir, `profile-${process.pid}`);
const profileDir = join(sharedDir, 'profiles');
const ending = new Ending(runDir);

function writes(context: LoadContext, board: LargeBoard, batch: number): Load {
  const load = new WriteLoad(context, board, batch);
  return (seconds) => load.run({ seconds });
}

/** Games of two, up to the entries of the board that their pool feeds. */
async function games(context: LoadContext): Promise<Load> {
  const { players, connections } = context.options;
  const load = await GameLoad.make(context, shapes['1v1'], { pools: 1, players, connections });
  return async (seconds) => ({ perSecond: (await load.run({ seconds })).shownPerSecond });
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      seconds: { type: 'string' },
      entries: { type: 'string' },
      shards: { type: 'string' },
      rows: { type: 'string' },
      kafka: { type: 'boolean' },
      windows: { type: 'string' },
      connections: { type: 'string' },
      'api-processes': { type: 'string' },
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.help) return console.log(help);
  const { seconds = '10', entries = '1000000', shards = '1', rows = '25', windows, kafka = false } = values;
  const sizes = {
    seconds: count(seconds, 'seconds'),
    entries: count(entries, 'entries'),
    shards: count(shards, 'shards'),
    rows: count(rows, 'rows'),
    apiCount: count(values['api-processes'] ?? '1', 'api-processes'),
    connections: count(values.connections ?? '64', 'connections'),
    windows: windows?.split(',') ?? ['alltime'],
  };
  const wanted = positionals.length === 0 ? Object.keys(loads) : someOf(Object.keys(loads))(positionals.join(), 'load');
  makeDataDirectory(sharedDir);
  await prepare(projectRoot);
  for (const folder of [runDir, profileDir]) makeDataDirectory(folder);
  await profile(wanted, sizes, kafka ? 'kafka' : 'postgres');
}

interface Sizes {
  seconds: number;
  entries: number;
  shards: number;
  /** How many functions are printed. */
  rows: number;
  apiCount: number;
  connections: number;
  windows: string[];
}

async function profile(wanted: readonly string[], sizes: Sizes, log: Log): Promise<void> {
  const { seconds, entries, shards, rows, apiCount, connections, windows } = sizes;
  const inspectable = { api: await freePorts(1 + apiCount), projector: await freePort() };
  const inspected = Object.entries(inspectable).map(([name, port]) => [name, [`--inspect=127.0.0.1:${port}`]]);
  // Where the api is several, the one that was started only keeps them; each that it starts takes the next port.
  const ports = { ...inspectable, ...(apiCount > 1 && { api: inspectable.api + 1 }) };
  const installation = await startInstallation({
    ...{ root: projectRoot, cacheDir: join(sharedDir, 'cache'), dataDir: join(runDir, '1'), log, apps: 'apart' },
    ...{ command: 'npm run profile', apiCount },
    nodeOptions: Object.fromEntries(inspected),
    postgresSettings: countingStatements,
    onDeath: (error) => ending.fail(error),
    onRunning: (processes) => (ending.running = processes),
  });
  const context = {
    ...installation,
    step,
    options: { ...defaults, connections, players: Math.min(defaults.players, entries), entries },
  };
  const definition = { windows, ...(shards > 1 && { sharding: { by: 'hash', count: shards } }) };
  const board = await makeLargeBoard(context, { entries, definition });
  // Submissions last: reads are checked against what the board was filled with.
  for (const [name, loadOf] of Object.entries(loads).reverse()) {
    if (!wanted.includes(name)) continue;
    const load = await loadOf(context, board);
    step(`Warming up: ${name}`);
    await load(seconds);
    const inspectors = await Promise.all(Object.values(ports).map((port) => Inspector.open(port)));
    step(`Profiling: ${name}`);
    await Promise.all(inspectors.map((inspector) => inspector.start()));
    await forgetStatements(context.database.pool);
    const { perSecond } = await load(seconds);
    const statements = await topStatements(context.database.pool, statementsMax);
    const profiles = await Promise.all(inspectors.map((inspector) => inspector.stop()));
    for (const inspector of inspectors) inspector.close();
    console.log(`\n## ${name}: ${perSecond.toFixed(0)}/s while profiled`);
    Object.keys(ports).forEach((process, index) => report(name, process, profiles[index]!, rows));
    reportStatements(statements, perSecond * seconds);
  }
  await installation.end();
}

function report(name: string, process: string, found: Profile, rowsMax: number): void {
  const file = join(profileDir, `${new Date().toISOString().replace(/[:.]/g, '-')}-${name}-${process}.cpuprofile`);
  mkdirSync(profileDir, { recursive: true });
  writeFileSync(file, JSON.stringify(found));
  const placed = unbundled(found);
  const byFunction = selfTimes(placed, functionOf(projectRoot));
  const byPackage = selfTimes(placed, packageOf(projectRoot));
  const percent = (part: number): string => `${(100 * part).toFixed(1)} %`;
  const busy = percent(byFunction.busyMs / (byFunction.busyMs + byFunction.idleMs));
  const cells = ({ rows }: SelfTimes, max: number): string[][] =>
    rows.slice(0, max).map((row) => [row.name, row.ms.toFixed(0), percent(row.part)]);
  console.log(`\n${name}, ${process}: busy ${busy} of the time; ${relative(projectRoot, file)}\n`);
  console.log(tableOf(['by package', 'ms', 'of busy'], cells(byPackage, 15)));
  console.log(`\n${tableOf(['self time', 'ms', 'of busy'], cells(byFunction, rowsMax))}`);
}

function reportStatements(statements: readonly Statement[], count: number): void {
  const shorter = (text: string): string =>
    text.length > statementLength ? `${text.slice(0, statementLength)}…` : text;
  const rows = statements.map(({ text, calls, planMs, runMs }) => [
    shorter(text.replaceAll('|', '\\|')),
    calls.toFixed(0),
    (calls / count).toFixed(3),
    ((1000 * planMs) / count).toFixed(1),
    ((1000 * runMs) / count).toFixed(1),
  ]);
  console.log(
    `\n${tableOf(['statements of PostgreSQL', 'calls', 'calls, each', 'planning, µs each', 'running, µs each'], rows)}`,
  );
}

onInterruption(() => void ending.end(130));
try {
  await main();
  await ending.end(0);
} catch (error) {
  ending.fail(error);
}
