import { once } from 'node:events';
import {
  createTestDatabase,
  emptyTestRedis,
  freePort,
  newInstallation,
  settingsOfLog,
  startApp,
  type AppPorts,
  type Installation,
  type LogUnderTest,
  type RunningApp,
} from '@laddercast/testing';

/** The three processes that are scaled, and die, on their own. */
export type ProcessName = 'api' | 'projector' | 'gateway';

export interface InstallationOptions {
  log: LogUnderTest;
  /** How many of each; 1 by default. */
  apis?: number;
  projectors?: number;
  gateways?: number;
  /** Beside those of the log; they win over them. */
  settings?: Record<string, string>;
  /** Where PostgreSQL is; default: an empty database on the test server, dropped at the end. */
  databaseUrl?: string;
  /** Where the audit finds PostgreSQL, when the processes reach it by a proxy. */
  auditDatabaseUrl?: string;
  /** Default: the test Redis, emptied. */
  redisUrl?: string;
}

/** One process of the installation: killed and started again, it is found at the same address. */
export class FaultyApp {
  /** Whether it was ever killed or stopped. */
  wasEnded = false;
  private running: RunningApp | null = null;

  constructor(
    readonly name: ProcessName,
    private readonly installation: Installation,
    private readonly ports: AppPorts,
  ) {}

  get url(): string {
    return `http://127.0.0.1:${this.ports.port}`;
  }

  get metricsUrl(): string {
    return `http://127.0.0.1:${this.ports.metricsPort}/metrics`;
  }

  get pid(): number {
    return this.process.pid!;
  }

  /** What the present process, or the last one, wrote. */
  get output(): string {
    return this.running?.output() ?? '';
  }

  get isRunning(): boolean {
    return this.running !== null && this.process.exitCode === null && this.process.signalCode === null;
  }

  /** What a line of its metrics says that begins with this; 0 where there is none. */
  async metric(beginning: string): Promise<number> {
    const lines = (await (await fetch(this.metricsUrl)).text()).split('\n');
    return Number(
      lines
        .find((line) => line.startsWith(beginning))
        ?.split(' ')
        .at(-1) ?? 0,
    );
  }

  /** Resolves once it is ready. */
  async start(): Promise<void> {
    this.running = await startApp(this.name, this.installation, this.ports);
  }

  /** kill -9; resolves once it is gone. */
  async kill(): Promise<void> {
    if (!this.isRunning) return;
    this.wasEnded = true;
    const exited = once(this.process, 'exit');
    this.process.kill('SIGKILL');
    await exited;
  }

  /** SIGTERM; resolves once it is gone, with how it ended and how long that took. */
  async terminate(): Promise<{ code: number | null; signal: string | null; seconds: number }> {
    this.wasEnded = true;
    const startedMs = Date.now();
    const exited = once(this.process, 'exit') as Promise<[number | null, string | null]>;
    this.process.kill('SIGTERM');
    const [code, signal] = await exited;
    return { code, signal, seconds: (Date.now() - startedMs) / 1000 };
  }

  pause(): void {
    this.process.kill('SIGSTOP');
  }

  resume(): void {
    this.process.kill('SIGCONT');
  }

  private get process(): RunningApp['process'] {
    if (this.running === null) throw new Error(`the ${this.name} was never started`);
    return this.running.process;
  }
}

/** The built service as real processes: every answer and frame of a scenario comes from them. */
export class FaultInstallation {
  private constructor(
    readonly log: LogUnderTest,
    readonly adminKey: string,
    readonly jwtSecret: string,
    /** PostgreSQL as the audit reaches it. */
    readonly databaseUrl: string,
    /** Those of the log, and what the scenario asks for. */
    readonly settings: Record<string, string>,
    readonly apis: readonly FaultyApp[],
    readonly projectors: readonly FaultyApp[],
    readonly gateways: readonly FaultyApp[],
    private readonly drop: () => Promise<void>,
  ) {}

  /** Resolves once every process is ready. */
  static async start(options: InstallationOptions): Promise<FaultInstallation> {
    const own = options.databaseUrl === undefined ? await createTestDatabase() : null;
    const databaseUrl = options.databaseUrl ?? own!.url;
    const shared = newInstallation(databaseUrl, options.redisUrl ?? (await emptyTestRedis()));
    const settings = { ...settingsOfLog(options.log), ...options.settings };
    const make = (name: ProcessName, count = 1): Promise<FaultyApp[]> =>
      Promise.all(
        Array.from({ length: count }, async () => {
          const ports = { port: await freePort(), metricsPort: await freePort() };
          return new FaultyApp(name, { ...shared, settings }, ports);
        }),
      );
    const installation = new FaultInstallation(
      options.log,
      shared.adminKey,
      shared.jwtSecret,
      options.auditDatabaseUrl ?? databaseUrl,
      settings,
      await make('api', options.apis),
      await make('projector', options.projectors),
      await make('gateway', options.gateways),
      async () => own?.drop(),
    );
    try {
      await Promise.all(installation.apps.map((app) => app.start()));
    } catch (error) {
      await installation.stop();
      throw error;
    }
    return installation;
  }

  get apps(): FaultyApp[] {
    return [...this.apis, ...this.projectors, ...this.gateways];
  }

  kill(app: FaultyApp): Promise<void> {
    return app.kill();
  }

  /** Kills it where it still runs, and starts it anew at the same address. */
  async restart(app: FaultyApp): Promise<void> {
    await app.kill();
    await app.start();
  }

  pause(app: FaultyApp): void {
    app.pause();
  }

  resume(app: FaultyApp): void {
    app.resume();
  }

  /** Ends all processes at once: what is not durable by now is lost, and the audit was before. */
  async stop(): Promise<void> {
    await Promise.all(this.apps.map((app) => (app.isRunning ? app.kill() : undefined)));
    await this.drop();
  }
}
