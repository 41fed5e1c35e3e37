import { randomBytes } from 'node:crypto';
import { ADVISORY_LOCKS, PostgresDatabase } from '@laddercast/ledger';
import pg from 'pg';
import { requiredService } from './services.js';

/** A database of its own on the test server, without rows; with the tables of this release where a run makes them once. */
export interface TestDatabase {
  url: string;
  /** Copies it as it is; nobody may be connected. */
  backUp(): Promise<void>;
  /** Has it be what it was at the back-up, which is gone then. */
  restore(): Promise<void>;
  drop(): Promise<void>;
}

export async function createTestDatabase(serverUrl = requiredService('TEST_DATABASE_URL')): Promise<TestDatabase> {
  const name = `ladder_test_${randomBytes(6).toString('hex')}`;
  const migrated = process.env['TEST_DATABASE_MIGRATED'];
  if (migrated) await (migration ??= migrateOnce(serverUrl, migrated));
  await administer(serverUrl, `CREATE DATABASE ${name}${migrated ? ` TEMPLATE ${migrated}` : ''}`);
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  const backup = `${name}_backup`;
  return {
    url: url.href,
    backUp: () => administer(serverUrl, `CREATE DATABASE ${backup} TEMPLATE ${name}`),
    restore: async () => {
      await administer(serverUrl, `DROP DATABASE ${name} WITH (FORCE)`);
      await administer(serverUrl, `ALTER DATABASE ${backup} RENAME TO ${name}`);
    },
    drop: async () => {
      await administer(serverUrl, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
      await administer(serverUrl, `DROP DATABASE IF EXISTS ${backup} WITH (FORCE)`);
    },
  };
}

let migration: Promise<void> | undefined;

/** Makes the database that all others are copies of, where no other worker has: copying takes a fifth of migrating. */
async function migrateOnce(serverUrl: string, name: string): Promise<void> {
  const client = new pg.Client({ connectionString: serverUrl });
  await client.connect();
  try {
    await client.query('SELECT pg_advisory_lock($1)', [ADVISORY_LOCKS.migrations]);
    const { rowCount } = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [name]);
    if (rowCount !== 0) return;
    await client.query(`CREATE DATABASE ${name}_unfinished`);
    const url = new URL(serverUrl);
    url.pathname = `/${name}_unfinished`;
    const database = new PostgresDatabase({ url: url.href });
    await database.open({ migrate: true });
    await guardLanes(database);
    await database.close();
    await client.query(`ALTER DATABASE ${name}_unfinished RENAME TO ${name}`);
  } finally {
    await client.end();
  }
}

/**
 * Refuses an entry of another lane than the one whose head its transaction has moved, or of one that it does not hold: writers of
 * lanes go by what they remember. What says nothing of lanes is of a test's hands, or of an older release.
 */
const LANES_GUARD = `
  CREATE FUNCTION test_guard_lanes() RETURNS trigger LANGUAGE plpgsql AS $$
  DECLARE
    declared text := coalesce(current_setting('laddercast.lane', true), '');
  BEGIN
    IF declared = '' OR current_setting('laddercast.test_held', true) = NEW.lane::text THEN RETURN NULL; END IF;
    IF declared <> NEW.lane::text
    THEN RAISE EXCEPTION 'an entry of lane % was written behind the head of lane %', NEW.lane, declared; END IF;
    IF NOT EXISTS (SELECT FROM pg_locks WHERE pid = pg_backend_pid() AND locktype = 'advisory' AND granted
      AND classid = ${ADVISORY_LOCKS.lanes} AND objid = NEW.lane::int::oid AND objsubid = 2)
    THEN RAISE EXCEPTION 'an entry of lane % was written without the lane', NEW.lane; END IF;
    PERFORM set_config('laddercast.test_held', NEW.lane::text, true);
    RETURN NULL;
  END $$;
  CREATE TRIGGER test_guard_lanes AFTER INSERT OR UPDATE OF version, removed, score, columns,
    achieved_at_ms, metadata, scopes, left_scopes, unranked, patch_runs ON entries
  FOR EACH ROW EXECUTE FUNCTION test_guard_lanes()`;

const guardLanes = (database: PostgresDatabase): Promise<unknown> => database.query(LANES_GUARD);

async function administer(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
