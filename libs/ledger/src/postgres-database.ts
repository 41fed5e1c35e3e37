import pg from 'pg';
import { DataSource, type QueryRunner } from 'typeorm';
import { ApiKeyEntity } from './entities/api-key.entity.js';
import { BoardEntity } from './entities/board.entity.js';
import { WindowEntity } from './entities/window.entity.js';
import { CreateLedger1763700000000 } from './migrations/1763700000000-create-ledger.js';

/** bigint columns hold positions and counts below 2^53: numbers are exact, and JSON can carry them. */
pg.types.setTypeParser(pg.types.builtins.INT8, Number);

/** One key for the advisory lock under which migrations run, so that processes which start together do them once. */
const MIGRATION_LOCK = 7_162_534;

export interface PostgresDatabaseOptions {
  url: string;
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

  constructor(readonly options: PostgresDatabaseOptions) {
    this.dataSource = new DataSource({
      type: 'postgres',
      url: options.url,
      applicationName: options.applicationName ?? 'laddercast',
      entities: [BoardEntity, WindowEntity, ApiKeyEntity],
      migrations: [CreateLedger1763700000000],
      migrationsTableName: 'ladder_migrations',
      synchronize: false,
      poolSize: options.poolMax ?? 10,
      connectTimeoutMS: 5000,
      // A lost idle connection is noticed by the next query, which says so; the pool's own event must not end the process.
      poolErrorHandler: () => undefined,
      extra: {
        statement_timeout: 30_000,
        lock_timeout: 5000,
        idle_in_transaction_session_timeout: 10_000,
        keepAlive: true,
        query_timeout: 35_000,
      },
    });
  }

  /** Connects; `migrate` also brings the schema up to date (once, whoever comes first). */
  async open({ migrate }: { migrate: boolean }): Promise<void> {
    if (!this.dataSource.isInitialized) await this.dataSource.initialize();
    if (!migrate) return;
    const guard = this.dataSource.createQueryRunner();
    try {
      await guard.query(`SET lock_timeout = '60s'`);
      await guard.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK]);
      await this.dataSource.runMigrations({ transaction: 'each' });
    } finally {
      await guard.query('SELECT pg_advisory_unlock($1)', [MIGRATION_LOCK]).catch(() => undefined);
      await guard.query('RESET lock_timeout').catch(() => undefined);
      await guard.release();
    }
  }

  async close(): Promise<void> {
    if (this.dataSource.isInitialized) await this.dataSource.destroy();
  }

  async query<Row>(sql: string, parameters: unknown[] = []): Promise<Row[]> {
    const runner = this.dataSource.createQueryRunner();
    try {
      return rowsOf<Row>(await runner.query(sql, parameters, true));
    } finally {
      await runner.release();
    }
  }

  /** Runs `work` in one transaction: committed when it resolves, rolled back when it throws. */
  async transaction<T>(work: (transaction: SqlRunner) => Promise<T>): Promise<T> {
    const runner = this.dataSource.createQueryRunner();
    try {
      await runner.query('BEGIN');
      const result = await work(sqlRunnerOf(runner));
      await runner.query('COMMIT');
      return result;
    } catch (error) {
      await runner.query('ROLLBACK').catch(() => undefined);
      throw error;
    } finally {
      await runner.release();
    }
  }

  /** A connection of its own, for a lane; the caller releases it. */
  async dedicatedConnection(): Promise<QueryRunner> {
    const runner = this.dataSource.createQueryRunner();
    await runner.connect();
    return runner;
  }

  /** A client outside the pool for LISTEN; the caller ends it. */
  async listener(): Promise<pg.Client> {
    const client = new pg.Client({
      connectionString: this.options.url,
      keepAlive: true,
      connectionTimeoutMillis: 5000,
    });
    await client.connect();
    return client;
  }
}

export function sqlRunnerOf(runner: QueryRunner): SqlRunner {
  return {
    query: async <Row>(sql: string, parameters: unknown[] = []) =>
      rowsOf<Row>(await runner.query(sql, parameters, true)),
  };
}

const rowsOf = <Row>(result: { records?: unknown[] }): Row[] => (result.records ?? []) as Row[];
