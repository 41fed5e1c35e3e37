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
import { codeOf, diskRefusal, diskRefusalIn, Problem } from './problem.mjs';
import { identityOf, stopProcess } from './process-identity.mjs';
import { step, withHeartbeat } from './progress.mjs';

const trimEveryMs = 60_000;
/** With less room than this a disk is full. */
const roomBytesMin = 64 * 1024;

/**
 * What is started. `group`: what it starts is stopped with it; `mayEnd`: its end is no death.
 * @typedef {object} ProcessToLaunch
 * @property {string} name
 * @property {string} command
 * @property {string[]} args
 * @property {import('./process-identity.mjs').StopSignal[]} signals
 * @property {string} logPath
 * @property {Record<string, string | undefined>} [env]
 * @property {string} [cwd]
 * @property {number} [uid]
 * @property {number} [gid]
 * @property {'log' | 'terminal'} [output]
 * @property {boolean} [group]
 * @property {boolean} [mayEnd]
 */

/** @typedef {{ code: number | null, signal: NodeJS.Signals | null }} Exit */

/**
 * A process that was started.
 * @typedef {object} RunningEntry
 * @property {string} name
 * @property {number} pid
 * @property {string | null} identity
 * @property {import('./process-identity.mjs').StopSignal[]} signals
 * @property {boolean} group
 * @property {boolean} mayEnd
 * @property {string} logPath
 * @property {Promise<Exit>} exited
 * @property {() => string[]} log the last lines that it wrote since it was started
 * @property {() => Promise<void>} stop
 */

/**
 * What services are started with: `env` are the settings of the one who calls, `running` gets the processes.
 * @typedef {object} StartContext
 * @property {string} root
 * @property {string} dataDir
 * @property {string} cacheDir
 * @property {Record<string, string | undefined>} env
 * @property {RunningProcesses} running
 */

/** @typedef {RunningEntry & { told: boolean, trimming: NodeJS.Timeout }} Launched `told`: that it should end */

/**
 * The long-running processes of one data directory, in the order of their start. They are also written to `run.json`,
 * so that the next start can stop what a killed one left behind.
 */
export class RunningProcesses {
  #file;
  /** @type {Launched[]} */
  #entries = [];
  /** @type {Promise<void> | null} */
  #stopping = null;

  /**
   * @param {string} dataDir
   * @param {(problem: Problem, entry: RunningEntry) => void} onDeath called for each process that ends without having been
   *   told to
   */
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
   * @param {ProcessToLaunch} what
   * @returns {Promise<RunningEntry>}
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
    /** @type {Promise<Exit>} */
    const exited = new Promise((resolve) => child.once('exit', (code, signal) => resolve({ code, signal })));
    const pid = await spawned(child, name, command);
    /** @type {Launched} */
    const entry = {
      ...{ name, pid, identity: identityOf(pid), signals, group, mayEnd, logPath },
      told: false,
      trimming: setInterval(() => trimLog(logPath), trimEveryMs).unref(),
      log: () => lastLines(logPath, 10, logStart),
      exited: exited.then((result) => this.#ended(entry, result)),
      stop: () => this.#stop(entry),
    };
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
      /** @type {Error[]} */
      const problems = [];
      for (const entry of [...this.#entries].reverse()) {
        step(`Stopping ${entry.name}`);
        await this.#stop(entry).catch((problem) => problems.push(problem));
      }
      if (problems.length > 0) throw problems[0];
    })();
    return this.#stopping;
  }

  /** @param {Launched} entry */
  async #stop(entry) {
    entry.told = true;
    if (!(await stopProcess(entry, entry.signals))) throw stillThere(entry);
    await entry.exited;
  }

  /**
   * @param {Launched} entry
   * @param {Exit} result
   */
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
 * @param {RunningEntry} entry
 * @param {() => Promise<boolean>} check
 * @param {number} timeoutMs
 * @param {string | (() => string)} what
 * @throws Problem with the end of the log when the process ends first, or when the time is over
 */
export async function waitUntilReady(entry, check, timeoutMs, what = `waiting for ${entry.name}`) {
  const deadlineMs = Date.now() + timeoutMs;
  /** @type {Exit | null} */
  let ended = null;
  void entry.exited.then((result) => (ended = result));
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

/**
 * Ends what the leader of the group started and left behind.
 * @param {number} pid
 */
function killGroup(pid) {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if (codeOf(error) !== 'ESRCH') throw error;
  }
}

/**
 * @param {string} file
 * @returns {Pick<RunningEntry, 'name' | 'pid' | 'identity' | 'signals' | 'group'>[]}
 */
function readRecord(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return [];
  }
}

/**
 * @param {import('node:child_process').ChildProcess} child
 * @param {string} name
 * @param {string} command
 * @returns {Promise<number>} its pid
 */
function spawned(child, name, command) {
  return new Promise((resolve, reject) => {
    child.once('spawn', () => resolve(/** @type {number} */ (child.pid)));
    child.once('error', (error) => {
      reject(new Problem(`${name} could not be started: ${command}: ${error.message}`));
    });
  });
}

/** @param {{ name: string, pid: number }} entry */
function stillThere({ name, pid }) {
  return new Problem(`${name} (pid ${pid}) does not stop, not even when killed. Look at it with: ps -fp ${pid}`);
}

/**
 * @param {RunningEntry} entry
 * @param {Exit} exit
 */
function death(entry, { code, signal }) {
  const refusal = diskRefusalOf(entry);
  if (refusal !== null)
    return new Problem(`${entry.name} ended by itself: ${refusal.charAt(0).toLowerCase()}${refusal.slice(1)}`);
  return new Problem(
    `${entry.name} ended by itself (${signal ? `signal ${signal}` : `exit code ${code}`}). ${logEnd(entry)}`,
  );
}

/**
 * What the end of its log says; on a full disk there is no log either.
 * @param {RunningEntry} entry
 */
function diskRefusalOf({ logPath, log }) {
  const said = diskRefusalIn(log().join('\n'), dirname(logPath));
  if (said !== null) return said;
  // Where the folder went with the process there is nothing to say of its disk.
  if (!existsSync(dirname(logPath))) return null;
  const { bavail, bsize } = statfsSync(dirname(logPath));
  return bavail * bsize < roomBytesMin ? diskRefusal({ code: 'ENOSPC' }, dirname(logPath)) : null;
}

/** @param {RunningEntry} entry */
function logEnd(entry) {
  const lines = entry.log();
  if (lines.length === 0) return `Its log is empty: ${entry.logPath}`;
  return `The end of its log (${entry.logPath}):\n${lines.map((line) => `    ${line}`).join('\n')}`;
}
