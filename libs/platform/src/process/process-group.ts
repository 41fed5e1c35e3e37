import cluster, { type Worker } from 'node:cluster';
import type { Logger } from 'pino';
import { backoffMs, monotonicMs, sleep } from '../clock.js';
import { Environment, EnvironmentError, loadEnvironment } from '../environment.js';
import { laneAddressOf } from '../lane-address.js';
import { endProcess, nameProgram, processLog } from '../telemetry/process-log.js';
import { drainMsOf, STOP_SIGNALS, STOP_WITHIN_MS } from './shutdown-times.js';

/** Wait between an end and the next start: half of this at least, so 100 ms to 5 s. */
const BACKOFF = { firstMs: 200, maxMs: 5000 };
/** A process that ran for this long did not end for the reason of the one before it. */
const STEADY_AFTER_MS = 10_000;
/** Longer than a process allows itself to stop: then it hangs, and is killed. */
const STOP_SPARE_MS = 5000;
const PORT_MAX = 65_535;
const READY = 'ready';

/** How one process ended. */
interface Ending {
  /** How long it was ready, ms; null: it never was. */
  readyForMs: number | null;
  /** For the log: its exit code, its signal, or why it could not be made. */
  how: string;
  isWell: boolean;
}

export interface ProcessGroupOptions {
  /** For the log: api. */
  name: string;
  /** How many processes. */
  count: number;
  /** Environment variables of the process with this number (from 0) that differ from this process's. */
  settingsOf(number: number): Record<string, string>;
  /** When a process that was told to stop is killed, ms. */
  stopWithinMs: number;
}

/**
 * Keeps so many processes of this program running, which share the ports that they open, and does nothing else: this one
 * takes the connections and hands them out in turn. A process that ends is replaced by one with the same number.
 */
export class ProcessGroup {
  private readonly stopping = new AbortController();
  private readonly workers = new Map<number, Worker>();
  private exitCode = 0;

  constructor(
    private readonly options: ProcessGroupOptions,
    private readonly log: Logger,
  ) {}

  /**
   * Runs the processes until `stop`, or until one ends that was never ready. The first one is ready before the others
   * start: it migrates the database.
   * @returns the exit code once all have ended: 0 where every one ended well
   */
  async run(): Promise<number> {
    const kept: Promise<void>[] = [];
    await new Promise<void>((resolve) => {
      kept.push(this.keep(0, resolve).then(resolve));
    });
    for (let number = 1; number < this.options.count; number += 1) kept.push(this.keep(number));
    await Promise.all(kept);
    return this.exitCode;
  }

  /** Tells every process to stop as a signal would, once; one that takes too long is killed, which makes the exit code 1. */
  stop(): void {
    if (this.stopping.signal.aborted) return;
    this.stopping.abort();
    this.signalAll('SIGTERM');
    setTimeout(() => this.signalAll('SIGKILL'), this.options.stopWithinMs).unref();
  }

  private signalAll(signal: NodeJS.Signals): void {
    for (const worker of this.workers.values()) worker.process.kill(signal);
  }

  /** Runs the process of this number again and again; resolves when it is not to be run any more. */
  private async keep(number: number, onReady?: () => void): Promise<void> {
    let wasReady = false;
    for (let tries = 0; !this.stopping.signal.aborted; tries += 1) {
      const { readyForMs, how, isWell } = await this.runOnce(number, onReady);
      this.workers.delete(number);
      wasReady ||= readyForMs !== null;
      if (this.stopping.signal.aborted) {
        if (!isWell) this.exitCode = 1;
      } else if (!wasReady) {
        this.log.error(`${this.options.name} process ${number} ended (${how}) before it was ready: all end`);
        this.exitCode = 1;
        this.stop();
      } else {
        if (readyForMs !== null && readyForMs >= STEADY_AFTER_MS) tries = 0;
        const waitMs = backoffMs(tries, BACKOFF.firstMs, BACKOFF.maxMs);
        this.log.error(
          `${this.options.name} process ${number} ended (${how}): another one starts in ${Math.round(waitMs)} ms`,
        );
        await sleep(waitMs, this.stopping.signal);
      }
    }
  }

