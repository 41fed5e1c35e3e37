import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { projectRoot } from './build.mjs';
import { dataDirectory, makeDataDirectory } from './data-directory.mjs';
import { freePort } from './ports.mjs';
import { identityOf } from './process-identity.mjs';
import { RunningProcesses } from './running.mjs';
import { removeDataDirectory } from './services/postgres-account.mjs';

// The command itself, with the service that was built and real servers, on data of its own.
let dataDir;
let starts;

function start(env) {
  const child = spawn(process.execPath, [join(projectRoot, 'tools/start.mjs')], {
    cwd: projectRoot,
    env: { ...process.env, DATABASE_URL: '', REDIS_URL: '', EVENT_LOG: '', NODE_ENV: '', DATA_DIR: dataDir, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  // At its close all of its output is read; at its exit some may be on its way.
  const run = { child, output: '', ended: once(child, 'close') };
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (run.output += chunk));
  starts.push(run);
  return run;
}

async function ready(run) {
  while (!/Admin key \(development\): \S+/.test(run.output)) {
    if (run.child.exitCode !== null || run.child.signalCode !== null)
      throw new Error(`npm start ended:\n${run.output}`);
    await sleep(50);
  }
  const [, page] = /Live page: (\S+)/.exec(run.output);
  const [, adminKey] = /Admin key \(development\): (\S+)/.exec(run.output);
  return { page, adminKey, processes: JSON.parse(readFileSync(join(dataDir, 'run.json'), 'utf8')) };
}

const board = async (page, adminKey, request = {}) =>
  fetch(`${page}v1/boards/kept`, {
    ...request,
    headers: { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' },
  });

const alive = (processes) =>
  processes.filter(({ pid, identity }) => identityOf(pid) === identity).map(({ name }) => name);

beforeEach(() => {
  starts = [];
  dataDir = mkdtempSync(join(tmpdir(), 'start-spec-'));
  makeDataDirectory(dataDir);
  const cache = join(dataDirectory(projectRoot), 'cache');
  if (existsSync(cache)) symlinkSync(cache, join(dataDir, 'cache'));
});
afterEach(async () => {
  for (const { child, ended } of starts) {
    child.kill('SIGINT');
    if (child.exitCode === null && child.signalCode === null) await ended;
  }
  await new RunningProcesses(dataDir).stopLeftovers();
  removeDataDirectory(dataDir);
});

describe('npm start', () => {
  it('serves the page, refuses a second one on the same data, and Ctrl-C stops all of it in order', async () => {
    const run = start({ PORT: String(await freePort()) });
    const { page, processes } = await ready(run);
    expect(await (await fetch(page)).text()).toContain('<html');
    expect(alive(processes)).toHaveLength(3);

    const second = start();
    expect(await second.ended).toEqual([1, null]);
    expect(second.output).toContain(`already running on ${dataDir}`);
    expect(alive(processes)).toHaveLength(3);

    run.child.kill('SIGINT');
    expect(await run.ended).toEqual([0, null]);
    expect(run.output).toMatch(/Stopping Laddercast\n[^]*Stopping (Valkey|Redis)\n[^]*Stopping PostgreSQL\n/);
    expect(alive(processes)).toEqual([]);
  });

  it('finds the data and the key of the one before, also when that one was killed', async () => {
    const first = start({ PORT: String(await freePort()) });
    const before = await ready(first);
    const body = JSON.stringify({ order: 'desc', operator: 'best' });
    expect((await board(before.page, before.adminKey, { method: 'PUT', body })).status).toBe(201);
    first.child.kill('SIGKILL');
    await first.ended;
    expect(alive(before.processes)).toHaveLength(3);

    const after = await ready(start({ PORT: String(await freePort()) }));
    expect(alive(before.processes)).toEqual([]);
    expect(after.adminKey).toBe(before.adminKey);
    expect(await (await board(after.page, after.adminKey)).json()).toMatchObject({ order: 'desc', operator: 'best' });
  });

  it('names a service that dies, stops the rest, and ends with an error', async () => {
    const run = start({ PORT: String(await freePort()) });
    const { processes } = await ready(run);
    const { name, pid } = processes.find((entry) => /Valkey|Redis/.test(entry.name));
    process.kill(pid, 'SIGKILL');
    expect(await run.ended).toEqual([1, null]);
    expect(run.output).toContain(`${name} ended by itself (signal SIGKILL)`);
    expect(run.output).not.toMatch(/^\s+at /m);
    expect(alive(processes)).toEqual([]);
  });
});
