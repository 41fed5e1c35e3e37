import { spawn, spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { diskRefusalIn, Problem } from './problem.mjs';
import { identityOf, stopProcess } from './process-identity.mjs';
import { step, withHeartbeat } from './progress.mjs';

const outputLinesMax = 40;
/** @type {Set<StepProcess>} */
const live = new Set();
/** @type {import('./process-identity.mjs').StopSignal[]} */
const stepSignals = [
  ['SIGTERM', 3_000],
  ['SIGKILL', 3_000],
];

/**
 * `recordFile` names the process while it runs, for `stopRecordedStep`.
 * @typedef {{ env?: NodeJS.ProcessEnv, cwd?: string, remedy?: string, recordFile?: string }} StepOptions
 */

/** @typedef {{ pid: number, identity: string | null, group: boolean }} StepProcess */

/** @typedef {{ code?: number | null, signal?: NodeJS.Signals | null, error?: string }} Outcome */

/**
 * Every executable of that name on the PATH, in its order.
 * @param {string} name
 * @param {Record<string, string | undefined>} env
 */
export function findOnPath(name, env = process.env) {
  const names = process.platform === 'win32' ? [`${name}.exe`, `${name}.cmd`] : [name];
  return (env.PATH ?? '')
    .split(delimiter)
    .filter((folder) => folder !== '')
    .flatMap((folder) => names.map((file) => join(folder, file)))
    .filter(isExecutable);
}

/** @param {string} path */
function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/**
 * What a short command printed on both of its outputs, or `null` when it cannot be run or fails.
 * @param {string} command
 * @param {string[]} args
 * @param {import('node:child_process').SpawnSyncOptions} options
 */
export function outputOf(command, args, options = {}) {
  const result = spawnSync(command, args, { encoding: 'utf8', timeout: 20_000, ...options });
  return result.status === 0 ? `${result.stdout}${result.stderr}` : null;
}

/**
 * Runs one step to its end: a line of progress at the start, then one every ten seconds.
 * @param {string} text
 * @param {string} command
 * @param {string[]} args
 * @param {StepOptions} [options]
 * @throws Problem with the last lines that it printed when it fails
 */
export async function runStep(text, command, args, options = {}) {
  const { env = process.env, cwd, remedy = '', recordFile } = options;
  step(text);
  const child = spawn(command, args, { env, cwd, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  const outcomeOfChild = ended(child);
  // One that could not be started has none.
  const target = child.pid === undefined ? null : { pid: child.pid, identity: identityOf(child.pid), group: true };
  if (target !== null) live.add(target);
  if (target !== null && recordFile !== undefined) writeFileSync(recordFile, JSON.stringify(target));
  /** @type {string[]} */
  const lines = [];
  for (const stream of [child.stdout, child.stderr]) collectLines(stream, lines);
  try {
    const outcome = await withHeartbeat(lowerFirst(text).replace(/ \(.*$/, ''), () => outcomeOfChild);
    if (outcome.code === 0) return lines;
    const how = outcome.error ?? (outcome.signal ? `stopped by ${outcome.signal}` : `exit code ${outcome.code}`);
    const refusal = diskRefusalIn(lines.join('\n'), cwd ?? process.cwd());
    if (refusal !== null) throw new Problem(refusal);
    const printed = lines.map((line) => `    ${line}`).join('\n');
    throw new Problem([`${text}: failed (${how}).`, printed, remedy].filter((part) => part !== '').join('\n'));
  } finally {
    if (target !== null) live.delete(target);
    if (recordFile !== undefined) rmSync(recordFile, { force: true });
  }
}

/** Stops the steps that are running now, with all that they started. */
export async function stopSteps() {
  await Promise.all([...live].map((target) => stopProcess(target, stepSignals)));
}

/**
 * Stops the step that a run which was killed has left behind, if it still runs.
 * @param {string} recordFile
 */
export async function stopRecordedStep(recordFile) {
  if (!existsSync(recordFile)) return;
  const target = JSON.parse(readFileSync(recordFile, 'utf8'));
  if (identityOf(target.pid) === target.identity) {
    step(`Stopping a step (pid ${target.pid}) that was left over from a run that was killed`);
    await stopProcess(target, stepSignals);
  }
  rmSync(recordFile, { force: true });
}

/**
 * @param {import('node:child_process').ChildProcess} child
 * @returns {Promise<Outcome>}
 */
function ended(child) {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve({ error: error.message }));
    child.once('close', (code, signal) => resolve({ code, signal }));
  });
}

/**
 * @param {import('node:stream').Readable} stream
 * @param {string[]} lines
 */
function collectLines(stream, lines) {
  let rest = '';
  /** @param {string} line */
  const keep = (line) => {
    if (line.trim() === '') return;
    lines.push(stripVTControlCharacters(line).trimEnd());
    if (lines.length > outputLinesMax) lines.shift();
  };
  stream.setEncoding('utf8');
  stream.on('data', (chunk) => {
    const parts = (rest + chunk).split('\n');
    rest = parts.pop() ?? '';
    parts.forEach(keep);
  });
  stream.on('end', () => keep(rest));
}

/** @param {string} text */
function lowerFirst(text) {
  return text.charAt(0).toLowerCase() + text.slice(1);
}
