import { mkdtempSync, copyFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openTcpProxy, type TcpProxy } from '@laddercast/testing';
import { Redis } from 'ioredis';
import { startRedis, type RedisProcess } from '../integration/nodes/redis-process.js';

const IN_SYNC_WITHIN_MS = 60_000;

/** A replica that is on its way to be the master. */
export interface Replica {
  /** From now on it hears of nothing more. */
  lag(): void;
  /** The master is killed, and this one answers in its place, at the same port, with what it had heard. */
  failOver(): Promise<void>;
}

/** The Redis of a scenario's own, always at the same address: what answers there is what changes. */
export class RedisServer {
  private replica: { process: RedisProcess; proxy: TcpProxy } | null = null;
  private readonly folder = mkdtempSync(join(tmpdir(), 'ladder-dumps-'));
  private dumps = 0;

  private constructor(
    readonly port: number,
    private running: RedisProcess,
  ) {}

  static async start(): Promise<RedisServer> {
    const running = await startRedis();
    return new RedisServer(running.port, running);
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  /** kill -9; nothing answers until another start. */
  async kill(): Promise<void> {
    await this.running.stop();
  }

  async startEmpty(): Promise<void> {
    this.running = await startRedis({ port: this.port });
  }

  /** What it holds now, as a file of its own. */
  async keepDump(): Promise<string> {
    const kept = join(this.folder, `${(this.dumps += 1)}.rdb`);
    const [, dir] = await this.ask((redis) => redis.config('GET', 'dir') as Promise<[string, string]>);
    const [, file] = await this.ask((redis) => redis.config('GET', 'dbfilename') as Promise<[string, string]>);
    await this.ask((redis) => redis.save());
    copyFileSync(join(dir, file), kept);
    return kept;
  }

  async startFrom(dump: string): Promise<void> {
    const args = ['--dir', this.folder, '--dbfilename', dump.slice(this.folder.length + 1)];
    this.running = await startRedis({ port: this.port, args });
  }

  /** Adds a replica, and resolves once it holds what the master does. */
  async addReplica(): Promise<Replica> {
    const proxy = await openTcpProxy('127.0.0.1', this.port);
    const process = await startRedis({ args: ['--replicaof', '127.0.0.1', String(proxy.port)] });
    this.replica = { process, proxy };
    const giveUpAt = performance.now() + IN_SYNC_WITHIN_MS;
    while (!(await this.ask((redis) => redis.info('replication'), process.port)).includes('master_link_status:up')) {
      if (performance.now() > giveUpAt) throw new Error('The replica did not come up with its master.');
      await sleep(50);
    }
    return { lag: () => proxy.freeze(), failOver: () => this.failOver(process, proxy) };
  }

  async stop(): Promise<void> {
    await this.running.stop();
    await this.replica?.process.stop();
    await this.replica?.proxy.close();
    rmSync(this.folder, { recursive: true, force: true });
  }

  private async failOver(process: RedisProcess, proxy: TcpProxy): Promise<void> {
    await this.running.stop();
    await proxy.close();
    await this.ask((redis) => redis.replicaof('NO', 'ONE'), process.port);
    await this.ask((redis) => redis.config('SET', 'port', String(this.port)), process.port);
    this.running = process;
    this.replica = null;
  }

  private async ask<T>(question: (redis: Redis) => Promise<T>, port = this.port): Promise<T> {
    const redis = new Redis(port, '127.0.0.1', { lazyConnect: true });
    redis.on('error', () => undefined);
    try {
      await redis.connect();
      return await question(redis);
    } finally {
      redis.disconnect();
    }
  }
}