  private runOnce(number: number, onReady?: () => void): Promise<Ending> {
    return new Promise((resolve) => {
      let readyAtMs: number | null = null;
      const ended = (how: string, isWell: boolean): void => {
        resolve({ readyForMs: readyAtMs === null ? null : monotonicMs() - readyAtMs, how, isWell });
      };
      let worker: Worker;
      try {
        worker = cluster.fork(this.options.settingsOf(number));
      } catch (error) {
        return ended((error as Error).message, false);
      }
      this.workers.set(number, worker);
      worker.on('message', (message) => {
        if (message !== READY) return;
        readyAtMs = monotonicMs();
        this.log.info(`${this.options.name} process ${number} is ready (pid ${worker.process.pid})`);
        onReady?.();
      });
      // A process that could not be made emits no exit; any other does.
      worker.on('error', (error) => {
        if (worker.process.pid === undefined) ended(error.message, false);
      });
      worker.once('exit', (code: number | null, signal: NodeJS.Signals | null) => {
        const isOurSignal = this.stopping.signal.aborted && STOP_SIGNALS.some((one) => one === signal);
        ended(signal ?? `exit code ${code}`, code === 0 || isOurSignal);
      });
    });
  }
}

/**
 * Where API_PROCESSES is above 1: runs so many processes of this program until a signal ends them, and ends this one.
 * Before it, import nothing that only they need.
 * @returns whether this process is to serve itself: it is the only one, or one of them
 */
export async function servesItself(name: string): Promise<boolean> {
  if (cluster.isWorker) return true;
  nameProgram(name);
  try {
    const environment = loadEnvironment();
    if (environment.API_PROCESSES === 1) return true;
    const group = new ProcessGroup(
      groupOptionsOf(name, environment),
      processLog(environment).child({ context: 'processes' }),
    );
    for (const signal of STOP_SIGNALS) process.on(signal, () => group.stop());
    process.exit(await group.run());
  } catch (error) {
    if (!(error instanceof EnvironmentError)) throw error;
    endProcess(error.message, null);
  }
}

/** @throws EnvironmentError when there is no port for the metrics of each */
export function groupOptionsOf(name: string, environment: Environment): ProcessGroupOptions {
  const { API_PROCESSES: count, METRICS_PORT: first, PORT: port, LANE_ADDRESS: laneAddress } = environment;
  const lanes = laneAddress === undefined ? null : laneAddressOf(laneAddress);
  const last = first + count - 1;
  const ports = `The processes' metrics are at METRICS_PORT and those that follow, here ${first} to ${last}`;
  if (first !== 0 && last > PORT_MAX) throw new EnvironmentError(`${ports}: there is none above ${PORT_MAX}.`);
  if (first !== 0 && first <= port && port <= last) {
    throw new EnvironmentError(`${ports}: PORT (${port}) must not be among them.`);
  }
  if (first !== 0 && lanes !== null && lanes.port <= last && first < lanes.port + count) {
    throw new EnvironmentError(
      `${ports}: the ports of LANE_ADDRESS, ${lanes.port} to ${lanes.port + count - 1}, must not be among them.`,
    );
  }
  return {
    name,
    count,
    // Each is a process like a single one.
    settingsOf: (number) => ({
      API_PROCESSES: '1',
      METRICS_PORT: String(first === 0 ? 0 : first + number),
      ...(lanes !== null && { LANE_ADDRESS: `${lanes.host}:${lanes.port + number}` }),
    }),
    stopWithinMs: drainMsOf(environment) + STOP_WITHIN_MS + STOP_SPARE_MS,
  };
}

/** Tells the process that watches over this one, if there is one, that this one serves. */
export function tellReady(): void {
  // If the watcher is gone, that is noticed elsewhere.
  cluster.worker?.send(READY, () => undefined);
}

/**
 * Calls `act` when the process that watches over this one is gone. The port went with it, so no more connections come.
 */
export function onWatcherGone(act: () => void): void {
  const { worker } = cluster;
  worker?.once('disconnect', () => {
    // Otherwise Node would end this process at once, with requests in hand.
    worker.exitedAfterDisconnect = true;
    act();
  });
}
