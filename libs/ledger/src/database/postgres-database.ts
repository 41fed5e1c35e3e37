import { metrics, monotonicMs } from '@laddercast/platform';
import pg from 'pg';
import { DataSource, type DataSourceOptions, type QueryRunner } from 'typeorm';
import { BoardEntity } from '../entities/board.entity.js';
import { WindowEntity } from '../entities/window.entity.js';
import { postgresAddress } from './postgres-address.js';
import { PostgresClient } from './postgres-client.js';
import { isDatabaseUnavailable } from './postgres-errors.js';
import {
  MIGRATION_CONNECTIONS,
  MIGRATION_LIMITS,
  MIGRATIONS,
  MIGRATIONS_TABLE,
  runMigrations,
} from './postgres-migrations.js';
import { PostgresReach } from './postgres-reach.js';
import { ANSWER_TIMEOUT_MS, discardConnection, rollBack, sqlRunnerOf } from './postgres-runners.js';

/** bigint columns hold positions and counts below 2^53: numbers are exact, and JSON can carry them. */
pg.types.setTypeParser(pg.types.builtins.INT8, Number);

/** The server's own limits, each below the client's: a healthy server answers with an error first. */
const LOCK_TIMEOUT_MS = 4000;
const STATEMENT_TIMEOUT_MS = 5000;
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 10_000;
const CONNECT_TIMEOUT_MS = 5000;

export interface PostgresDatabaseOptions {
  url: string;
  /** Certificates of the authorities that are trusted for the server; see {@link postgresAddress}. */
  caFile?: string;
  /** The most connections of this process: each lane keeps one of them, listeners come on top. */
  poolMax?: number;
  applicationName?: string;
}

/** Something that runs SQL: the pool, or one transaction. */
export interface SqlRunner {
  query<Row>(sql: string, parameters?: unknown[]): Promise<Row[]>;
}

/**
 * PostgreSQL as every part of the service uses it: one pool with time-outs, so that a hung server is an error and not
 * a wait without end. Everything above sees rows, never TypeORM.
 */
export class PostgresDatabase implements SqlRunner {
  readonly dataSource: DataSource;
  private readonly address: string;
  /** Whether PostgreSQL can be reached; it looks once it is started. */
  readonly reach: PostgresReach;

  constructor(readonly options: PostgresDatabaseOptions) {
    this.address = postgresAddress(options.url, options.caFile);
    this.reach = new PostgresReach(
      () =>
        new PostgresClient({
          connectionString: this.address,
          application_name: 'laddercast looks',
          keepAlive: true,
          connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
        }),
    );
    this.dataSource = new DataSource({
      type: 'postgres',
      driver: pg,
      url: this.address,
      applicationName: options.applicationName ?? 'laddercast',
      entities: [BoardEntity, WindowEntity],
      migrations: MIGRATIONS,
      migrationsTableName: MIGRATIONS_TABLE,
      synchronize: false,
      poolSize: options.poolMax ?? 10,
      connectTimeoutMS: CONNECT_TIMEOUT_MS,
      // A lost idle connection is noticed by the next query, which says so; the pool's own event must not end the process.
      poolErrorHandler: () => undefined,
      extra: {
        Client: PostgresClient,
        lock_timeout: LOCK_TIMEOUT_MS,
        statement_timeout: STATEMENT_TIMEOUT_MS,
        idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_TIMEOUT_MS,
        query_timeout: ANSWER_TIMEOUT_MS,
        keepAlive: true,
        // Queries are sent at once, before the last answer has come.
        pipeline: true,
      },
    });
  }

  /** Connects; `migrate` also brings the schema up to date (once, whoever comes first). */
  async open({ migrate }: { migrate: boolean }): Promise<void> {
    if (!this.dataSource.isInitialized) await this.dataSource.initialize();
    if (migrate) await this.migrate();
  }

  /** On connections of their own, as migrations may take longer than any statement of the service. */
  private async migrate(): Promise<void> {
    const source = new DataSource({
      ...this.dataSource.options,
      entities: [],
      poolSize: MIGRATION_CONNECTIONS,
      extra: { Client: PostgresClient, ...MIGRATION_LIMITS },
    } as DataSourceOptions);
    await source.initialize();
    try {
      await runMigrations(source);
    } finally {
      await source.destroy();
    }
  }

  async close(): Promise<void> {
    await this.reach.stop();
    if (this.dataSource.isInitialized) await this.dataSource.destroy();
  }

  /** @throws LEDGER_UNAVAILABLE at once while PostgreSQL is away; as do all the others */
  async query<Row>(sql: string, parameters: unknown[] = []): Promise<Row[]> {
    this.reach.assertThere();
    const runner = this.dataSource.createQueryRunner();
    try {
      await connect(runner);
      const rows = await sqlRunnerOf(runner).query<Row>(sql, parameters);
      this.reach.seen();
      await runner.release();
      return rows;
    } catch (error) {
      if (isDatabaseUnavailable(error)) await discardConnection(runner, error);
      else await runner.release();
      throw error;
    }
  }

  /** Runs `work` in one transaction: committed when it resolves, rolled back when it throws. */
  async transaction<T>(work: (transaction: SqlRunner) => Promise<T>): Promise<T> {
    this.reach.assertThere();
    const runner = this.dataSource.createQueryRunner();
    try {
      await connect(runner);
      await runner.query('BEGIN');
      const result = await work(sqlRunnerOf(runner));
      await runner.query('COMMIT');
      this.reach.seen();
      await runner.release();
      return result;
    } catch (error) {
      await rollBack(runner, error);
      if (!runner.isReleased) await runner.release();
      throw error;
    }
  }

