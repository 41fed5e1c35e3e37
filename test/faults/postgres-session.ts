import pg from 'pg';

/** One connection of the test's own. */
export interface PostgresSession {
  query<Row>(sql: string, parameters?: unknown[]): Promise<Row[]>;
  end(): Promise<void>;
}

const ANSWER_WITHIN_MS = 20_000;

/** Connects; counts and times are read as numbers only where the statement casts them. */
export async function openPostgres(url: string): Promise<PostgresSession> {
  const client = new pg.Client({
    connectionString: url,
    query_timeout: ANSWER_WITHIN_MS,
    connectionTimeoutMillis: 5000,
  });
  // A connection that breaks says so by the query that it breaks under.
  client.on('error', () => undefined);
  await client.connect();
  return {
    query: async <Row>(sql: string, parameters: unknown[] = []) => (await client.query(sql, parameters)).rows as Row[],
    end: () => client.end(),
  };
}
