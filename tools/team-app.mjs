import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, relative, resolve } from 'node:path';
import { runStep } from './commands.mjs';
import { preparePackages } from './packages.mjs';
import { Problem } from './problem.mjs';

const packages = ['leaderboard', 'testing'];

/**
 * The app of a team in a folder: `main` is its program once it is compiled.
 * @typedef {{ folder: string, name: string, main: string }} TeamApp
 */

/**
 * Looks for the app of a team in a folder; builds nothing.
 * @param {string} path
 * @returns {TeamApp}
 * @throws Problem when there is none
 */
export function findTeamApp(path) {
  const folder = resolve(path);
  for (const file of ['package.json', 'tsconfig.json']) {
    if (existsSync(join(folder, file))) continue;
    throw new Problem(
      `${folder} holds no app: ${file} is missing. examples/team-app is one, docs/extending.md tells more.`,
    );
  }
  const { name = 'app', main } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  if (typeof main === 'string') return { folder, name, main: join(folder, main) };
  throw new Problem(`${join(folder, 'package.json')} does not say in "main" what to run.`);
}

/**
 * Compiles the app, as its tsconfig.json says.
 * @param {string} root
 * @param {TeamApp} app
 * @throws Problem when that is not possible
 */
export async function buildTeamApp(root, { folder, main }) {
  if (!relative(root, folder).startsWith('..')) await linkPackages(root, folder);
  if (placeOf(folder, '@laddercast/leaderboard/package.json') === null) {
    const packed = `npm run packages && npm install --prefix ${folder} ${join(root, 'dist/packages')}/*.tgz`;
    throw new Problem(`${folder} has no @laddercast/leaderboard in its node_modules. From here:\n    ${packed}`);
  }
  const compiler = placeOf(folder, 'typescript/bin/tsc') ?? join(root, 'node_modules/typescript/bin/tsc');
  await runStep(`Compiling ${folder} (tsc)`, process.execPath, [compiler, '-p', folder], { cwd: folder });
  if (existsSync(main)) return;
  throw new Problem(`${folder} compiles, but ${main} is not there: "main" of its package.json names it.`);
}

/** A folder of this checkout has the packages as they are here. */
async function linkPackages(root, folder) {
  await preparePackages(root);
  // One of them needs the other.
  for (const place of [folder, join(root, 'dist/packages')]) {
    const scope = join(place, 'node_modules/@laddercast');
    mkdirSync(scope, { recursive: true });
    for (const name of packages) {
      rmSync(join(scope, name), { recursive: true, force: true });
      symlinkSync(join(root, 'dist/packages', name), join(scope, name), 'junction');
    }
  }
}

/** Where something of a package is for the code of a folder; null: nowhere. */
function placeOf(folder, name) {
  try {
    return createRequire(join(folder, 'package.json')).resolve(name);
  } catch {
    return null;
  }
}