  /**
   * As {@link transaction}, on a connection of its own, for work of minutes: no statement may take longer than
   * `timeoutMs`. When the signal aborts, the connection is cut and nothing is committed.
   */
  async longTransaction<T>(
    timeoutMs: number,
    work: (transaction: SqlRunner) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T> {
    this.reach.assertThere();
    const client = new PostgresClient({
      connectionString: this.address,
      application_name: this.options.applicationName ?? 'laddercast',
      keepAlive: true,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      statement_timeout: timeoutMs,
      query_timeout: timeoutMs + ANSWER_TIMEOUT_MS,
      lock_timeout: LOCK_TIMEOUT_MS,
      idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_TIMEOUT_MS,
    });
    await client.connect();
    const cut = (): void => void client.end().catch(() => undefined);
    signal?.addEventListener('abort', cut, { once: true });
    try {
      signal?.throwIfAborted();
      await client.query('BEGIN');
      const result = await work({
        query: async <Row>(sql: string, parameters: unknown[] = []) =>
          (await client.query(sql, parameters)).rows as Row[],
      });
      await client.query('COMMIT');
      return result;
    } finally {
      signal?.removeEventListener('abort', cut);
      // What was not committed is rolled back with the connection.
      await client.end();
    }
  }

  /**
   * The rows of one statement as they were when it began, some at a time: for more rows than memory should hold. On a
   * connection of its own, in a transaction that changes nothing.
   * @param options `rows`: the most at a time; `timeoutMs`: how long PostgreSQL may take for them, and the reader
   * between them; `signal`: ends the statement, also while it runs
   */
  async *chunks<Row>(
    sql: string,
    parameters: readonly unknown[],
    options: { rows: number; timeoutMs: number; signal: AbortSignal },
  ): AsyncGenerator<Row[], void, undefined> {
    const { rows, timeoutMs, signal } = options;
    const client = await this.ownClient(timeoutMs, timeoutMs);
    let pid = 0;
    let cancelling: Promise<unknown> = Promise.resolve();
    const cancel = (): void => {
      cancelling = this.query('SELECT pg_cancel_backend($1)', [pid]).catch(() => undefined);
    };
    try {
      pid = ((await client.query('SELECT pg_backend_pid() AS pid')).rows as { pid: number }[])[0]!.pid;
      signal.addEventListener('abort', cancel, { once: true });
      signal.throwIfAborted();
      await client.query('BEGIN READ ONLY');
      // All rows will be read, so a plan that is quick for the first ones would be slow in the end.
      await client.query('SET LOCAL cursor_tuple_fraction = 1');
      await client.query(`DECLARE chunks NO SCROLL CURSOR FOR ${sql}`, [...parameters]);
      for (;;) {
        const chunk = (await client.query(`FETCH ${rows} FROM chunks`)).rows as Row[];
        if (chunk.length > 0) yield chunk;
        if (chunk.length < rows) return;
      }
    } finally {
      signal.removeEventListener('abort', cancel);
      // Not before: the number of a backend that is gone may belong to another one.
      await cancelling;
      await client.end().catch(() => undefined);
    }
  }

  /** A connection of its own, for a lane; the caller releases it. */
  async dedicatedConnection(): Promise<QueryRunner> {
    this.reach.assertThere();
    const runner = this.dataSource.createQueryRunner();
    await connect(runner);
    return runner;
  }

  /** Lets the pool have so many connections, if it may not already. */
  growPool(max: number): void {
    const { options } = this.connections;
    options.max = Math.max(options.max, max);
  }

  private get connections(): pg.Pool {
    return (this.dataSource.driver as unknown as { master: pg.Pool }).master;
  }

  /** The pool's connections now, and who waits for one. */
  pool(): { busy: number; idle: number; waiting: number } {
    const { totalCount, idleCount, waitingCount } = this.connections;
    return { busy: totalCount - idleCount, idle: idleCount, waiting: waitingCount };
  }

  /** A connected client outside the pool; the caller ends it. */
  private async ownClient(statementTimeoutMs: number, idleTimeoutMs: number): Promise<pg.Client> {
    this.reach.assertThere();
    const client = new PostgresClient({
      connectionString: this.address,
      application_name: this.options.applicationName ?? 'laddercast',
      keepAlive: true,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      statement_timeout: statementTimeoutMs,
      query_timeout: statementTimeoutMs + ANSWER_TIMEOUT_MS,
      lock_timeout: LOCK_TIMEOUT_MS,
      idle_in_transaction_session_timeout: idleTimeoutMs,
    });
    await client.connect();
    return client;
  }

  /** A client outside the pool for LISTEN; the caller ends it. */
  async listener(): Promise<pg.Client> {
    this.reach.assertThere();
    const client = new PostgresClient({
      connectionString: this.address,
      keepAlive: true,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      query_timeout: ANSWER_TIMEOUT_MS,
    });
    await client.connect();
    return client;
  }
}

/** Takes a connection of the pool, and notes how long that took. */
async function connect(runner: QueryRunner): Promise<void> {
  const askedAtMs = monotonicMs();
  try {
    await runner.connect();
  } finally {
    metrics.postgresPoolWaitSeconds.observe((monotonicMs() - askedAtMs) / 1000);
  }
}
