import pg from 'pg';

/**
 * A broken connection shows in the queries on it. But PostgreSQL may end one in the moment in which it opens, before
 * anybody listens to its errors, and an error without a listener ends the process.
 */
export class PostgresClient extends pg.Client {
  constructor(config?: pg.ClientConfig) {
    super(config);
    this.on('error', () => undefined);
  }
}
