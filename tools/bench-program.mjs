import { pathToFileURL } from 'node:url';
import { benchProgram, prepareBench, projectRoot } from './build.mjs';
import { requireNode } from './node-version.mjs';
import { describeFailure } from './problem.mjs';

/**
 * Runs a command of bench/ in this process. Help begins nothing that it would have to tell of.
 * @param {'bench' | 'profile'} name
 */
export async function runBenchProgram(name) {
  const isQuiet = process.argv.includes('--help') || process.argv.includes('-h');
  try {
    requireNode(projectRoot);
    await prepareBench(projectRoot, { isQuiet });
  } catch (error) {
    console.error(describeFailure(error));
    process.exit(1);
  }
  process.setSourceMapsEnabled(true);
  await import(pathToFileURL(benchProgram(name)).href);
}
