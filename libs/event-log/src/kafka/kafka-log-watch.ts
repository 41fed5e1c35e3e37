import { LeasedTask, type PostgresDatabase, PostgresLeases } from '@laddercast/ledger';
import { KafkaTopicError } from './kafka-topics.js';
import { bringBackLost } from './log-change.js';
import { reasonOf, type LogLine } from '../delivery/log-line.js';

export interface KafkaLogWatchOptions {
  log: LogLine;
  /** Brings back from the ledger what consumers made of the log; tried again when it fails. */
  bringBack: () => Promise<void>;
  /** Time between two looks, ms; 5 s when not given. */
  everyMs?: number;
}

/** The watched log; see KafkaEventLog. */
export interface WatchedLog {
  losses(): Promise<LogLosses>;
  declareLost(incarnation: number, reason: string): Promise<void>;
}

/** What the log of an incarnation has lost, in words; empty when it is whole. */
export interface LogLosses {
  incarnation: number;
  found: readonly string[];
}

const LOOK_EVERY_MS = 5000;
const LEASE_TTL_MS = 6000;
const ASK_EVERY_MS = 2000;

/**
 * Notices that the log has lost what it had acknowledged, and has that brought back from the ledger. One process at a
 * time does so. A loss must show in two looks: a broker that comes back answers for a moment with what it knew before.
 */
export class KafkaLogWatch {
  private readonly task: LeasedTask;
  private before: LogLosses | null = null;

  constructor(
    private readonly watched: WatchedLog,
    private readonly database: PostgresDatabase,
    private readonly options: KafkaLogWatchOptions,
  ) {
    this.task = new LeasedTask(new PostgresLeases(database), {
      name: 'log:watch',
      ttlMs: LEASE_TTL_MS,
      askEveryMs: ASK_EVERY_MS,
      duties: [{ everyMs: options.everyMs ?? LOOK_EVERY_MS, run: () => this.watch() }],
      onTerm: () => {
        this.before = null;
        return () => undefined;
      },
      onFailure: (error) => this.cannotSee(error),
    });
  }

  start(): void {
    this.task.start();
  }

  stop(): Promise<void> {
    return this.task.stop();
  }

  private async watch(): Promise<void> {
    await this.look().catch((error: unknown) => this.cannotSee(error));
    await this.makeGood();
  }

  private cannotSee(error: unknown): void {
    const level = error instanceof KafkaTopicError ? 'warn' : 'debug';
    this.options.log(level, `It cannot be seen now whether the log is whole: ${reasonOf(error)}`);
  }

  private async look(): Promise<void> {
    const { before } = this;
    const now = await this.watched.losses();
    this.before = now;
    if (before?.incarnation !== now.incarnation) return;
    const stillMissing = now.found.filter((loss) => before.found.includes(loss));
    if (stillMissing.length > 0) await this.watched.declareLost(now.incarnation, stillMissing.join('; '));
  }

  private async makeGood(): Promise<void> {
    try {
      const lost = await bringBackLost(this.database, this.options.bringBack);
      if (lost === null) return;
      this.before = null;
      this.options.log('warn', `The log has lost events: what they bring about comes from PostgreSQL. ${lost}`);
    } catch (error) {
      this.options.log('warn', `What the log has lost cannot be brought back yet: ${reasonOf(error)}`);
    }
  }
}
