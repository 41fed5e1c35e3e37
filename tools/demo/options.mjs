import { parseArgs } from 'node:util';
import { dataDirectory } from '../data-directory.mjs';
import { Problem } from '../problem.mjs';
import { textIn } from './kept.mjs';
import { namedReplay, newReplay } from './replay-id.mjs';

const DEFAULT_URL = 'http://127.0.0.1:3000';
const DEFAULT_MATCHES_PER_SECOND = 400;
const DEFAULT_SECONDS = 60;
const SECONDS_MAX = 3600;
const DEFAULT_SEED = 1;
const SEED_MAX = 2 ** 31;
const OF_FOOTBALL = ['speed', 'limit', 'replay', 'board', 'keep'];
const OF_PATCHES = ['seconds', 'seed'];

export const usage = `Usage: npm run demo -- [options]

Replays the football internationals of 1872-1999 through the API: three points for a win, one for a draw.
Beside the points a rating pool computes World Football Elo.

  --speed <n>     matches a second, or "max" (default ${DEFAULT_MATCHES_PER_SECOND}: about a minute)
  --limit <n>     only the first n matches
  --replay <id>   goes on with, or repeats, the replay of that id: what it has counted counts once (default: a new one)
  --board <id>    the board to fill (default football)
  --keep          a new replay adds to what the board shows; without it the board is emptied first
  --patches       instead of football: boards that tax runs of older patches, runs that a generator makes, and a patch that
                  is published while one watches; with
  --seconds <n>   how long runs come in, up to ${SECONDS_MAX} (default ${DEFAULT_SECONDS}; the patch comes after a third of it, 15 s at most)
  --seed <n>      another seed makes other runs (default ${DEFAULT_SEED})
  --url <url>     where the service is (default: LADDER_URL, else what npm start is running, else ${DEFAULT_URL})

The key is LADDER_KEY or BOOTSTRAP_ADMIN_KEY, else the development key that npm start keeps in .data/admin-key.`;

/**
 * What was asked for on the command line, checked.
 * @returns `{ help, matchesPerSecond, limit, replay: { id, startsAtMs, isNew }, board, keep, patches, seconds, seed, url, key }`;
 *   times are Unix milliseconds, `matchesPerSecond` may be Infinity
 * @throws Problem naming the option that is wrong
 */
export function readOptions(args, { root, env = process.env, nowMs = Date.now() }) {
  const values = parse(args);
  const dataDir = dataDirectory(root, env);
  refuseTogether(values);
  return {
    help: values.help === true,
    matchesPerSecond: values.speed === 'max' ? Infinity : positive('--speed', values.speed, DEFAULT_MATCHES_PER_SECOND),
    limit: Math.floor(positive('--limit', values.limit, Infinity)),
    replay: values.replay === undefined ? newReplay(nowMs) : namedReplay(values.replay, { dataDir, nowMs }),
    board: values.board ?? 'football',
    keep: values.keep === true,
    patches: values.patches === true,
    seconds: whole('--seconds', values.seconds, DEFAULT_SECONDS, SECONDS_MAX),
    seed: whole('--seed', values.seed, DEFAULT_SEED, SEED_MAX),
    url: values.url ?? env.LADDER_URL ?? textIn(dataDir, 'address') ?? DEFAULT_URL,
    key: env.LADDER_KEY || env.BOOTSTRAP_ADMIN_KEY || textIn(dataDir, 'admin-key') || null,
  };
}

function parse(args) {
  const text = { type: 'string' };
  const flag = { type: 'boolean' };
  const options = {
    speed: text,
    limit: text,
    replay: text,
    board: text,
    url: text,
    seconds: text,
    seed: text,
    keep: flag,
    patches: flag,
    help: { ...flag, short: 'h' },
  };
  try {
    return parseArgs({ args, options }).values;
  } catch (error) {
    throw new Problem(`${error.message}\n\n${usage}`);
  }
}

function refuseTogether(values) {
  const [wrong] = (values.patches ? OF_FOOTBALL : OF_PATCHES).filter((name) => values[name] !== undefined);
  if (wrong === undefined) return;
  throw new Problem(`--${wrong} does not go ${values.patches ? 'with' : 'without'} --patches.`);
}

function whole(name, text, byDefault, max) {
  if (text === undefined) return byDefault;
  const value = Number(text);
  if (Number.isInteger(value) && value >= 1 && value <= max) return value;
  throw new Problem(`${name} is "${text}"; it must be a whole number from 1 to ${max}.`);
}

function positive(name, text, byDefault) {
  if (text === undefined) return byDefault;
  const value = Number(text);
  if (Number.isFinite(value) && value >= 1) return value;
  throw new Problem(`${name} is "${text}"; it must be a number from 1${name === '--speed' ? ', or max' : ''}.`);
}
