import pg from 'pg';

/**
 * A connection that breaks says so by what is asked on it. PostgreSQL may end one in the moment in which it opens, before
 * whoever wanted it listens, and an error that nobody listens to ends the process.
 */
export class PostgresClient extends pg.Client {
  constructor(config?: pg.ClientConfig) {
    super(config);
    this.on('error', () => undefined);
  }
}
