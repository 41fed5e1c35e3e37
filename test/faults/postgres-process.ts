import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '@laddercast/testing';
import { openPostgres } from './postgres-session.js';

interface Account {
  uid: number;
  gid: number;
}

interface Programs {
  postgres: string;
  initdb: string;
}

export interface PostgresOptions {
  /** Where its files are put, a folder that any account may enter; default: a new one, removed at the end. */
  folder?: string;
  /** Size of the files of its write-ahead log, in megabytes. */
  walSegmentMegabytes?: number;
  settings?: Record<string, string>;
}

/** How PostgreSQL may end: told to, in a hurry (as after a crash), or killed. */
export const ENDINGS = ['SIGINT', 'SIGQUIT', 'SIGKILL'] as const;

const READY_WITHIN_MS = 60_000;
/** What its programs may see of our environment. */
const QUIET = { PATH: process.env.PATH ?? '', LC_ALL: 'C', HOME: '/' };

/** A PostgreSQL of the scenario's own, always at the same address, that can be stopped and started on its data. */
export class PostgresProcess {
  private child: ChildProcess | null = null;

  private constructor(
    readonly port: number,
    private readonly programs: Programs,
    private readonly account: Account | null,
    private readonly folder: string,
    private readonly options: PostgresOptions,
  ) {}

  static async start(options: PostgresOptions = {}): Promise<PostgresProcess> {
    const folder = options.folder ?? mkdtempSync(join(tmpdir(), 'ladder-postgres-'));
    chmodSync(folder, 0o755);
    const { programs, account } = await findPrograms(folder);
    const started = new PostgresProcess(await freePort(), programs, account, folder, options);
    try {
      started.createCluster();
      await started.start();
    } catch (error) {
      await started.remove();
      throw error;
    }
    return started;
  }

  /** As a superuser. */
  get url(): string {
    return `postgres://postgres@127.0.0.1:${this.port}/postgres`;
  }

  get isRunning(): boolean {
    return this.child !== null && this.child.exitCode === null && this.child.signalCode === null;
  }

  /** Resolves once it is gone. */
  async stop(signal: (typeof ENDINGS)[number]): Promise<void> {
    const { child } = this;
    if (!child || !this.isRunning) return;
    const exited = once(child, 'exit');
    child.kill(signal);
    await exited;
  }

  /** Starts it on what it has, and resolves once it answers. */
  async start(): Promise<void> {
    const endsAtMs = Date.now() + READY_WITHIN_MS;
    while (!(await this.answers())) {
      // What was killed a moment ago may hold its memory still: then the next start is refused, and tried again.
      if (!this.isRunning) this.launch();
      if (Date.now() > endsAtMs) throw new Error(`PostgreSQL does not answer on port ${this.port}`);
      await sleep(100);
    }
  }

  /** Ends it, and removes its files. */
  async remove(): Promise<void> {
    await this.stop('SIGQUIT');
    rmSync(this.options.folder === undefined ? this.folder : this.cluster, { recursive: true, force: true });
  }

  private get cluster(): string {
    return join(this.folder, 'data');
  }

  private createCluster(): void {
    mkdirSync(this.cluster, { mode: 0o700 });
    if (this.account) chownSync(this.cluster, this.account.uid, this.account.gid);
    const args = ['-D', this.cluster, '-U', 'postgres', '--auth=trust', '--encoding=UTF8', '--locale=C', '--no-sync'];
    args.push(`--wal-segsize=${this.options.walSegmentMegabytes ?? 16}`);
    const made = spawnSync(this.programs.initdb, args, { ...this.account, cwd: '/', env: QUIET, encoding: 'utf8' });
    if (made.status !== 0) throw new Error(`initdb failed: ${made.stderr}`);
  }

  private launch(): void {
    const settings = {
      listen_addresses: '127.0.0.1',
      port: String(this.port),
      unix_socket_directories: '',
      max_connections: '200',
      timezone: 'UTC',
      ...this.options.settings,
    };
    const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    this.child = spawn(this.programs.postgres, ['-D', this.cluster, ...args], {
      ...this.account,
      cwd: '/',
      env: QUIET,
      stdio: 'ignore',
    });
  }

  private async answers(): Promise<boolean> {
    if (!this.isRunning) return false;
    const session = await openPostgres(this.url).catch(() => null);
    await session?.end();
    return session !== null;
  }
}

/** The programs that the tools start, and the account that they run as. */
async function findPrograms(home: string): Promise<{ programs: Programs; account: Account | null }> {
  const fromTools = (file: string): string => new URL(`../../tools/services/${file}`, import.meta.url).href;
  const { postgresAccount } = (await import(fromTools('postgres-account.mjs'))) as {
    postgresAccount: (cluster: string) => Account | null;
  };
  const { findPostgres } = (await import(fromTools('postgres-binaries.mjs'))) as {
    findPostgres: (options: object) => Programs;
  };
  const account = postgresAccount(join(home, 'data'));
  return { programs: findPostgres({ root: process.cwd(), home, account, dataMajor: null }), account };
}
