// Real: PostgreSQL with the ledger's migrations, and the source of the ledger and of the log.
import { fileURLToPath } from 'node:url';
import { PostgresDatabase } from '@laddercast/ledger';
import { createTestDatabase, type TestDatabase } from '@laddercast/testing';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { StatementsInCode } from './statements-in-code.js';

const root = fileURLToPath(new URL('../../../', import.meta.url));

/** To read the types of two libs takes its time. */
const READ_WITHIN_MS = 120_000;

/** Has PostgreSQL prepare a statement and say what columns its rows have. */
class Description {
  readonly columns: Promise<string[]>;
  private fields: string[] = [];
  private resolve!: (columns: string[]) => void;
  private reject!: (error: Error) => void;

  constructor(private readonly sql: string) {
    this.columns = new Promise((resolve, reject) => Object.assign(this, { resolve, reject }));
  }

  submit(connection: pg.Connection): void {
    connection.parse({ name: '', text: this.sql, types: [] }, true);
    connection.describe({ type: 'S', name: '' }, true);
    connection.sync();
  }

  handleRowDescription({ fields }: { fields: { name: string }[] }): void {
    this.fields = fields.map(({ name }) => name);
  }

  handleReadyForQuery(): void {
    this.resolve(this.fields);
  }

  handleError(error: Error): void {
    this.reject(error);
  }
}

