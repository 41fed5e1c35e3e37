import type { OnApplicationShutdown } from '@nestjs/common';
import pg from 'pg';
import { DataSource, MigrationExecutor, type QueryRunner } from 'typeorm';
import { postgresAddress } from './postgres-address.js';
import { PostgresClient } from './postgres-client.js';
import type { SqlRunner } from './postgres-database.js';
import { MIGRATION_CONNECTIONS, MIGRATION_LIMITS, runMigrations } from './postgres-migrations.js';

/** TypeORM's, in the transaction of a migration. */
export type MigrationRunner = QueryRunner;

/** A step of a team's schema, as TypeORM's `MigrationInterface`; steps are never taken back. */
export interface TeamMigration {
  up(runner: MigrationRunner): Promise<unknown>;
}

export interface TeamDatabaseOptions {
  /** Where the team's tables are: 1-63 of `a-z`, `0-9`, `_`, beginning with a letter; not `public`, nor `pg_…`. */
  schema: string;
  /** Their names end in a Unix time in milliseconds, which is their order; what ran once never runs again. */
  migrations: readonly (new () => TeamMigration)[];
  /** Connections of a process, beside those of the service: 1-20, by default 4. */
  connectionsMax?: number;
}

/** Where PostgreSQL is: `DATABASE_URL` and `DATABASE_CA_FILE`. */
interface Server {
  url: string;
  caFile?: string;
}

const SCHEMA = /^(?!pg_|public$)[a-z][a-z0-9_]{0,62}$/;
const CONNECTIONS = { min: 1, max: 20, byDefault: 4 };
const CONNECT_TIMEOUT_MS = 5000;
const STATEMENT_TIMEOUT_MS = 5000;
/** A migration may fill a table, or make an index. */
const MIGRATION_STATEMENT_TIMEOUT_MS = 600_000;
const LOCK_TIMEOUT_MS = 4000;
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 10_000;
/** Beyond the server's own limits: a server that says nothing is an error, and not a wait without end. */
const ANSWER_MARGIN_MS = 1000;

/**
 * A team's own tables, in a schema of their own in the database of the service; names without a schema are those of the team.
 * A statement has five seconds.
 */
export class TeamDatabase implements SqlRunner, OnApplicationShutdown {
  private constructor(private readonly pool: pg.Pool) {}

  /**
   * Makes the schema and runs the migrations that are due, of processes that start together in one.
   * @throws what the team is to change, when that fails
   */
  static async open(server: Server, options: TeamDatabaseOptions): Promise<TeamDatabase> {
    const { schema, connectionsMax = CONNECTIONS.byDefault } = options;
    if (!SCHEMA.test(schema)) {
      throw new Error(`"${schema}" cannot be a team's schema: 1-63 of a-z, 0-9, "_", not "public", no "pg_…".`);
    }
    if (!Number.isInteger(connectionsMax) || connectionsMax < CONNECTIONS.min || connectionsMax > CONNECTIONS.max) {
      throw new Error(
        `The schema "${schema}" has ${connectionsMax} for connectionsMax: 1-${CONNECTIONS.max} are possible.`,
      );
    }
    await migrate(server, options);
    const pool = new pg.Pool({
      ...connectionTo(server, schema, STATEMENT_TIMEOUT_MS),
      Client: PostgresClient,
      max: connectionsMax,
    });
    // A lost idle connection is noticed by the next query, which says so.
    pool.on('error', () => undefined);
    return new TeamDatabase(pool);
  }

  async query<Row>(sql: string, parameters: unknown[] = []): Promise<Row[]> {
    return (await this.pool.query(sql, parameters)).rows as Row[];
  }

  /** Runs `work` in one transaction: committed when it resolves, rolled back when it throws. */
  async transaction<T>(work: (transaction: SqlRunner) => Promise<T>): Promise<T> {
    const client = await this.pool.connect();
    try {
      await client.query('BEGIN');
      const query = async <Row>(sql: string, parameters: unknown[] = []): Promise<Row[]> =>
        (await client.query(sql, parameters)).rows as Row[];
      const result = await work({ query });
      const { command } = await client.query('COMMIT');
      // After a statement that failed PostgreSQL commits nothing, and says only so.
      if (command === 'ROLLBACK')
        throw new Error('A statement of the transaction failed, so nothing of it was stored: let its error through.');
      client.release();
      return result;
    } catch (error) {
      const failure = await client.query('ROLLBACK').then(
        () => undefined,
        (cause: Error) => cause,
      );
      // In an unknown state it is used by nobody again.
      client.release(failure);
      throw error;
    }
  }

  /** After the sagas and the requests have come to their end. */
  async onApplicationShutdown(): Promise<void> {
    await this.pool.end();
  }
}

async function migrate(server: Server, { schema, migrations }: TeamDatabaseOptions): Promise<void> {
  const { connectionString, connectionTimeoutMillis, ...extra } = connectionTo(
    server,
    schema,
    MIGRATION_STATEMENT_TIMEOUT_MS,
  );
  const { idle_in_transaction_session_timeout } = MIGRATION_LIMITS;
  const source = new DataSource({
    type: 'postgres',
    driver: pg,
    url: connectionString,
    connectTimeoutMS: connectionTimeoutMillis,
    schema,
    // Nobody asks for the way back.
    migrations: migrations as DataSource['options']['migrations'] & unknown[],
    migrationsTableName: 'migrations',
    poolSize: MIGRATION_CONNECTIONS,
    extra: { ...extra, idle_in_transaction_session_timeout, Client: PostgresClient },
  });
  await source.initialize();
  try {
    await runMigrations(source, (session) => session.query(`CREATE SCHEMA IF NOT EXISTS "${schema}"`));
  } catch (cause) {
    const [failed] = await new MigrationExecutor(source).getPendingMigrations().catch(() => []);
    const what = failed ? `the migration ${failed.name}` : 'a migration';
    throw new Error(`${what} of the schema "${schema}" failed: ${(cause as Error).message}`, { cause });
  } finally {
    await source.destroy();
  }
}

const connectionTo = ({ url, caFile }: Server, schema: string, statementTimeoutMs: number) => ({
  connectionString: postgresAddress(url, caFile),
  application_name: `laddercast ${schema}`,
  connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  keepAlive: true,
  options: `-c search_path=${schema}`,
  statement_timeout: statementTimeoutMs,
  lock_timeout: LOCK_TIMEOUT_MS,
  idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_TIMEOUT_MS,
  query_timeout: statementTimeoutMs + ANSWER_MARGIN_MS,
});
