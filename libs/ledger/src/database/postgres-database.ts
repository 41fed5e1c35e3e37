import type { Writable } from 'node:stream';
import { metrics, monotonicMs, sleep } from '@laddercast/platform';
import pg from 'pg';
import { DataSource, type QueryRunner } from 'typeorm';
import { ADVISORY_LOCKS } from './advisory-locks.js';
import { BoardEntity } from '../entities/board.entity.js';
import { WindowEntity } from '../entities/window.entity.js';
import { postgresAddress } from './postgres-address.js';
import { PostgresClient } from './postgres-client.js';
import { runStatement } from './postgres-statements.js';
import { isDatabaseUnavailable } from './postgres-errors.js';
import { PostgresReach } from './postgres-reach.js';
import { BoardFeeds1763770000000 } from './migrations/ratings/1763770000000-board-feeds.js';
import { RatingPeriods1763771000000 } from './migrations/ratings/1763771000000-rating-periods.js';
import { Refunds1763772000000 } from './migrations/ratings/1763772000000-refunds.js';
import { EntryEnds1763773000000 } from './migrations/1763773000000-entry-ends.js';
import { RatingBases1763774000000 } from './migrations/ratings/1763774000000-rating-bases.js';
import { NearestBelowNormal1763787000000 } from './migrations/sums/1763787000000-nearest-below-normal.js';
import { BoardTemplates1763784500000 } from './migrations/templates/1763784500000-board-templates.js';
import { Runs1763775000000 } from './migrations/integrity/1763775000000-runs.js';
import { VerifiedRows1763775500000 } from './migrations/integrity/1763775500000-verified-rows.js';
import { ChangePartitions1763776000000 } from './migrations/1763776000000-change-partitions.js';
import { Sanctions1763777000000 } from './migrations/integrity/1763777000000-sanctions.js';
import { EditionRevisions1763778000000 } from './migrations/integrity/1763778000000-edition-revisions.js';
import { Restatements1763781500000 } from './migrations/1763781500000-restatements.js';
import { Flags1763779000000 } from './migrations/integrity/1763779000000-flags.js';
import { RunEntries1763782000000 } from './migrations/integrity/1763782000000-run-entries.js';
import { Patches1763782500000 } from './migrations/patches/1763782500000-patches.js';
import { PatchRuns1763783000000 } from './migrations/patches/1763783000000-patch-runs.js';
import { RunsOfPatches1763785000000 } from './migrations/patches/1763785000000-runs-of-patches.js';
import { TaxOfEditions1763787500000 } from './migrations/patches/1763787500000-tax-of-editions.js';
import { CreateLedger1763700000000 } from './migrations/1763700000000-create-ledger.js';
import { ExactSums1763764000000 } from './migrations/sums/1763764000000-exact-sums.js';
import { FailedEditions1763766000000 } from './migrations/1763766000000-failed-editions.js';
import { FormerIds1763791000000 } from './migrations/1763791000000-former-ids.js';
import { KeysAndAudit1763761000000 } from './migrations/1763761000000-keys-and-audit.js';
import { LayoutsAndLimits1763740000000 } from './migrations/1763740000000-layouts-and-limits.js';
import { LaneHeads1763789000000 } from './migrations/1763789000000-lane-heads.js';
import { LaneMaps1763790000000 } from './migrations/1763790000000-lane-maps.js';
import { LaneWriters1763788000000 } from './migrations/1763788000000-lane-writers.js';
import { MetadataBoards1763763000000 } from './migrations/1763763000000-metadata-boards.js';
import { PoolEvents1763768000000 } from './migrations/ratings/1763768000000-pool-events.js';
import { Voids1763769000000 } from './migrations/ratings/1763769000000-voids.js';
import { RatingPools1763767000000 } from './migrations/ratings/1763767000000-rating-pools.js';
import { IndexBuckets1763760000000 } from './migrations/1763760000000-index-buckets.js';
import { Recovery1763762000000 } from './migrations/1763762000000-recovery.js';
import { SettlementFailures1763765000000 } from './migrations/1763765000000-settlement-failures.js';
import { TimeAndCircles1763720000000 } from './migrations/1763720000000-time-and-circles.js';

/** bigint columns hold positions and counts below 2^53: numbers are exact, and JSON can carry them. */
pg.types.setTypeParser(pg.types.builtins.INT8, Number);

