import { findOnPath, outputOf } from './commands.mjs';
import { Problem } from './problem.mjs';

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

/**
 * A Chromium for the tests: the one of `CHROMIUM`, else one of the PATH.
 * @returns `{ command }`, or `{ missing }` with the reason and the cure
 * @throws Problem when `CHROMIUM` names one that does not run
 */
export function findChromium(env = process.env) {
  if (env.CHROMIUM) {
    if (outputOf(env.CHROMIUM, ['--version']) !== null) return { command: env.CHROMIUM };
    throw new Problem(`CHROMIUM is ${env.CHROMIUM}, which does not run. Correct it, or unset it to look on the PATH.`);
  }
  const command = names.flatMap((name) => findOnPath(name, env)).find((path) => outputOf(path, ['--version']) !== null);
  if (command !== undefined) return { command };
  return {
    missing: `none of ${names.join(', ')} is on the PATH; install one (apt-get install chromium) or set CHROMIUM`,
  };
}
