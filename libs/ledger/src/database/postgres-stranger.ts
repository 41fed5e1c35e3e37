import { connect } from 'node:net';
import { sleep } from '@laddercast/platform';
import pg from 'pg';

const WORD_WITHIN_MS = 2000;
/** Redis and servers of HTTP answer it, others greet before; PostgreSQL hangs up. */
const NO_STARTUP = 'PING\r\n\r\n';
/** A PostgreSQL, or a pooler before one, that gives a reason: a letter and a length. */
const POSTGRES_ERROR = /^E\0/;

/** Whether a server that is no PostgreSQL answers at this address; false where nobody says anything. */
export async function isStranger(address: string): Promise<boolean> {
  const { host, port } = new pg.Client({ connectionString: address });
  const socket = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect({ host, port });
  const word = new Promise<string>((resolve) => {
    socket.once('data', (data) => resolve(data.toString('latin1')));
    socket.once('error', () => resolve(''));
    socket.once('close', () => resolve(''));
  });
  socket.write(NO_STARTUP);
  const said = await Promise.race([word, sleep(WORD_WITHIN_MS).then(() => '')]);
  socket.destroy();
  return said !== '' && !POSTGRES_ERROR.test(said);
}
