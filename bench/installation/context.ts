import type { Metered } from '../meters/watch.js';
import type { LedgerDatabase } from './ledger.js';

export type Log = 'postgres' | 'kafka';

/** How the service is run: as one process, or as api, projector and gateway. */
export type Apps = 'one' | 'apart';

/** A process that serves a part of the service. */
export type Role = 'api' | 'projector' | 'gateway';

/** Settings of the service, by their names in the environment. */
export type Settings = Record<string, string>;

/** How the service is reached; the same before and after it was stopped and started again. */
export interface Service extends Metered {
  url: string;
  gatewayUrl: string;
  /** The administrator's. */
  readonly key: string;
  /** One of each process that the role has. */
  metricsUrlsOf(role: Role): string[];
}

/** What is started: where, on which services, and how it is stopped and started again. */
export interface Installation {
  root: string;
  /** For files of the benchmark, too; removed at its end. */
  dataDir: string;
  log: Log;
  apps: Apps;
  apiCount: number;
  /** The command that is measured by, for the tables. */
  command: string;
  redisUrl: string;
  databaseUrl: string;
  kafkaBrokers: string | null;
  /** PostgreSQL, Redis and the like with their versions. */
  services: string;
  /** Stops the service's own processes. */
  stop(): Promise<void>;
  /** Starts them again; `settings` are of this start alone. */
  start(options?: { settings?: Settings }): Promise<void>;
}

/** A service that was started on empty services of its own. */
export interface CleanState {
  service: Service;
  installation: Installation;
  database: LedgerDatabase;
  /** Stops everything, and removes its data. */
  end(): Promise<void>;
}

/** What parts of the benchmark run on: a clean state, and how to tell what they find. */
export interface Measuring extends CleanState {
  /** Prints a line of progress. */
  step(text: string): void;
}

/** What a part gets; `Values`: its options, by their names on the command line. */
export interface BenchContext<Values> extends Measuring {
  options: Values;
  /** How often each figure is measured. */
  rounds: number;
  /** Adds figures to those of `--json`. */
  keep(figures: object): void;
  /** Starts everything anew from a clean state; `apiCount`: other than the command line says. */
  renew(settings?: Settings, apiCount?: number): Promise<BenchContext<Values>>;
}
