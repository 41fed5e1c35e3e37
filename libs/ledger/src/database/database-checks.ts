import type { PostgresDatabase } from './postgres-database.js';

/** The settings that make an answered commit survive a crash of the server's machine. */
const KEEPS_COMMITS = `
  SELECT name, setting FROM pg_settings
  WHERE (name IN ('fsync', 'full_page_writes') AND setting <> 'on') OR (name = 'synchronous_commit' AND setting = 'off')
  ORDER BY name`;

/**
 * Settings, such as `fsync=off`, under which a crash can lose answered commits; empty: none. `synchronous_commit` is
 * that of our own sessions; all of its values but off wait for the disk.
 */
export async function unsafeDatabaseSettings(database: PostgresDatabase): Promise<string[]> {
  const rows = await database.query<{ name: string; setting: string }>(KEEPS_COMMITS);
  return rows.map(({ name, setting }) => `${name}=${setting}`);
}

/** The oldest PostgreSQL whose statements are used here. */
const VERSION_MIN = 15;

/** What a server says of itself before anything is written there. */
export interface ServerFacts {
  /** Of `version()`. */
  text: string;
  /** Of `server_version_num`, such as 150018. */
  number: number;
  isStandby: boolean;
  /** Of the database, such as UTF8. */
  encoding: string;
  /** Tables of the service that Citus spreads over nodes. */
  spread: string[];
}

/** @throws when the database does not answer */
export async function serverFacts(database: PostgresDatabase): Promise<ServerFacts> {
  const [row] = await database.query<Omit<ServerFacts, 'spread'> & { hasCitus: boolean }>(
    `SELECT version() AS text, current_setting('server_version_num')::int AS number,
       pg_is_in_recovery() AS "isStandby", current_setting('server_encoding') AS encoding,
       to_regclass('pg_dist_partition') IS NOT NULL AS "hasCitus"`,
  );
  const { hasCitus, ...facts } = row!;
  return { ...facts, spread: hasCitus ? await tablesOfCitus(database) : [] };
}

async function tablesOfCitus(database: PostgresDatabase): Promise<string[]> {
  const rows = await database.query<{ name: string }>(
    `SELECT c.relname AS name FROM pg_dist_partition p JOIN pg_class c ON c.oid = p.logicalrelid
     WHERE c.relnamespace = current_schema()::regnamespace ORDER BY name`,
  );
  return rows.map(({ name }) => name);
}

/** Why scores are not safe on this server, with what to do; null: they are. */
export function faultOfServer({ text, number, isStandby, encoding, spread }: ServerFacts): string | null {
  // Both take advisory locks and snapshots as one server does, and keep neither promise over several.
  if (/-YB-|CockroachDB/.test(text))
    return `${text.split(' on ')[0]} spreads rows over nodes, where the locks that commits rest on do not hold. DATABASE_URL needs PostgreSQL itself.`;
  if (spread.length > 0)
    return `Citus spreads ${spread.join(', ')} over nodes, where the locks that commits rest on do not hold. Undistribute these tables.`;
  if (number < VERSION_MIN * 10_000)
    return `PostgreSQL is of version ${Math.floor(number / 10_000)}: ${VERSION_MIN} or newer is needed.`;
  if (isStandby) return 'The PostgreSQL of DATABASE_URL is a standby, which takes no writes: name the primary.';
  if (encoding !== 'UTF8')
    return `The database of DATABASE_URL is in ${encoding}, and ids and names need UTF-8: make another (CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0), and name that.`;
  return null;
}

/** Names of the last migration that the database has seen, and of the last that this release knows. */
export interface SchemaVersion {
  applied: string;
  known: string;
}

/** @throws when the database does not answer */
export async function schemaVersion(database: PostgresDatabase): Promise<SchemaVersion> {
  const [row] = await database.query<{ name: string }>(
    'SELECT name FROM ladder_migrations ORDER BY "timestamp" DESC LIMIT 1',
  );
  const known = database.dataSource.migrations.map(({ name, constructor }) => name ?? constructor.name);
  return { applied: row?.name ?? '', known: known.at(-1) ?? '' };
}
