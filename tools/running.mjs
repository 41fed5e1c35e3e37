import { spawn } from 'node:child_process';
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { lastLines, rotateLog, trimLog } from './log-file.mjs';
import { diskRefusal, diskRefusalIn, Problem } from './problem.mjs';
import { identityOf, stopProcess } from './process-identity.mjs';
import { step, withHeartbeat } from './progress.mjs';

const trimEveryMs = 60_000;
/** With less room than this a disk is full. */
const roomBytesMin = 64 * 1024;

/**
 * The long-running processes of one data directory, in the order of their start. They are also written to `run.json`,
 * so that the next start can stop what a killed one left behind.
 */
export class RunningProcesses {
  #file;
  #entries = [];
  #stopping = null;

  /** @param onDeath called with a `Problem` for each process that ends without having been told to */
  constructor(dataDir, onDeath = () => {}) {
    this.#file = join(dataDir, 'run.json');
    this.onDeath = onDeath;
  }

  get stopping() {
    return this.#stopping !== null;
  }

  /** Stops, last started first, what an earlier run that was killed has left running here. */
  async stopLeftovers() {
    const left = readRecord(this.#file).filter(({ pid, identity }) => identityOf(pid) === identity);
    for (const entry of left.reverse()) {
      step(`Stopping ${entry.name} (pid ${entry.pid}), left over from a run that was killed`);
      if (!(await stopProcess(entry, entry.signals))) throw stillThere(entry);
    }
    rmSync(this.#file, { force: true });
  }

  /**
   * Starts a process in its own group, so that Ctrl-C in the terminal reaches it only through `stopAll`.
   * @param {{ name: string, command: string, args: string[], signals: [string, number][], logPath: string,
   *   env?: object, cwd?: string, uid?: number, gid?: number, output?: 'log' | 'terminal', group?: boolean,
   *   mayEnd?: boolean }} what `group`: what it starts is stopped with it; `mayEnd`: its end is no death
   * @returns `{ pid, exited, log(), stop() }`; `exited` resolves with `{ code, signal }`
   */
  async launch(what) {
    if (this.stopping) throw new Problem('Stopping.');
    const { name, command, args, signals, logPath, group = false, output = 'log', mayEnd = false } = what;
    mkdirSync(dirname(logPath), { recursive: true });
    rotateLog(logPath);
    const logStart = existsSync(logPath) ? statSync(logPath).size : 0;
    const log = output === 'log' ? openSync(logPath, 'a', 0o600) : 'inherit';
    const { env, cwd, uid, gid } = what;
    const child = spawn(command, args, { env, cwd, uid, gid, detached: true, stdio: ['ignore', log, log] });
    if (log !== 'inherit') closeSync(log);
    const exited = new Promise((resolve) => child.once('exit', (code, signal) => resolve({ code, signal })));
    await spawned(child, name, command);
    const entry = { name, pid: child.pid, identity: identityOf(child.pid), signals, group, mayEnd, logPath };
    entry.log = () => lastLines(logPath, 10, logStart);
    entry.trimming = setInterval(() => trimLog(logPath), trimEveryMs).unref();
    entry.exited = exited.then((result) => this.#ended(entry, result));
    entry.stop = () => this.#stop(entry);
    this.#entries.push(entry);
    this.#write();
    return entry;
  }

  /**
   * Stops everything, last started first; a second call waits for the first.
   * @throws Problem naming what does not stop, after the rest was stopped
   */
  stopAll() {
    this.#stopping ??= (async () => {
      const problems = [];
      for (const entry of [...this.#entries].reverse()) {
        step(`Stopping ${entry.name}`);
        await this.#stop(entry).catch((problem) => problems.push(problem));
      }
      if (problems.length > 0) throw problems[0];
    })();
    return this.#stopping;
  }

  async #stop(entry) {
    entry.told = true;
    if (!(await stopProcess(entry, entry.signals))) throw stillThere(entry);
    await entry.exited;
  }

  #ended(entry, result) {
    clearInterval(entry.trimming);
    if (entry.group) killGroup(entry.pid);
    this.#entries = this.#entries.filter((other) => other !== entry);
    this.#tryWrite();
    if (!entry.told && !entry.mayEnd && !this.stopping) this.onDeath(death(entry, result), entry);
    return result;
  }

  /** A process that is gone and still written down harms nobody: it is known by its identity. */
  #tryWrite() {
    try {
      this.#write();
    } catch (error) {
      if (diskRefusal(error) === null) throw error;
    }
  }

  #write() {
    if (this.#entries.length === 0) return rmSync(this.#file, { force: true });
    const record = this.#entries.map(({ name, pid, identity, signals, group }) => ({
      name,
      pid,
      identity,
      signals,
      group,
    }));
    writeFileSync(`${this.#file}.new`, JSON.stringify(record, null, 2), { mode: 0o600 });
    renameSync(`${this.#file}.new`, this.#file);
  }
}

/**
 * Calls `check` until it answers true, at most for `timeoutMs`.
 * @throws Problem with the end of the log when the process ends first, or when the time is over
 */
export async function waitUntilReady(entry, check, timeoutMs, what = `waiting for ${entry.name}`) {
  const deadlineMs = Date.now() + timeoutMs;
  let ended = null;
  entry.exited.then((result) => (ended = result));
  await withHeartbeat(what, async () => {
    for (;;) {
      if (ended !== null) throw death(entry, ended);
      if (await check()) return;
      if (Date.now() > deadlineMs) {
        throw new Problem(`${entry.name} did not become ready in ${timeoutMs / 1000} s. ${logEnd(entry)}`);
      }
      await sleep(100);
    }
  });
}

// What the leader of the group started and left behind.
function killGroup(pid) {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if (error.code !== 'ESRCH') throw error;
  }
}

function readRecord(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return [];
  }
}

function spawned(child, name, command) {
  return new Promise((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', (error) => {
      reject(new Problem(`${name} could not be started: ${command}: ${error.message}`));
    });
  });
}

function stillThere({ name, pid }) {
  return new Problem(`${name} (pid ${pid}) does not stop, not even when killed. Look at it with: ps -fp ${pid}`);
}

function death(entry, { code, signal }) {
  const refusal = diskRefusalOf(entry);
  if (refusal !== null)
    return new Problem(`${entry.name} ended by itself: ${refusal.charAt(0).toLowerCase()}${refusal.slice(1)}`);
  return new Problem(
    `${entry.name} ended by itself (${signal ? `signal ${signal}` : `exit code ${code}`}). ${logEnd(entry)}`,
  );
}

/** What the end of its log says; on a full disk there is no log either. */
function diskRefusalOf({ logPath, log }) {
  const said = diskRefusalIn(log().join('\n'), dirname(logPath));
  if (said !== null) return said;
  const { bavail, bsize } = statfsSync(dirname(logPath));
  return bavail * bsize < roomBytesMin ? diskRefusal({ code: 'ENOSPC' }, dirname(logPath)) : null;
}

function logEnd(entry) {
  const lines = entry.log();
  if (lines.length === 0) return `Its log is empty: ${entry.logPath}`;
  return `The end of its log (${entry.logPath}):\n${lines.map((line) => `    ${line}`).join('\n')}`;
}
