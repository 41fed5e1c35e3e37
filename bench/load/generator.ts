import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { benchProgram, projectRoot } from '../../tools/build.mjs';
import { findOnPath } from '../../tools/commands.mjs';
import type { ClientLoad, ClientResult } from './client-load.js';

const [wrk] = findOnPath('wrk');

/** What loads: wrk, or where it is missing a client of ours, which says so in the table. */
export const generatorName = wrk === undefined ? 'our own client (wrk is not on the PATH)' : 'wrk';

/** A load at full speed; `file`: of `writeRequests`. */
export type Load = Omit<ClientLoad, 'rate'>;

/** What a load found; times in ms. */
export interface Rated extends ClientResult {
  perSecond: number;
}

/** What the last line of wrk.lua says. */
interface WrkResult extends ClientResult {
  statusErrors: number;
  socketErrors: number;
}

/**
 * As many requests as the connections take, each sending the next when it has its answer.
 * @throws Error when an answer is not 2xx, or a connection fails
 */
export async function loadFully({ url, file, connections, seconds }: Load): Promise<Rated> {
  if (wrk === undefined) return closedLoop({ url, file, connections, seconds });
  const script = join(projectRoot, 'bench/load/wrk.lua');
  const args = ['-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '10s', '-s', script, url, '--', file];
  const { statusErrors, socketErrors, ...found } = (await lastLineOf(wrk, args)) as WrkResult;
  if (statusErrors + socketErrors > 0) {
    throw new Error(`${statusErrors} answers were errors, and ${socketErrors} connections failed.`);
  }
  return ratedOf(found);
}

/** The same as `loadFully` by our own client. */
export const closedLoop = async (load: Load): Promise<Rated> => ratedOf(await ownClient({ ...load, rate: null }));

/** So many a second, whether or not answers come; times count from when a request should have been sent. */
export const loadPaced = async (load: ClientLoad): Promise<Rated> => ratedOf(await ownClient(load));

const ownClient = async (load: ClientLoad): Promise<ClientResult> =>
  (await lastLineOf(process.execPath, [benchProgram('client'), JSON.stringify(load)])) as ClientResult;

const ratedOf = (found: ClientResult): Rated => ({ ...found, perSecond: found.count / found.seconds });

/** Runs a program whose last line is JSON. */
function lastLineOf(command: string, args: readonly string[]): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    let errors = '';
    child.stdout.on('data', (text) => (output += text));
    child.stderr.on('data', (text) => (errors += text));
    child.on('error', reject);
    child.on('close', (code) => {
      if (code !== 0) return reject(new Error(`${command} failed (${code}):\n${errors}${output}`));
      resolve(JSON.parse(output.trim().split('\n').at(-1)!));
    });
  });
}