describe('the statements of the ledger and of the log', () => {
  let testDatabase: TestDatabase;
  let client: pg.Client;
  let code: StatementsInCode;
  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    const database = new PostgresDatabase({ url: testDatabase.url });
    await database.open({ migrate: true });
    await database.close();
    client = new pg.Client({ connectionString: testDatabase.url });
    await client.connect();
    // Of Citus, which is asked only where it is.
    await client.query('CREATE TABLE pg_dist_partition (logicalrelid regclass)');
    code = new StatementsInCode(root, ['libs/ledger/src', 'libs/event-log/src']);
  }, READ_WITHIN_MS);
  afterAll(async () => {
    await client?.end();
    await testDatabase?.drop();
  });

  const columnsOf = (sql: string): Promise<string[]> => client.query(new Description(sql)).columns;

  it('can be prepared, and answer the columns that the code reads', async () => {
    const faults: string[] = [];
    // What reads a part of the rows shares its statement with what reads the rest.
    const readBySome = (sql: string): string[] =>
      code.found.filter((one) => one.sql === sql).flatMap(({ columns }) => columns ?? []);
    for (const { at, sql, columns } of code.found) {
      try {
        const answered = await columnsOf(sql);
        const missing = (columns ?? []).filter((column) => !answered.includes(column));
        const unread = columns === null ? [] : answered.filter((column) => !readBySome(sql).includes(column));
        if (missing.length > 0) faults.push(`${at} does not answer ${missing.join(', ')}`);
        if (unread.length > 0) faults.push(`${at} answers ${unread.join(', ')}, which nobody reads`);
      } catch (error) {
        faults.push(`${at}: ${(error as Error).message}`);
      }
    }
    expect(faults).toEqual([]);
    expect(code.found.length).toBeGreaterThan(250);
    expect(code.found.filter(({ columns }) => columns !== null).length).toBeGreaterThan(140);
  });

  it('read the columns that entities name', async () => {
    const { dataSource } = new PostgresDatabase({ url: testDatabase.url });
    await dataSource.initialize();
    const entities = dataSource.entityMetadatas.map(({ tableName, columns }) => ({
      tableName,
      names: columns.map(({ databaseName }) => databaseName),
    }));
    await dataSource.destroy();
    expect(entities.map(({ tableName }) => tableName).sort()).toEqual(['boards', 'windows']);
    for (const { tableName, names } of entities) {
      expect(await columnsOf(`SELECT ${names.join(', ')} FROM ${tableName}`)).toEqual(names);
    }
  });

  it('write to entries in a few places only, each of which moves the head of the lane or changes nothing that a commit reads', () => {
    const places = code.found
      .filter(({ sql }) => /\b(INTO|UPDATE) entries\b/.test(sql))
      .map(({ at }) => at.slice('libs/ledger/src/'.length).replace(/:.*/, ''));
    expect([...new Set(places)].sort()).toEqual([
      // The time at which an entry was renewed.
      'limits/limit-start-marker.ts',
      'recovery/state-republisher.ts',
      'reemission/entry-reemission.ts',
      'runs/entry-refold.ts',
      // Which run an entry rests on.
      'runs/run-pruner.ts',
      // What the writer of a lane sends, in a transaction that says so at once.
      'submissions/ahead-commit.ts',
      'submissions/lane-store.ts',
      'windows/rolling-expirer.ts',
    ]);
  });

  it('give a board that they change another revision, by which commits know it, or change what no commit reads', () => {
    const noCommitReads = ['family_revision', 'last_generation', 'limits_since_ms', 'mark_entries', 'rescope'];
    noCommitReads.push('rescopes_asked', 'runs_left', 'template');
    const faults = code.found.flatMap(({ at, sql }) =>
      [...sql.matchAll(/UPDATE boards(?: AS)?(?: b)? SET (.*?) (?:FROM|WHERE)/gs)].flatMap(([, changes]) => {
        const columns = [...changes!.matchAll(/(\w+) = /g)].map(([, column]) => column!);
        const isRevised = columns.includes('revision');
        return isRevised || columns.every((column) => noCommitReads.includes(column))
          ? []
          : [`${at}: ${columns.join(', ')}`];
      }),
    );
    expect(faults).toEqual([]);
    const updates = code.found.filter(({ sql }) => sql.includes('UPDATE boards'));
    expect(updates.length).toBeGreaterThan(12);
  });

  it.each([
    // Made; moved, closed and settled by who gives the board another revision, or by what changes no bounds.
    ['windows', ['boards/window-changes.ts', 'catalogs/window-catalog.ts', 'windows/window-closer.ts']],
    // In the player's lane, whose head moves.
    ['sanctions', ['sanctions/sanction-rows.ts']],
  ])('write to %s, which commits go by, in a few places only', (table, expected) => {
    const places = code.found
      .filter(({ sql }) => new RegExp(`\\b(INTO|UPDATE|DELETE FROM) ${table}\\b`).test(sql))
      .map(({ at }) => at.slice('libs/ledger/src/'.length).replace(/:.*/, ''));
    expect([...new Set(places)].sort()).toEqual(expected);
  });

  it('fail by the name of a column that is gone', async () => {
    await expect(columnsOf('SELECT version, renewed FROM entries WHERE window_uid = $1')).rejects.toThrow(
      'column "renewed" does not exist',
    );
  });

  it('are made at run time in a few places only, which tests of their own run', () => {
    const places = [...new Set(code.atRunTime)].map((place) => place.slice('libs/'.length, place.indexOf(':')));
    const counts = Object.fromEntries(places.map((file) => [file, places.filter((one) => one === file).length]));
    expect(counts, code.atRunTime.join('\n')).toEqual({
      // By the name of a table.
      'ledger/src/boards/board-layouts.ts': 1,
      'ledger/src/boards/board-registry.ts': 1,
      'ledger/src/database/position-partitions.ts': 9,
      'ledger/src/pools/pool-registry.ts': 1,
      'ledger/src/recovery/compared-rows.ts': 1,
      'ledger/src/standings/edition-removal.ts': 1,
      // By whether a window froze.
      'ledger/src/entries/run-details.ts': 3,
      'ledger/src/sanctions/unranked-entry.ts': 1,
      // By the order of a board.
      'ledger/src/entries/exported-rows.ts': 1,
      'ledger/src/entries/run-entries.ts': 1,
      'ledger/src/limits/entry-trimmer.ts': 1,
      'ledger/src/people/guild-totals.ts': 1,
      'ledger/src/revisions/revised-guilds.ts': 1,
      'ledger/src/standings/edition-writer.ts': 2,
      // By what is asked for.
      'ledger/src/catalogs/scope-catalog.ts': 1,
      'ledger/src/operators/audit-log.ts': 1,
      'ledger/src/runs/run-list.ts': 1,
      'ledger/src/people/friendships.ts': 1,
      // By the duties of a process.
      'ledger/src/leases/shared-look.ts': 1,
      // What passes statements of others on, and what opens a transaction.
      'ledger/src/database/postgres-database.ts': 3,
      // What teams say, and their schema.
      'ledger/src/database/postgres-team-database.ts': 2,
      'ledger/src/database/postgres-statements.ts': 1,
      'ledger/src/submissions/ahead-commit.ts': 1,
      'ledger/src/submissions/lane-transaction.ts': 1,
      // By the number of a lane.
      'ledger/src/lanes/lane-heads.ts': 1,
    });
  });
});
