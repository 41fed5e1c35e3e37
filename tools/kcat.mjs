import { findOnPath, outputOf } from './commands.mjs';
import { Problem } from './problem.mjs';

/**
 * A kcat for the tests, a Kafka client that is not ours: the one of `KCAT`, else the one of the PATH.
 * @returns `{ command }`, or `{ missing }` with the reason and the cure
 * @throws Problem when `KCAT` names one that does not run
 */
export function findKcat(env = process.env) {
  if (env.KCAT) {
    if (outputOf(env.KCAT, ['-V']) !== null) return { command: env.KCAT };
    throw new Problem(`KCAT is ${env.KCAT}, which does not run. Correct it, or unset it to look on the PATH.`);
  }
  const command = findOnPath('kcat', env).find((path) => outputOf(path, ['-V']) !== null);
  if (command !== undefined) return { command };
  return { missing: 'kcat is not on the PATH; install it (apt-get install kcat) or set KCAT' };
}
