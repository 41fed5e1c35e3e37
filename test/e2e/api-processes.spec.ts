// Real: the built api with API_PROCESSES=2, its processes as Linux lists them, and the signals that end them.
import {
  createTestDatabase,
  emptyTestRedis,
  freePort,
  freePorts,
  newInstallation,
  startApp,
  type Installation,
  type RunningApp,
  type TestDatabase,
} from '@laddercast/testing';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';

const PROCESSES = 2;
const SOON = { interval: 50 };
/** For a program that is to end by itself: it does not outlive a test that fails. */
const ENDED_WITHIN = { timeout: 120_000, killSignal: 'SIGKILL' } as const;
const MAIN = join(process.cwd(), 'dist', 'apps', 'api', 'src', 'main.js');

let database: TestDatabase;
let installation: Installation;

beforeAll(async () => {
  database = await createTestDatabase();
  const settings = { API_PROCESSES: String(PROCESSES), LOG_LEVEL: 'info' };
  installation = { ...newInstallation(database.url, await emptyTestRedis()), settings };
});
afterAll(() => database?.drop());

describe('several api processes on one port', () => {
  let group: Group | null = null;
  const start = async (): Promise<Group> => (group = await Group.start());
  afterEach(async () => {
    await group?.end();
    group = null;
  });

  it('answer on it in turn, each with metrics of its own', async () => {
    const { app, metricsPort } = await start();
    for (let i = 0; i < 20; i += 1) expect(await statusOf(app)).toBe(404);
    const counts = await Promise.all([metricsPort, metricsPort + 1].map(boardsAsked));
    for (const count of counts) expect(count).toBeGreaterThan(0);
    expect(counts[0]! + counts[1]!).toBe(20);
  });

  it('go on when one is killed, and another one takes its number', async () => {
    const { app, metricsPort, workers } = await start();
    const readyLine = new RegExp(`"api process 1 is ready \\(pid (\\d+)\\)"`, 'g');
    const readyPids = (): number[] => [...app.output().matchAll(readyLine)].map(([, pid]) => Number(pid));
    const [killed] = readyPids();
    expect(workers()).toContain(killed);
    const left = workers().filter((pid) => pid !== killed);
    process.kill(killed!, 'SIGKILL');
    await expect
      .poll(() => app.output(), SOON)
      .toMatch(/"api process 1 ended \(SIGKILL\): another one starts in \d+ ms"/);
    // The other one alone serves until the new one is ready.
    let alone = 0;
    for (; readyPids().length === 1; alone += 1) expect(await statusOf(app)).toBe(404);
    expect(alone).toBeGreaterThan(0);
    expect(readyPids()).toHaveLength(2);
    expect(workers().sort()).toEqual([...left, readyPids()[1]!].sort());
    for (let i = 0; i < 4; i += 1) expect(await statusOf(app)).toBe(404);
    expect(await boardsAsked(metricsPort + 1)).toBeGreaterThan(0);
  });

  it('answer what is in hand when they are told to stop, also in a terminal, where each hears it twice', async () => {
    const { app, workers, ports } = await start();
    const requests = await Promise.all([openRequest(app, 'stopped-1'), openRequest(app, 'stopped-2')]);
    const pids = [app.process.pid!, ...workers()];
    for (const pid of pids) process.kill(pid, 'SIGINT');
    await delay(200);
    app.process.kill('SIGTERM');
    await delay(200);
    expect(pids.every(isThere)).toBe(true);
    for (const request of requests) expect(await request.finish()).toMatch(/^HTTP\/1\.1 201 /);
    expect(await ended(app)).toEqual([0, null]);
    expect(pids.filter(isThere)).toEqual([]);
    for (const port of ports) expect(await isFree(port)).toBe(true);
  });

  it('end by themselves, with what is in hand answered, when the one that watches over them is killed', async () => {
    const { app, workers, ports } = await start();
    const requests = await Promise.all([openRequest(app, 'orphan-1'), openRequest(app, 'orphan-2')]);
    const pids = workers();
    expect(pids).toHaveLength(PROCESSES);
    app.process.kill('SIGKILL');
    await ended(app);
    for (const port of ports) await expect.poll(() => isFree(port), SOON).toBe(true);
    expect(pids.every(isThere)).toBe(true);
    for (const request of requests) expect(await request.finish()).toMatch(/^HTTP\/1\.1 201 /);
    await expect.poll(() => pids.filter(isThere), SOON).toEqual([]);
  });
});

describe('several api processes that cannot start', () => {
  const metricsPorts = (): Promise<number> => freePorts(PROCESSES);

  it('end all with 1 and say once why, where each would fail', async () => {
    const DATABASE_URL = `postgres://nobody@127.0.0.1:${await freePort()}/none`;
    const { code, output } = await runToEnd({ METRICS_PORT: String(await metricsPorts()), DATABASE_URL });
    expect(code).toBe(1);
    expect(output.match(/api cannot start: /g)).toHaveLength(1);
    expect(output).toContain('"api process 0 ended (exit code 1) before it was ready: all end"');
  });

  it('end all with 1 where one of them fails', async () => {
    const first = await metricsPorts();
    const taken = createServer().listen(first + 1, '127.0.0.1');
    await once(taken, 'listening');
    const { code, output } = await runToEnd({ METRICS_PORT: String(first) });
    taken.close();
    expect(code).toBe(1);
    expect(output.match(/api cannot start: port \d+ of METRICS_PORT is in use/g)).toHaveLength(1);
    expect(output).toContain('"api process 0 is ready');
  });

  it.each([
    ['a wrong setting', { API_PROCESSES: '65' }, 'API_PROCESSES must not be greater than 64'],
    ['ports of metrics that there are not', { METRICS_PORT: '65535' }, 'METRICS_PORT'],
  ])('end with 1 and one message for %s', async (_what, settings, message) => {
    const { code, output } = await runToEnd(settings);
    expect(code).toBe(1);
    expect(output.split(message)).toHaveLength(2);
    expect(output).not.toContain('cannot start');
  });
});

