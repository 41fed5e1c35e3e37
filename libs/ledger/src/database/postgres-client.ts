import pg from 'pg';
import { withoutOptions } from './postgres-address.js';

/**
 * What no setting of a role or a database is to change. JIT: compiling a plan that seems costly, as one over many partitions
 * does, takes longer than all that is asked here: seconds. Isolation: what is read behind a lane's lock is what the last holder
 * has committed. Digits: a double is read as it was written.
 */
const OURS = '-c jit=off -c default_transaction_isolation=read\\ committed -c extra_float_digits=1';

/**
 * A session with the `options` of its address, ours and those of the config: of two for one setting the later holds.
 *
 * A broken connection shows in the queries on it. But PostgreSQL may end one in the moment in which it opens, before
 * anybody listens to its errors, and an error without a listener ends the process.
 */
export class PostgresClient extends pg.Client {
  constructor(config: pg.ClientConfig = {}) {
    const [connectionString, ofAddress] = withoutOptions(config.connectionString ?? '');
    const options = [ofAddress, OURS, config.options].filter((some) => some != null).join(' ');
    super({ ...config, options, ...(connectionString !== '' && { connectionString }) });
    this.on('error', () => undefined);
  }
}
