import { PostgresDatabase, type SqlRunner } from '@laddercast/ledger';
import { sleep } from '@laddercast/platform';
import { Inject, Injectable, Optional } from '@nestjs/common';
import { reasonOf, writeLogLine, type LogLine } from '../delivery/log-line.js';
import { TRIM_DEFAULTS } from './postgres-outbox-trimmer.js';
import { TOPICS, type Topic } from '../topics.js';

/** A consumer group of the log, and what it reads. */
export interface LogGroup {
  group: string;
  topics: readonly Topic[];
}

const RENEW_EVERY_MS = 3_600_000;
const RETRY_AFTER_MS = 5000;
const PREFIX = 'log-group/';

interface Registration {
  topics: string[];
  renewedAtMs: number;
}

/**
 * The groups that consume the log in any process of the installation, so that one process can report on all: groups
 * that a team adds to its projectors are unknown to the code of the others. A group that nobody has renewed for seven
 * days is dropped, as the outbox does.
 */
@Injectable()
export class PostgresLogGroups {
  private readonly stopped = new AbortController();
  private renewing: Promise<void> | null = null;

  constructor(
    @Inject(PostgresDatabase) private readonly database: SqlRunner,
    @Optional() private readonly log: LogLine = writeLogLine,
  ) {}

  /** Registers these groups, now and until they are stopped. */
  start(groups: readonly LogGroup[]): void {
    this.renewing ??= this.renew(groups);
  }

  async stop(): Promise<void> {
    this.stopped.abort();
    await this.renewing;
  }

  /** All groups that are registered, by name. */
  async all(): Promise<LogGroup[]> {
    const rows = await this.database.query<{ name: string; value: string; nowMs: number }>(
      `SELECT name, value, ${NOW_MS} AS "nowMs" FROM installation WHERE starts_with(name, $1) ORDER BY name`,
      [PREFIX],
    );
    return rows.flatMap(({ name, value, nowMs }) => {
      const { topics, renewedAtMs } = JSON.parse(value) as Registration;
      if (nowMs - renewedAtMs > TRIM_DEFAULTS.groupKeptMs) return [];
      // Another release may have written topics that this one does not know.
      return { group: name.slice(PREFIX.length), topics: TOPICS.filter((topic) => topics.includes(topic)) };
    });
  }

  private async renew(groups: readonly LogGroup[]): Promise<void> {
    const { signal } = this.stopped;
    while (!signal.aborted) {
      const renewed = await this.write(groups).then(
        () => true,
        (error: unknown) => {
          this.log('debug', `The groups of the log cannot be registered now: ${reasonOf(error)}`);
          return false;
        },
      );
      await sleep(renewed ? RENEW_EVERY_MS : RETRY_AFTER_MS, signal);
    }
  }

  private async write(groups: readonly LogGroup[]): Promise<void> {
    await this.database.query(
      `INSERT INTO installation (name, value)
       SELECT $1 || g.name, jsonb_build_object('topics', g.topics, 'renewedAtMs', ${NOW_MS})::text
       FROM jsonb_to_recordset($2::jsonb) AS g (name text, topics jsonb)
       ORDER BY g.name
       ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
      [PREFIX, JSON.stringify(groups.map(({ group, topics }) => ({ name: group, topics })))],
    );
  }
}

const NOW_MS = 'floor(extract(epoch FROM statement_timestamp()) * 1000)::float8';
