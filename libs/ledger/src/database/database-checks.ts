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
