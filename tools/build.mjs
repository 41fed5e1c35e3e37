import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runStep, stopRecordedStep, stopSteps } from './commands.mjs';
import { answerHelp } from './help.mjs';
import { installWhenStale } from './install.mjs';
import { onInterruption } from './interruption.mjs';
import { waitForLock } from './lock.mjs';
import { requireNode } from './node-version.mjs';
import { describeFailure, Problem } from './problem.mjs';
import { step } from './progress.mjs';

/** What the apps are built from. */
export const appSource = {
  folders: ['apps', 'libs', 'packages', 'examples', 'clients/typescript/src'],
  files: [
    ...['tsconfig.json', 'nest-cli.json', 'package.json', 'package-lock.json'],
    ...['tools/build.mjs', 'tools/bundle.mjs', 'tools/client.mjs'],
  ],
};
const benchSource = { folders: ['bench'], files: ['package-lock.json', 'tools/build.mjs', 'tools/bundle-bench.mjs'] };
const lockWaitMs = 15 * 60_000;

/** The top folder of the project. */
export const projectRoot = resolve(dirname(fileURLToPath(import.meta.url)), '..');

const bundler = join(projectRoot, 'tools/bundle.mjs');

/**
 * The program of one app, such as `api`, after the build: with all that it imports (tools/bundle.mjs).
 * @param {string} app
 */
export function appMain(app, root = projectRoot) {
  return join(root, `dist/bundle/${app}.js`);
}

/** The program that `npm start` runs. */
export function standaloneMain(root = projectRoot) {
  return appMain('standalone', root);
}

/**
 * A program of bench/, such as `bench`, once `prepareBench` has made it.
 * @param {string} name
 */
export function benchProgram(name, root = projectRoot) {
  return join(root, `dist/bench/${name}.js`);
}

/** Whether something that the build reads was added, changed or removed since the last build that succeeded. */
export function isStale(root = projectRoot) {
  const stamp = stampFile(root);
  if (!existsSync(stamp) || !existsSync(standaloneMain(root))) return true;
  return readFileSync(stamp, 'utf8') !== fingerprint(root, appSource);
}

/**
 * Builds all apps and libs into dist/, with the files that are not TypeScript in their places; the apps, each with what it
 * imports, into dist/bundle/; and beside the live page the client as one module, which it imports.
 */
export async function build(root = projectRoot) {
  const before = fingerprint(root, appSource);
  rmSync(stampFile(root), { force: true });
  const nest = join(root, 'node_modules/@nestjs/cli/bin/nest.js');
  await runStep('Building (nest build; half a minute or so)', process.execPath, [nest, 'build', 'standalone'], {
    cwd: root,
    recordFile: stepRecord(root),
  });
  // A file of the page that is no more would be served for ever.
  rmSync(join(root, 'dist/apps/standalone/public'), { recursive: true, force: true });
  for (const file of assets(root)) {
    const target = join(root, 'dist', file);
    mkdirSync(dirname(target), { recursive: true });
    copyFileSync(join(root, file), target);
  }
  await runStep('Bundling the apps (rolldown; a second or two)', process.execPath, [bundler, root], {
    cwd: root,
    recordFile: stepRecord(root),
  });
  if (!existsSync(standaloneMain(root))) {
    throw new Problem(`The build ended well, but ${relative(root, standaloneMain(root))} is not there.`);
  }
  // The state from before the build: what was saved while it ran makes the next one necessary.
  writeFileSync(stampFile(root), before);
}

/** Installs the dependencies and builds, each when stale; one process at a time does so in a checkout. */
export async function prepare(root = projectRoot, { force = false } = {}) {
  await alone(root, 'build', async () => {
    await stopRecordedStep(stepRecord(root));
    await installWhenStale(root, stepRecord(root));
    if (force || isStale(root)) await build(root);
  });
}

/**
 * Bundles the programs of bench/ into dist/bench when they are stale.
 * @param {string} root
 * @param {{ isQuiet?: boolean }} [how] `isQuiet`: installs nothing before, and says nothing
 */
export async function prepareBench(root = projectRoot, { isQuiet = false } = {}) {
  if (!isQuiet) await alone(root, 'build', () => installWhenStale(root, stepRecord(root)));
  await alone(root, 'bench', async () => {
    const stamp = join(root, 'dist/bench/.built-from');
    const source = fingerprint(root, benchSource);
    if (existsSync(stamp) && readFileSync(stamp, 'utf8') === source) return;
    if (!isQuiet) step('Bundling the benchmark (rolldown; a second or two)');
    // Not before the packages are there.
    const { bundleBench } = await import('./bundle-bench.mjs');
    await bundleBench(root);
    writeFileSync(stamp, source);
  });
}

/**
 * Does the work when nobody else does the same in this checkout.
 * @param {string} root
 * @param {'build' | 'bench' | 'packages'} name
 * @param {() => Promise<unknown>} work
 */
export async function alone(root, name, work) {
  const lock = await waitForLock(join(root, `.data/${name}.lock`), lockWaitMs, (pid) =>
    step(`Waiting for another build in this folder (pid ${pid})`),
  );
  if (lock.release === undefined)
    throw new Problem(`Another build has been running for too long here (pid ${lock.holder}).`);
  try {
    await work();
  } finally {
    lock.release();
  }
}

/**
 * Where a step that runs is recorded, so that the next build stops what a killed one left.
 * @param {string} root
 */
export function stepRecord(root) {
  mkdirSync(join(root, '.data'), { recursive: true });
  return join(root, '.data/step.json');
}

/** @param {string} root */
function stampFile(root) {
  return join(root, 'dist/.built-from');
}

/** @param {string} root */
function assets(root) {
  const scripts = filesUnder(join(root, 'libs')).filter((path) => path.endsWith('.lua'));
  const pages = filesUnder(join(root, 'apps')).filter((path) => /^apps\/[^/]+\/public\//.test(relative(root, path)));
  return [...scripts, ...pages].map((path) => relative(root, path));
}

/**
 * Another text where a file of the source was added, changed or removed.
 * @param {string} root
 * @param {{ folders: string[], files: string[] }} source
 */
export function fingerprint(root, { folders, files }) {
  const hash = createHash('sha256');
  const paths = [
    ...folders.flatMap((folder) => filesUnder(join(root, folder))),
    ...files.map((file) => join(root, file)),
  ];
  for (const path of paths.filter((file) => existsSync(file)).sort()) {
    const { size, mtimeMs } = statSync(path);
    hash.update(`${relative(root, path)}\0${size}\0${mtimeMs}\n`);
  }
  return hash.digest('hex');
}

/**
 * The files of a folder, without what was built or installed there.
 * @param {string} folder
 * @returns {string[]}
 */
function filesUnder(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (['node_modules', 'dist'].includes(entry.name)) return [];
    const path = join(folder, entry.name);
    return entry.isDirectory() ? filesUnder(path) : [path];
  });
}

const help = `Builds everything into dist/, and the apps, each with what it imports, into dist/bundle/; the live page gets the client as
one module. The dependencies are installed where they are not those of the lock file.

  npm run build                builds, also when nothing has changed
  npm run build -- --help      this text`;

if (process.argv[1] !== undefined && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  answerHelp(help);
  onInterruption(() => void stopSteps().then(() => process.exit(130)));
  try {
    requireNode(projectRoot);
    await prepare(projectRoot, { force: true });
    step('Built into dist/');
  } catch (error) {
    console.error(describeFailure(error));
    process.exitCode = 1;
  }
}
