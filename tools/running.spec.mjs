import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { identityOf } from './process-identity.mjs';
import { RunningProcesses, waitUntilReady } from './running.mjs';

const signals = [
  ['SIGTERM', 5_000],
  ['SIGKILL', 30_000],
];
let folder;
let running;
let deaths;

// Says when it stops, in a file that all share.
const program = (name, onTerm = 'process.exit(0)') => `
  const { appendFileSync, writeFileSync } = require('node:fs');
  process.on('SIGTERM', () => { appendFileSync('order', '${name} '); ${onTerm}; });
  writeFileSync('${name}.up', '');
  setInterval(() => {}, 1000);
  console.log('${name} is up');`;

async function launch(name, script = program(name), processes = running) {
  const entry = await processes.launch({
    name,
    command: process.execPath,
    args: ['-e', script],
    cwd: folder,
    signals,
    logPath: join(folder, `${name}.log`),
  });
  await waitUntilReady(entry, async () => existsSync(join(folder, `${name}.up`)), 60_000);
  return entry;
}

const order = () => readFileSync(join(folder, 'order'), 'utf8').trim().split(' ');

beforeEach(() => {
  vi.spyOn(console, 'log').mockImplementation(() => {});
  folder = mkdtempSync(join(tmpdir(), 'running-spec-'));
  deaths = [];
  running = new RunningProcesses(folder, (problem) => deaths.push(problem));
});
afterEach(async () => {
  await running.stopAll();
  rmSync(folder, { recursive: true });
  vi.restoreAllMocks();
});

describe('running processes', () => {
  it('are stopped in the reverse order of their start, and none of that is a death', async () => {
    for (const name of ['postgres', 'redis', 'app']) await launch(name);
    await running.stopAll();
    expect(order()).toEqual(['app', 'redis', 'postgres']);
    expect(deaths).toEqual([]);
    expect(existsSync(join(folder, 'run.json'))).toBe(false);
  });

  it('can be stopped one by one, which is no death either', async () => {
    const entry = await launch('app');
    await entry.stop();
    expect(identityOf(entry.pid)).toBeNull();
    expect(deaths).toEqual([]);
  });

  it('are killed when they do not stop in time', async () => {
    const entry = await launch('stubborn', program('stubborn', ''));
    await running.stopAll();
    expect(identityOf(entry.pid)).toBeNull();
    expect(order()).toEqual(['stubborn']);
  });

  it('are reported by name with the end of their log when they die', async () => {
    const entry = await launch('redis');
    const log = join(folder, 'redis.log');
    await expect.poll(() => existsSync(log) && readFileSync(log, 'utf8')).toContain('redis is up');
    process.kill(entry.pid, 'SIGKILL');
    await entry.exited;
    expect(deaths).toHaveLength(1);
    expect(deaths[0].message).toContain('redis ended by itself (signal SIGKILL)');
    expect(deaths[0].message).toContain('redis is up');
    expect(deaths[0].message).toContain(join(folder, 'redis.log'));
  });

  it('that die before they are ready are reported instead of waited for', async () => {
    await expect(launch('broken', `console.error('no such option'); process.exit(3)`)).rejects.toThrow(
      /broken ended by itself \(exit code 3\)[^]*no such option/,
    );
  });

  it('that cannot be started are reported without a stack', async () => {
    const what = { name: 'postgres', command: '/nowhere/postgres', args: [], signals, logPath: join(folder, 'log') };
    await expect(running.launch(what)).rejects.toThrow(/^postgres could not be started: \/nowhere\/postgres: /);
  });

  it('that a killed run has left behind are stopped, last first, before the next one', async () => {
    const killed = new RunningProcesses(folder);
    const left = [];
    for (const name of ['postgres', 'redis', 'app']) left.push(await launch(name, program(name), killed));
    await running.stopLeftovers();
    expect(left.map(({ pid }) => identityOf(pid))).toEqual([null, null, null]);
    expect(order()).toEqual(['app', 'redis', 'postgres']);
  });

  it('are reported by name, too, when the folder of their log is gone', async () => {
    const elsewhere = mkdtempSync(join(tmpdir(), 'running-spec-log-'));
    const entry = await running.launch({
      name: 'redis',
      command: process.execPath,
      args: ['-e', program('redis')],
      cwd: folder,
      signals,
      logPath: join(elsewhere, 'redis.log'),
    });
    rmSync(elsewhere, { recursive: true });
    process.kill(entry.pid, 'SIGKILL');
    await entry.exited;
    expect(deaths.map(({ message }) => message)).toEqual([
      `redis ended by itself (signal SIGKILL). Its log is empty: ${join(elsewhere, 'redis.log')}`,
    ]);
  });

  it('can no longer be started once stopping has begun', async () => {
    await running.stopAll();
    await expect(launch('late')).rejects.toThrow('Stopping.');
  });
});
