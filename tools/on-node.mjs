// Runs a program of this repository on another release of Node than that of the PATH:
//   node tools/on-node.mjs 24 tools/test.mjs test/e2e/board-over-http.spec.ts
// The release comes from the npm registry (the packages of `node`), into .data/cache, and is looked for there first.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { projectRoot } from './build.mjs';
import { findOnPath, outputOf, runStep } from './commands.mjs';
import { dataDirectory } from './data-directory.mjs';
import { describeFailure, Problem } from './problem.mjs';
import { answerHelp } from './help.mjs';
import { step } from './progress.mjs';

/**
 * The program of a release of Node, fetched when it is not there.
 * @param release a major version, such as "24"
 * @throws Problem
 */
export async function nodeOf(
  release,
  { cacheDir, env = process.env, platform = process.platform, arch = process.arch },
) {
  if (!/^[1-9]\d$/.test(release))
    throw new Problem(`"${release}" is no release of Node: name its first number, such as 24.`);
  if (process.versions.node.startsWith(`${release}.`)) return process.execPath;
  const name = `node-${platform === 'win32' ? 'win' : platform}-${arch}`;
  const folder = join(cacheDir, `node-${release}`);
  const program = join(folder, 'node_modules', name, 'bin', platform === 'win32' ? 'node.exe' : 'node');
  if (!existsSync(program)) {
    const [npm] = findOnPath('npm', env);
    if (npm === undefined) throw new Problem(`npm is not on the PATH, and brings Node ${release}.`);
    mkdirSync(folder, { recursive: true });
    // The package `node` would fetch the same by a script; where scripts are off it brings nothing.
    const flags = ['--no-save', '--no-package-lock', '--ignore-scripts', '--no-audit', '--no-fund', '--prefix', folder];
    await runStep(`Fetching Node ${release} (npm: ${name})`, npm, ['install', ...flags, `${name}@${release}`], {
      cwd: folder,
      env,
      remedy: `Install Node ${release} by other means, and run the command with it.`,
    });
  }
  const version = outputOf(program, ['--version'])?.trim();
  if (!version?.startsWith(`v${release}.`))
    throw new Problem(`${program} does not run as Node ${release}; remove ${folder}.`);
  return program;
}

const usage = `Runs the tests on another release of Node, which comes from the npm registry.

  npm run test:node -- 24 tools/test.mjs [FILES]   the tests, or some of them, on Node 24
  npm run test:node -- --help                      this text`;

/** @param args those behind the release: the program to run, and its own */
async function main([release = '', ...args]) {
  // What is run may have a help of its own.
  answerHelp(usage, [release, ...args.slice(0, 2)]);
  const [script, ...rest] = args;
  if (script === undefined) throw new Problem(usage);
  const program = await nodeOf(release, { cacheDir: join(dataDirectory(projectRoot, process.env), 'cache') });
  step(`On Node ${outputOf(program, ['--version']).trim().slice(1)}`);
  const PATH = [dirname(program), process.env.PATH].join(delimiter);
  const child = spawn(program, [script, ...rest], {
    cwd: projectRoot,
    env: { ...process.env, PATH },
    stdio: 'inherit',
  });
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
  return new Promise((resolve) => child.once('exit', (code) => resolve(code ?? 1)));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    process.exitCode = await main(process.argv.slice(2));
  } catch (error) {
    console.error(describeFailure(error));
    process.exitCode = 1;
  }
}
