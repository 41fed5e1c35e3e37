import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { alone, appSource, fingerprint, prepare, projectRoot, stepRecord } from './build.mjs';
import { runStep, stopSteps } from './commands.mjs';
import { answerHelp } from './help.mjs';
import { npmCommand } from './install.mjs';
import { onInterruption } from './interruption.mjs';
import { requireNode } from './node-version.mjs';
import { describeFailure } from './problem.mjs';
import { step } from './progress.mjs';

const help = `Makes the packages that teams install: @laddercast/leaderboard and @laddercast/testing.

  npm run packages               builds what is stale, and writes a tarball of each into dist/packages
  npm run packages -- --help     this text`;

/** What the packages are made from, beside what the apps are built from. */
const packageSource = { folders: ['tools'], files: [] };

/**
 * Makes the packages in dist/packages when they are stale; after `prepare`.
 * @param {string} root
 */
export async function preparePackages(root) {
  await alone(root, 'packages', async () => {
    const stamp = join(root, 'dist/packages/.built-from');
    const source = fingerprint(root, appSource) + fingerprint(root, packageSource);
    if (existsSync(stamp) && readFileSync(stamp, 'utf8') === source) return;
    rmSync(stamp, { force: true });
    const compiler = join(root, 'node_modules/typescript/bin/tsc');
    const args = [compiler, '-p', join(root, 'packages/tsconfig.json')];
    const how = { cwd: root, recordFile: stepRecord(root) };
    await runStep('Writing the declarations of the packages (tsc; half a minute or so)', process.execPath, args, how);
    step('Making the packages (rolldown, rollup; some seconds)');
    // Not before the dependencies are there.
    const { bundlePackages } = await import('./bundle-packages.mjs');
    await bundlePackages(root);
    writeFileSync(stamp, source);
  });
}

/**
 * Writes a tarball of each package, as npm would publish it.
 * @param {string} root
 * @param {string} folder where to
 */
export async function packPackages(root, folder = join(root, 'dist/packages')) {
  mkdirSync(folder, { recursive: true });
  const npm = npmCommand();
  const packages = ['leaderboard', 'testing'].map((name) => `./dist/packages/${name}`);
  const args = ['pack', ...packages, '--pack-destination', folder, '--loglevel=error'];
  await runStep('Packing (npm pack)', npm.command, [...npm.args, ...args], { cwd: root });
}

if (process.argv[1] !== undefined && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  answerHelp(help);
  onInterruption(() => void stopSteps().then(() => process.exit(130)));
  try {
    requireNode(projectRoot);
    await prepare(projectRoot);
    await preparePackages(projectRoot);
    await packPackages(projectRoot);
    step('Packed into dist/packages/');
  } catch (error) {
    console.error(describeFailure(error));
    process.exitCode = 1;
  }
}
