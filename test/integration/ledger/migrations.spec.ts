// Real: PostgreSQL.
import { ADVISORY_LOCKS, PostgresDatabase } from '@laddercast/ledger';
import { createTestDatabase, type TestDatabase } from '@laddercast/testing';
import { Logger } from '@nestjs/common';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

interface Runner {
  query(sql: string): Promise<unknown>;
}
type Migration = new () => { up(runner: Runner): Promise<unknown>; transaction?: boolean };

/** Longer than any statement of the service may take, and any answer. */
const SECONDS = 6.5;

class Slow2000000000000 {
  async up(runner: Runner): Promise<void> {
    await runner.query(`SELECT pg_sleep(${SECONDS})`);
    await runner.query(
      `CREATE TABLE limits_of AS SELECT current_setting('idle_in_transaction_session_timeout') AS idle`,
    );
  }
}

let testDatabase: TestDatabase;
let database: PostgresDatabase;
let other: PostgresDatabase;
let told: string[];

beforeEach(async () => {
  told = [];
  const at = (message: unknown): void => void told.push(String(message));
  Logger.overrideLogger({ error: at, warn: at, log: at });
  testDatabase = await createTestDatabase();
  const of = (): PostgresDatabase => new PostgresDatabase({ url: testDatabase.url });
  const first = of();
  await first.open({ migrate: true });
  await first.close();
  database = of();
  other = of();
});
afterEach(async () => {
  Logger.overrideLogger(false);
  await Promise.all([database, other].map((one) => one.close()));
  await testDatabase.drop();
});

/** Opens it as a release does that has these migrations, too. */
async function openWith(session: PostgresDatabase, ...more: Migration[]): Promise<void> {
  const migrations = [...(session.dataSource.options.migrations as Migration[]), ...more];
  session.dataSource.setOptions({ migrations: migrations as never });
  await session.open({ migrate: true });
}

describe('migrations', () => {
  it('take as long as they need, while others wait, and both say so', async () => {
    await database.open({ migrate: false });
    const opened = Promise.all([database, other].map((one) => openWith(one, Slow2000000000000)));
    await expect
      .poll(
        () =>
          database.query(
            `SELECT bool_and(pid IN (SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted
               AND objid = ${ADVISORY_LOCKS.migrations})) AS "holdTheLock"
             FROM pg_stat_activity WHERE query = 'SELECT pg_sleep(${SECONDS})' AND datname = current_database()`,
          ),
        { timeout: 5000 },
      )
      // A process that dies leaves its statement running: nobody may begin before that is over.
      .toEqual([{ holdTheLock: true }]);
    await opened;
    expect(told.filter((line) => line.includes('Slow2000000000000'))).not.toEqual([]);
    expect(told.filter((line) => line.includes('nother process'))).not.toEqual([]);
    expect(await database.query('SELECT idle FROM limits_of')).toEqual([{ idle: '0' }]);
  });

  it('leave the service the limits that it has', async () => {
    await openWith(database);
    expect(await database.query('SHOW statement_timeout')).toEqual([{ statement_timeout: '5s' }]);
  });

  it('do not keep a table from an older release while they wait for it, and are taken back whole', async () => {
    class Wide2000000000000 {
      async up(runner: Runner): Promise<void> {
        await runner.query('CREATE TABLE half (id int)');
        await runner.query('ALTER TABLE players ADD COLUMN wide int');
      }
    }
    await other.open({ migrate: false });
    await other.transaction(async (reader) => {
      await reader.query('SELECT 1 FROM players LIMIT 1');
      await expect(openWith(database, Wide2000000000000)).rejects.toThrow('lock timeout');
    });
    expect(await other.query(`SELECT to_regclass('half') AS half`)).toEqual([{ half: null }]);
    await database.open({ migrate: true });
    expect(await other.query(`SELECT to_regclass('half') AS half`)).toEqual([{ half: 'half' }]);
  });

  it('make an index of a table that is written meanwhile', async () => {
    class Index2000000000000 {
      readonly transaction = false;
      async up(runner: Runner): Promise<void> {
        await runner.query('SET lock_timeout = 0');
        await runner.query('DROP INDEX CONCURRENTLY IF EXISTS players_by_test');
        await runner.query('CREATE INDEX CONCURRENTLY players_by_test ON players (player_id)');
        await runner.query('RESET lock_timeout');
      }
    }
    class After2000000000001 {
      up(runner: Runner): Promise<unknown> {
        return runner.query(`CREATE TABLE limits_after AS SELECT current_setting('lock_timeout') AS lock`);
      }
    }
    await other.open({ migrate: false });
    let opened: Promise<void> | undefined;
    await other.transaction(async (writer) => {
      await writer.query(`INSERT INTO players (player_id, changed_at) VALUES ('before', now())`);
      opened = openWith(database, Index2000000000000, After2000000000001);
      // Longer than migrations wait for a lock elsewhere.
      await writer.query('SELECT pg_sleep(4.5)');
      await other.query(`INSERT INTO players (player_id, changed_at) VALUES ('meanwhile', now())`);
    });
    await opened;
    expect(
      await other.query(`SELECT indisvalid AS valid FROM pg_index WHERE indexrelid = 'players_by_test'::regclass`),
    ).toEqual([{ valid: true }]);
    expect(await other.query('SELECT lock FROM limits_after')).toEqual([{ lock: '4s' }]);
  });
});