/** The server's own limits, each below the client's: a healthy server answers with an error first. */
const LOCK_TIMEOUT_MS = 4000;
const STATEMENT_TIMEOUT_MS = 5000;
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 10_000;
const CONNECT_TIMEOUT_MS = 5000;
/** A server that says nothing for so long hangs. */
const ANSWER_TIMEOUT_MS = 6000;
/** The same for a statement with others before it, for which it waits, too. */
const BEHIND_OTHERS_TIMEOUT_MS = 2 * ANSWER_TIMEOUT_MS;
/** How long a process that starts waits for another one's migrations. */
const MIGRATIONS_WAIT_MS = 60_000;
const MIGRATIONS_ASK_EVERY_MS = 200;

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
      migrations: [
        CreateLedger1763700000000,
        TimeAndCircles1763720000000,
        LayoutsAndLimits1763740000000,
        IndexBuckets1763760000000,
        KeysAndAudit1763761000000,
        Recovery1763762000000,
        MetadataBoards1763763000000,
        ExactSums1763764000000,
        SettlementFailures1763765000000,
        FailedEditions1763766000000,
        RatingPools1763767000000,
        PoolEvents1763768000000,
        Voids1763769000000,
        BoardFeeds1763770000000,
        RatingPeriods1763771000000,
        Refunds1763772000000,
        EntryEnds1763773000000,
        RatingBases1763774000000,
        Runs1763775000000,
        VerifiedRows1763775500000,
        ChangePartitions1763776000000,
        Sanctions1763777000000,
        EditionRevisions1763778000000,
        Flags1763779000000,
        Restatements1763781500000,
        RunEntries1763782000000,
        Patches1763782500000,
        PatchRuns1763783000000,
        BoardTemplates1763784500000,
        RunsOfPatches1763785000000,
        NearestBelowNormal1763787000000,
        TaxOfEditions1763787500000,
        LaneWriters1763788000000,
        LaneHeads1763789000000,
        LaneMaps1763790000000,
        FormerIds1763791000000,
      ],
      migrationsTableName: 'ladder_migrations',
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
    if (migrate) await runMigrations(this.dataSource);
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

/** Ends a connection in an unknown state: back in the pool, its open transaction would become the next user's. */
export async function discardConnection(runner: QueryRunner, cause: unknown): Promise<void> {
  const reason = cause instanceof Error ? cause : new Error(String(cause));
  // The only way to tell the pool, through TypeORM, not to use a connection again.
  await (runner as unknown as { releasePostgresConnection(reason: Error): Promise<void> }).releasePostgresConnection(
    reason,
  );
}

/** Rolls back after `cause`; where that is not certain to have worked, the connection is discarded. */
export async function rollBack(runner: QueryRunner, cause: unknown): Promise<void> {
  if (isDatabaseUnavailable(cause)) return discardConnection(runner, cause);
  await runner.query('ROLLBACK').catch((error: unknown) => discardConnection(runner, error));
}

/**
 * Runs the migrations that are due, each in a transaction of its own; of processes that start together one does.
 * @param before what comes first, under the same lock
 */
export async function runMigrations(
  dataSource: DataSource,
  before?: (session: SqlRunner) => Promise<unknown>,
): Promise<void> {
  const guard = dataSource.createQueryRunner();
  try {
    await takeMigrationLock(sqlRunnerOf(guard));
    await before?.(sqlRunnerOf(guard));
    await dataSource.runMigrations({ transaction: 'each' });
    await guard.query('SELECT pg_advisory_unlock($1)', [ADVISORY_LOCKS.migrations]);
    await guard.release();
  } catch (error) {
    // The lock goes with the connection.
    await discardConnection(guard, error);
    throw error;
  }
}

async function takeMigrationLock(session: SqlRunner): Promise<void> {
  const untilMs = monotonicMs() + MIGRATIONS_WAIT_MS;
  while (monotonicMs() < untilMs) {
    const [row] = await session.query<{ taken: boolean }>('SELECT pg_try_advisory_lock($1) AS taken', [
      ADVISORY_LOCKS.migrations,
    ]);
    if (row!.taken) return;
    await sleep(MIGRATIONS_ASK_EVERY_MS);
  }
  throw new Error(`Another process has been migrating the database for more than ${MIGRATIONS_WAIT_MS / 1000} s.`);
}

/**
 * Sends statements on one connection in one trip, without waiting for the answers in between; PostgreSQL runs them in
 * this order.
 */
export async function pipelineOf(runner: QueryRunner): Promise<SqlRunner> {
  const client = (await runner.connect()) as pg.PoolClient;
  const { stream } = (client as unknown as { connection: { stream: Writable } }).connection;
  return {
    query: <Row>(sql: string, parameters: unknown[] = []) => {
      // All queries of this turn are one write to the socket.
      const isFirst = stream.writableCorked === 0;
      if (isFirst) {
        stream.cork();
        process.nextTick(() => stream.uncork());
      }
      return runStatement<Row>(client, sql, parameters, isFirst ? ANSWER_TIMEOUT_MS : BEHIND_OTHERS_TIMEOUT_MS);
    },
  };
}

/** Past TypeORM, which prepares no statements and makes an event of each query. */
export function sqlRunnerOf(runner: QueryRunner): SqlRunner {
  return {
    query: async <Row>(sql: string, parameters: unknown[] = []) =>
      runStatement<Row>((await runner.connect()) as pg.PoolClient, sql, parameters),
  };
}
