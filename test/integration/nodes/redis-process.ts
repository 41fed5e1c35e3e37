import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort, requiredService } from '@laddercast/testing';
import { Redis } from 'ioredis';

/** A server of the test's own, empty, which forgets all when it ends. */
export interface RedisProcess {
  port: number;
  url: string;
  pid: number;
  stop(): Promise<void>;
}

const READY_TRIES = 600;

/** Starts the program that `npm test` found. */
export async function startRedis(
  options: { port?: number; password?: string; args?: string[]; env?: Record<string, string> } = {},
): Promise<RedisProcess> {
  const port = options.port ?? (await freePort());
  const folder = mkdtempSync(join(tmpdir(), 'ladder-redis-'));
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--save', '', '--appendonly', 'no'];
  if (options.password !== undefined) args.push('--requirepass', options.password);
  const child = spawn(requiredService('TEST_REDIS_BINARY'), [...args, ...(options.args ?? [])], {
    stdio: 'ignore',
    env: { ...process.env, ...options.env },
  });
  await answers(port, child, options.password);
  return { port, url: `redis://127.0.0.1:${port}`, pid: child.pid!, stop: () => killWithData(child, folder) };
}

/** Resolves once the process is gone, and its folder, too. */
export async function killWithData(child: ChildProcess, folder: string): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await ended;
  }
  rmSync(folder, { recursive: true, force: true });
}

async function answers(port: number, child: ChildProcess, password?: string): Promise<void> {
  for (let attempt = 0; attempt < READY_TRIES; attempt += 1) {
    if (child.exitCode !== null) throw new Error(`the Redis of the test ended with code ${child.exitCode}`);
    const given = password === undefined ? {} : { password };
    const redis = new Redis(port, '127.0.0.1', { ...given, lazyConnect: true, retryStrategy: () => null });
    redis.on('error', () => undefined);
    const up = await redis.connect().then(
      () => true,
      () => false,
    );
    redis.disconnect();
    if (up) return;
    await sleep(50);
  }
  throw new Error(`the Redis of the test does not answer on port ${port}`);
}