describe('a process that does not stop', () => {
  it('is killed in the end, which is no good end of the whole', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'ladder-group-'));
    const platform = pathToFileURL(join(process.cwd(), 'dist', 'libs', 'platform', 'src', 'index.js')).href;
    const program = `
      import cluster from 'node:cluster';
      import { pino } from '${import.meta.resolve('pino')}';
      import { ProcessGroup, tellReady } from '${platform}';
      if (cluster.isWorker) {
        process.on('SIGTERM', () => undefined);
        tellReady();
      } else {
        const group = new ProcessGroup({ name: 'deaf', count: 1, settingsOf: () => ({}), stopWithinMs: 300 }, pino());
        process.on('SIGTERM', () => group.stop());
        process.exit(await group.run());
      }`;
    writeFileSync(join(folder, 'deaf.mjs'), program);
    const child = spawn(process.execPath, [join(folder, 'deaf.mjs')], {
      stdio: ['ignore', 'pipe', 'inherit'],
      ...ENDED_WITHIN,
    });
    try {
      expect(await nextText(child.stdout)).toContain('deaf process 0 is ready');
      const [pid] = childrenOf(child.pid!);
      child.kill('SIGTERM');
      expect(await once(child, 'exit')).toEqual([1, null]);
      expect(isThere(pid!)).toBe(false);
    } finally {
      child.kill('SIGKILL');
      rmSync(folder, { recursive: true });
    }
  });
});

/** An api with two processes, all of which are ready. */
class Group {
  private constructor(
    readonly app: RunningApp,
    readonly port: number,
    readonly metricsPort: number,
  ) {}

  static async start(): Promise<Group> {
    const [port, metricsPort] = [await freePort(), await freePorts(PROCESSES)];
    const app = await startApp('api', installation, { port, metricsPort });
    await expect.poll(() => app.output().match(/is ready \(pid/g)?.length, SOON).toBe(PROCESSES);
    return new Group(app, port, metricsPort);
  }

  /** Process ids of those that serve. */
  readonly workers = (): number[] => childrenOf(this.app.process.pid!);

  get ports(): number[] {
    return [this.port, this.metricsPort, this.metricsPort + 1];
  }

  async end(): Promise<void> {
    const pids = isRunning(this.app) ? this.workers() : [];
    await this.app.stop();
    for (const pid of pids.filter(isThere)) process.kill(pid, 'SIGKILL');
  }
}

const isRunning = ({ process: { exitCode, signalCode } }: RunningApp): boolean =>
  exitCode === null && signalCode === null;

const childrenOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number);

/** Whether this process runs; one that has ended and waits for its parent to notice does not. */
const isThere = (pid: number): boolean =>
  existsSync(`/proc/${pid}/stat`) && !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));

async function ended(app: RunningApp): Promise<unknown[]> {
  if (isRunning(app)) await once(app.process, 'exit');
  return [app.process.exitCode, app.process.signalCode];
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  const isListening = await once(server, 'listening').then(
    () => true,
    () => false,
  );
  server.close();
  return isListening;
}

/** Over a connection of its own. */
async function statusOf(app: RunningApp): Promise<number> {
  const answer = await fetch(`${app.url}/v1/boards/none`, { headers: { Connection: 'close' } });
  await answer.arrayBuffer();
  return answer.status;
}

/** How often the process with these metrics was asked for a board. */
async function boardsAsked(metricsPort: number): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  const line = /^laddercast_request_seconds_count\{.*route="\/v1\/boards\/:board".*\} (\d+)$/m.exec(text);
  return Number(line?.[1] ?? 0);
}

/** A request that a process has begun to read; the rest of it is sent by `finish`, which returns the answer. */
async function openRequest(app: RunningApp, board: string): Promise<{ finish(): Promise<string> }> {
  const body = JSON.stringify({ order: 'desc', operator: 'best' });
  const { host, port } = new URL(app.url);
  const socket = connect(Number(port), '127.0.0.1');
  const head = [
    `PUT /v1/boards/${board} HTTP/1.1`,
    `Host: ${host}`,
    `Authorization: Bearer ${installation.adminKey}`,
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
    'Connection: close',
    'Expect: 100-continue',
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n`);
  expect(await nextText(socket)).toMatch(/^HTTP\/1\.1 100 /);
  return {
    finish: () => {
      socket.write(body);
      return nextText(socket);
    },
  };
}

async function nextText(stream: Readable): Promise<string> {
  const [chunk] = (await once(stream, 'data')) as [Buffer];
  return chunk.toString();
}

/** Runs the api until it ends by itself. */
async function runToEnd(settings: Record<string, string>): Promise<{ code: number | null; output: string }> {
  const child = spawn(process.execPath, [MAIN], {
    env: {
      PATH: process.env.PATH,
      PORT: String(await freePort()),
      DATABASE_URL: installation.databaseUrl,
      REDIS_URL: installation.redisUrl,
      BOOTSTRAP_ADMIN_KEY: installation.adminKey,
      DATABASE_MAY_FORGET: 'true',
      ...installation.settings,
      ...settings,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...ENDED_WITHIN,
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, output };
}
