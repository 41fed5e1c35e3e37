import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { projectRoot } from './build.mjs';
import { runStep, stopSteps } from './commands.mjs';
import { answerHelp } from './help.mjs';
import { onInterruption } from './interruption.mjs';
import { requireNode } from './node-version.mjs';
import { describeFailure, Problem } from './problem.mjs';
import { step } from './progress.mjs';

const help = `Builds the client, clients/typescript/dist, and packs it.

  npm run client                    builds
  npm run client -- pack [FOLDER]   builds, and writes the package as it would be published into FOLDER (.data/client)
  npm run client -- --help          this text`;

const folder = 'clients/typescript';

/** Compiles the client into clients/typescript/dist: one file for each of its own, with types. */
export async function buildClient(root = projectRoot) {
  rmSync(join(root, folder, 'dist'), { recursive: true, force: true });
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  // What only Node has is compiled apart: the rest sees no types of Node.
  for (const config of ['tsconfig.json', 'tsconfig.node.json']) {
    const args = [tsc, '-p', join(root, folder, config)];
    await runStep(`Compiling the client (${config})`, process.execPath, args, { cwd: root });
  }
}

/**
 * Packs the client as it was built.
 * @param {string} into a folder, which is made
 * @returns {Promise<string>} the tarball
 */
export async function packClient(into, root = projectRoot) {
  mkdirSync(into, { recursive: true });
  const args = ['pack', '--silent', '--pack-destination', into];
  await runStep('Packing the client', 'npm', args, { cwd: join(root, folder) });
  const { version } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));
  const tarball = join(into, `laddercast-client-${version}.tgz`);
  if (!existsSync(tarball)) throw new Problem(`npm pack ended well, but ${tarball} is not there.`);
  return tarball;
}

/**
 * Everything that an entry of the client exports in one file, minified, as a page would load it.
 * @param {'index' | 'rest' | 'node'} entry
 * @returns {Promise<string>}
 */
export async function bundleClient(entry, root = projectRoot) {
  const bundled = await rolldown({
    input: join(root, folder, `src/${entry}.ts`),
    cwd: root,
    platform: entry === 'node' ? 'node' : 'browser',
    tsconfig: false,
    resolve: { extensionAlias: { '.js': ['.ts'] } },
  });
  try {
    const { output } = await bundled.generate({ format: 'esm', minify: true });
    if (output.length !== 1) throw new Problem(`The client's ${entry} is ${output.length} files.`);
    return output[0].code;
  } finally {
    await bundled.close();
  }
}

if (process.argv[1] !== undefined && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  answerHelp(help);
  onInterruption(() => void stopSteps().then(() => process.exit(130)));
  try {
    requireNode(projectRoot);
    await buildClient();
    const [what, into = join(projectRoot, '.data/client')] = process.argv.slice(2);
    if (what === 'pack') step(`Packed: ${await packClient(resolve(into))}`);
    else step('Built into clients/typescript/dist');
  } catch (error) {
    console.error(describeFailure(error));
    process.exitCode = 1;
  }
}
