import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { benchProgram, projectRoot } from '../../tools/build.mjs';
import { findOnPath } from '../../tools/commands.mjs';

const [wrk] = findOnPath('wrk');

/** What loads: wrk, or where it is missing a client of ours, which says so in the table. */
export const generatorName = wrk === undefined ? 'our own client (wrk is not on the PATH)' : 'wrk';

/**
 * As many requests as the connections take, each sending the next when it has its answer.
 * @param {{ url: string, file: string, connections: number, seconds: number }} load `file`: of `writeRequests`
 * @returns `{ count, seconds, perSecond, p50, p99, max }`, times in ms
 * @throws Error when an answer is not 2xx, or a connection fails
 */
export async function loadFully({ url, file, connections, seconds }) {
  if (wrk === undefined) return closedLoop({ url, file, connections, seconds });
  const args = [
    '-t1',
    `-c${connections}`,
    `-d${seconds}s`,
    '--timeout',
    '10s',
    '-s',
    join(projectRoot, 'bench/load/wrk.lua'),
    url,
  ];
  const { statusErrors, socketErrors, ...found } = await lastLineOf(wrk, [...args, '--', file]);
  if (statusErrors + socketErrors > 0) {
    throw new Error(`${statusErrors} answers were errors, and ${socketErrors} connections failed.`);
  }
  return ratedOf(found);
}

/** The same as `loadFully` by our own client. */
export const closedLoop = async (load) => ratedOf(await ownClient({ ...load, rate: null }));

/** So many a second, whether or not answers come; times count from when a request should have been sent. */
export const loadPaced = async (load) => ratedOf(await ownClient(load));

const ownClient = (load) => lastLineOf(process.execPath, [benchProgram('client'), JSON.stringify(load)]);

const ratedOf = (found) => ({ ...found, perSecond: found.count / found.seconds });

/** Runs a program whose last line is JSON. */
export function lastLineOf(command, args, options = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], ...options });
    let output = '';
    let errors = '';
    child.stdout.on('data', (text) => (output += text));
    child.stderr.on('data', (text) => (errors += text));
    child.on('error', reject);
    child.on('close', (code) => {
      if (code !== 0) return reject(new Error(`${command} failed (${code}):\n${errors}${output}`));
      resolve(JSON.parse(output.trim().split('\n').at(-1)));
    });
  });
}
