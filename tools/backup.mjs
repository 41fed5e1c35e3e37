// Backs up the ledger, and restores it:
//   npm run backup -- FILE      writes all of the database into FILE, while the service runs
//   npm run restore -- FILE     has the database be what FILE holds; the one before is kept under another name
// docs/operations/backup.md says when to do what else.
import { existsSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { findOnPath, outputOf, runStep, stopSteps } from './commands.mjs';
import { answerHelp } from './help.mjs';
import { onInterruption } from './interruption.mjs';
import { describeFailure, Problem } from './problem.mjs';
import { step } from './progress.mjs';
import { ledgerAddress, noLedger, withCaFile } from './services/answers.mjs';

const usage = `Back-ups of the ledger, by pg_dump and pg_restore (PostgreSQL's client programs, of the server's version).

  npm run backup -- FILE     write all of the database into FILE; the service may run
  npm run restore -- FILE    have the database be what FILE holds; stop all processes of the service before

  DATABASE_URL               the ledger's database, as the service has it; DATABASE_CA_FILE the same
  PG_BIN                     the folder of pg_dump and pg_restore, where they are not on the PATH
`;

/** Why it is to end before it is done. */
let interruption = null;

/** @throws Problem where it was interrupted */
function goOn() {
  if (interruption !== null) throw new Problem(`${interruption}: it was interrupted; nothing was changed.`);
}

/** What psql says of a database that is not there. */
const databaseMissing = '3D000';

/**
 * Writes a database into a file: one moment of it, while others write. The file appears when it is whole.
 * @throws Problem
 */
export async function backUp(url, file, env = process.env) {
  if (existsSync(file)) throw new Problem(`${file} is there already. Name another file, or remove that one.`);
  // Of this process alone: two back-ups to one file are not to write into one another.
  const part = `${file}.${process.pid}.part`;
  const { args, withPassword } = connectionOf(url, env);
  try {
    await runStep(
      'Dumping the database',
      program('pg_dump', env),
      [...['--format=custom', '--no-owner', '--no-privileges', `--file=${part}`], ...args],
      { env: withPassword },
    );
    // A file that cannot be read is no back-up.
    await runStep('Reading it once', program('pg_restore', env), ['--list', part]);
    goOn();
    if (existsSync(file)) throw new Problem(`${file} was made by somebody else meanwhile. Name another file.`);
    renameSync(part, file);
  } finally {
    rmSync(part, { force: true });
  }
  step(`${file} has ${(statSync(file).size / 2 ** 20).toFixed(1)} MiB`);
  const newer = await newerThanServer('pg_dump', url, env);
  if (newer !== null)
    step(`Mind: ${newer}, which may not take this file. Programs of the server's version can be named in PG_BIN`);
}

/**
 * Has a database be what a file holds. The file goes into a new database, which takes the place of the old one when it is
 * whole; the old one is kept.
 * @returns `{ before, log }`: the name of the old database, null where there was none; which log the file was written with
 * @throws Problem
 */
export async function restore(url, file, env = process.env) {
  if (!existsSync(file)) throw new Problem(`There is no ${file}.`);
  await runStep('Reading the file', program('pg_restore', env), ['--list', file]);
  const name = databaseIn(url);
  const stamp = new Date().toISOString().replace(/\D/g, '').slice(0, 14);
  const fresh = `${name}_restoring_${stamp}`;
  const before = `${name}_before_${stamp}`;
  // A connection for each part: one that is idle for as long as a restore takes may be cut.
  await asAdministrator(url, name, async (server) => {
    await assertUnused(server, name);
    await server.query(`CREATE DATABASE ${quoted(fresh)} ${await formOf(server, name)}`);
  });
  try {
    goOn();
    const { args, withPassword } = connectionOf(withDatabase(url, fresh), env);
    const options = ['--no-owner', '--no-privileges', '--exit-on-error', '--single-transaction'];
    const newer = await newerThanServer('pg_restore', withDatabase(url, fresh), env);
    const remedy =
      newer &&
      `${newer}: it may say what the server does not know. Use programs of the server's version (PG_BIN), or, where they ` +
        'cannot read the file, restore it to a server of the version that wrote it. Nothing was changed.';
    await runStep('Restoring', program('pg_restore', env), [...options, ...args, file], {
      ...{ env: withPassword, ...(newer && { remedy }) },
    });
    const log = await prepareLedger(withDatabase(url, fresh), file);
    goOn();
    return await asAdministrator(url, name, async (server) => {
      const isThere = await assertUnused(server, name);
      // Both or neither: there is a database of the name at any moment.
      await server.query('BEGIN');
      if (isThere) await server.query(`ALTER DATABASE ${quoted(name)} RENAME TO ${quoted(before)}`);
      await server.query(`ALTER DATABASE ${quoted(fresh)} RENAME TO ${quoted(name)}`);
      await server.query('COMMIT');
      return { before: isThere ? before : null, log };
    });
  } catch (error) {
    const drop = (server) => server.query(`DROP DATABASE IF EXISTS ${quoted(fresh)} WITH (FORCE)`);
    await asAdministrator(url, name, drop).catch(() => step(`"${fresh}" could not be dropped: do it when you can`));
    throw error;
  }
}

/**
 * Without a stamp the ledger is behind any Redis that it ever stamped, however young the file is: what Redis knows of
 * afterwards is thrown away at the start, and comes from the ledger.
 */
async function prepareLedger(url, file) {
  const client = await connect(url);
  try {
    const found = await client.query(`SELECT to_regclass('installation') IS NOT NULL AS is`);
    if (!found.rows[0].is) throw new Problem(`${file} is no back-up of a Laddercast ledger; nothing was changed.`);
    await client.query(`DELETE FROM installation WHERE name = 'stamp'`);
    const { rows } = await client.query(`SELECT value FROM installation WHERE name = 'log'`);
    return rows[0]?.value ?? 'postgres';
  } finally {
    await client.end();
  }
}

/** Whether the database is there. @throws Problem while somebody is connected to it */
async function assertUnused(server, name) {
  const { rows } = await server.query('SELECT oid FROM pg_database WHERE datname = $1', [name]);
  const others = await server.query(
    `SELECT count(*)::int AS count FROM pg_stat_activity WHERE datname = $1 AND backend_type = 'client backend'`,
    [name],
  );
  const [{ count }] = others.rows;
  if (count > 0) {
    throw new Problem(
      `${count} connections to the database "${name}" are open. Stop all processes of the service, and whoever else uses ` +
        'it, then restore again; nothing was changed.',
    );
  }
  return rows.length > 0;
}

/** Text is compared in the restored database as it was before. */
async function formOf(server, name) {
  const { rows } = await server.query('SELECT datcollate, datctype FROM pg_database WHERE datname = $1', [name]);
  const [locale] = rows;
  const text = (value) => `'${value.replaceAll("'", "''")}'`;
  const locales = locale ? ` LC_COLLATE ${text(locale.datcollate)} LC_CTYPE ${text(locale.datctype)}` : '';
  return `TEMPLATE template0 ENCODING 'UTF8'${locales}`;
}

/** Works from another database of the server: nobody may be in one that gets another name. */
async function asAdministrator(url, name, work) {
  const places = ['postgres', 'template1'].filter((one) => one !== name);
  const server = await connect(withDatabase(url, places[0])).catch((error) => {
    if (error.code !== databaseMissing) throw error;
    return connect(withDatabase(url, places.at(-1)));
  });
  try {
    return await work(server);
  } catch (error) {
    if (error.code !== '42501') throw error;
    throw new Problem(`${error.message}: the user of DATABASE_URL has to own the database and to have CREATEDB.`);
  } finally {
    await server.end();
  }
}

async function connect(url) {
  // Ctrl-C waits for it, too.
  const connectionTimeoutMillis = 10_000;
  const client = new pg.Client({
    connectionString: url,
    application_name: 'laddercast-backup',
    connectionTimeoutMillis,
  });
  // What ends it between two queries is told by the next one.
  client.on('error', () => {});
  await client.connect().catch((error) => {
    if (error.code === databaseMissing) throw error;
    throw noLedger(url, error);
  });
  return client;
}

const quoted = (name) => `"${name.replaceAll('"', '""')}"`;
const databaseIn = (url) => decodeURIComponent(new URL(url).pathname.slice(1));

function withDatabase(url, name) {
  const address = new URL(url);
  address.pathname = `/${encodeURIComponent(name)}`;
  return address.href;
}

/** How pg_dump and pg_restore find a database. The password is not among the arguments, which others of the machine see. */
function connectionOf(url, env) {
  const address = new URL(url);
  const password = decodeURIComponent(address.password);
  address.password = '';
  return { args: [`--dbname=${address.href}`], withPassword: { ...env, ...(password && { PGPASSWORD: password }) } };
}

/** Of a program that is newer than the server: both versions, as a part of a sentence. PostgreSQL promises nothing for it. */
async function newerThanServer(name, url, env) {
  const [, version] = / (\d+)/.exec(outputOf(program(name, env), ['--version']) ?? '') ?? [];
  const client = await connect(url);
  const { rows } = await client
    .query(`SELECT current_setting('server_version_num')::int / 10000 AS major`)
    .finally(() => client.end());
  const ofServer = rows[0].major;
  return Number(version) > ofServer ? `${name} is of PostgreSQL ${version}, the server of ${ofServer}` : null;
}

function program(name, env) {
  const [found] = env.PG_BIN ? [join(env.PG_BIN, name)].filter(existsSync) : findOnPath(name, env);
  if (found !== undefined) return found;
  throw new Problem(
    `${name} is not there. Install PostgreSQL's client programs, of the server's version (Debian: ` +
      'postgresql-client), or name their folder in PG_BIN.',
  );
}

async function main([what, file, ...rest]) {
  answerHelp(usage);
  onInterruption((reason) => {
    interruption ??= reason;
    void stopSteps();
  });
  if (file === undefined || rest.length > 0) {
    process.stdout.write(usage);
    return 1;
  }
  const { DATABASE_CA_FILE } = process.env;
  const address = ledgerAddress(process.env);
  const url = DATABASE_CA_FILE ? withCaFile(address, DATABASE_CA_FILE) : address;
  if (what === 'save') {
    await backUp(url, file);
    return 0;
  }
  const { before, log } = await restore(url, file);
  if (before !== null) step(`The database as it was is kept as "${before}"; drop it when you need it no more`);
  if (log !== 'postgres') step('Kafka is the log: set another KAFKA_PREFIX before you start the processes');
  step('Start the processes: they bring the ranks back from PostgreSQL');
  return 0;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    process.exitCode = await main(process.argv.slice(2));
  } catch (error) {
    console.error(describeFailure(error));
    process.exitCode = 1;
  }
}
