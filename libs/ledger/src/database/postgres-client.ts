import pg from 'pg';

/** Compiling a plan that seems costly, as one over many partitions does, takes longer than all that is asked here: seconds. */
const WITHOUT_JIT = '-c jit=off';

/**
 * A broken connection shows in the queries on it. But PostgreSQL may end one in the moment in which it opens, before
 * anybody listens to its errors, and an error without a listener ends the process.
 */
export class PostgresClient extends pg.Client {
  constructor(config?: pg.ClientConfig) {
    super({ ...config, options: [WITHOUT_JIT, config?.options].join(' ').trimEnd() });
    this.on('error', () => undefined);
  }
}
