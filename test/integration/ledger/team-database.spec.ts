// Real: PostgreSQL, which ends a connection in the middle of what a team does on it.
import { PostgresDatabase, TeamDatabase, type MigrationRunner } from '@laddercast/ledger';
import { createTestDatabase, type TestDatabase } from '@laddercast/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

let tables: TestDatabase;
let service: PostgresDatabase;
let team: TeamDatabase;

beforeEach(async () => {
  tables = await createTestDatabase();
  service = new PostgresDatabase({ url: tables.url });
  await service.open({ migrate: false });
  team = await TeamDatabase.open({ url: tables.url }, { schema: 'tests_team', migrations: [] });
});
afterEach(async () => {
  await team.onApplicationShutdown();
  await service.close();
  await tables.drop();
});

interface Backend {
  pid: number;
  jit: string;
  path: string;
}

const BACKEND = `SELECT pg_backend_pid() AS pid, current_setting('jit') AS jit, current_setting('search_path') AS path`;

describe('the database of a team', () => {
  it('fails in a transaction whose connection ends while nothing is asked on it, ends no process, and goes on', async () => {
    const errors: unknown[] = [];
    const note = (error: unknown): void => void errors.push(error);
    process.on('uncaughtException', note);
    try {
      const work = team.transaction(async (transaction) => {
        const [{ pid }] = (await transaction.query<Backend>(BACKEND)) as [Backend];
        await service.query('SELECT pg_terminate_backend($1)', [pid]);
        await expect.poll(() => service.query('SELECT FROM pg_stat_activity WHERE pid = $1', [pid])).toEqual([]);
        // What the server said of its end is read before the next statement is written.
        await new Promise((resolve) => setTimeout(resolve, 50));
        return transaction.query('SELECT 1');
      });
      await expect(work).rejects.toThrow();
    } finally {
      process.off('uncaughtException', note);
    }
    expect(errors).toEqual([]);
    expect(await team.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  it('finds its own tables first, and compiles no plans', async () => {
    const [{ jit, path }] = (await team.query<Backend>(BACKEND)) as [Backend];
    expect([jit, path]).toEqual(['off', 'tests_team']);
  });

  it('does so whatever options the address has', async () => {
    const url = `${tables.url}?options=${encodeURIComponent('-c search_path=public -c work_mem=7MB')}`;
    class Dice1763000000000 {
      up = (runner: MigrationRunner): Promise<unknown> => runner.query('CREATE TABLE dice (sides int)');
    }
    const other = await TeamDatabase.open({ url }, { schema: 'other_team', migrations: [Dice1763000000000] });
    try {
      const [{ jit, path }] = (await other.query<Backend>(BACKEND)) as [Backend];
      expect([jit, path]).toEqual(['off', 'other_team']);
      expect(await other.query(`SELECT current_setting('work_mem') AS memory`)).toEqual([{ memory: '7MB' }]);
      const schemas = await service.query(
        `SELECT table_schema AS of FROM information_schema.tables WHERE table_name = 'dice'`,
      );
      expect(schemas).toEqual([{ of: 'other_team' }]);
    } finally {
      await other.onApplicationShutdown();
    }
  });

  it('stores nothing, and says so, where the error of a statement was swallowed', async () => {
    await team.query('CREATE TABLE names (name text PRIMARY KEY)');
    const work = team.transaction(async (transaction) => {
      for (const name of ['ada', 'ada']) {
        await transaction.query('INSERT INTO names VALUES ($1)', [name]).catch(() => undefined);
      }
    });
    await expect(work).rejects.toThrow(/nothing of it was stored/);
    expect(await team.query('SELECT name FROM names')).toEqual([]);
    expect(await team.transaction((transaction) => transaction.query('SELECT 1 AS one'))).toEqual([{ one: 1 }]);
  });
});
