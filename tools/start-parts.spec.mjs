import { createServer } from 'node:http';
import { once } from 'node:events';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { projectRoot } from './build.mjs';
import { keptSecret } from './data-directory.mjs';
import { readable } from './log-file.mjs';
import { requireNode, satisfies } from './node-version.mjs';
import { freePort, keepPort } from './ports.mjs';
import { describeFailure, Problem } from './problem.mjs';
import { choosePorts, reasonOf } from './standalone.mjs';

beforeEach(() => vi.spyOn(console, 'log').mockImplementation(() => {}));
afterEach(() => vi.restoreAllMocks());

describe('what npm start is made of', () => {
  it('compares versions of Node number by number', () => {
    expect(satisfies('20.20.0', '>=20.20')).toBe(true);
    expect(satisfies('20.9.0', '>=20.20')).toBe(false);
    expect(satisfies('18.20.4', '>=20.20')).toBe(false);
    expect(satisfies('24.0.1', '>=20.20')).toBe(true);
    expect(() => requireNode(projectRoot, '18.20.4')).toThrow(/needs Node 20\.20 or newer, and this is Node 18\.20\.4/);
  });

  it('says what the service waits for, and why where it knows', () => {
    const redis = { state: 'refused', reason: 'REDIS_URL leads to a replica', shards: [{ state: 'missing' }] };
    const components = { postgresql: { state: 'missing' }, redis };
    const body = JSON.stringify({ status: 'missing', missing: ['postgresql', 'redis'], components });
    expect(reasonOf(body, 503)).toBe('postgresql is missing; REDIS_URL leads to a replica');
    expect(reasonOf('<h1>Not\n here</h1>', 404)).toBe('404 <h1>Not here</h1>');
  });

  it('keeps a secret that it made, for its owner alone', () => {
    const folder = mkdtempSync(join(tmpdir(), 'secret-spec-'));
    const file = join(folder, 'admin-key');
    const secret = keptSecret(file);
    expect(secret.length).toBeGreaterThanOrEqual(32);
    expect(keptSecret(file)).toBe(secret);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    rmSync(folder, { recursive: true });
  });

  it('shows lines of the service as text, and other lines as they are', () => {
    const line = JSON.stringify({
      level: 'error',
      context: 'Ledger',
      msg: 'cannot write',
      err: { message: 'disk full' },
    });
    expect(readable(line)).toBe('error [Ledger] cannot write: disk full');
    expect(readable('{ not json')).toBe('{ not json');
    expect(readable('plain')).toBe('plain');
  });

  it('prints a stack only for what nobody foresaw', () => {
    expect(describeFailure(new Problem('Set PORT.'))).toBe('Set PORT.');
    expect(describeFailure(Object.assign(new Error('EACCES: open x'), { code: 'EACCES' }))).not.toMatch(/^\s+at /m);
    expect(describeFailure(new TypeError('x is undefined'))).toContain('at ');
  });

  it('refuses a port that was asked for and is taken, or is none', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address();
    await expect(choosePorts({ PORT: String(port) })).rejects.toThrow(
      `Port ${port} of PORT is in use by another program`,
    );
    server.close();
    await expect(choosePorts({ PORT: 'http' })).rejects.toThrow('PORT is "http", which is not a port');
    const free = String(await freePort());
    await expect(choosePorts({ PORT: free, METRICS_PORT: free })).rejects.toThrow('they need two different ports');
    expect((await choosePorts({ PORT: free })).port).toBe(Number(free));
    const { metricsPort } = await choosePorts({ PORT: free, METRICS_PORT: '0' });
    expect(metricsPort).toBeGreaterThan(0);
  });

  it('gives no port twice, nor one that a later server is to have', async () => {
    const drawn = new Set();
    keepPort(12_345);
    for (let draw = 0; draw < 500; draw += 1) drawn.add(await freePort());
    expect(drawn.size).toBe(500);
    expect(drawn).not.toContain(12_345);
  });
});
