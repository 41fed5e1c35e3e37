// Real: PostgreSQL. A catalogue that does not follow it by itself: it looks when it is asked.
import { withBoardDefaults } from '@laddercast/domain';
import { BoardCatalog, PostgresDatabase } from '@laddercast/ledger';
import { createTestDatabase, type TestDatabase } from '@laddercast/testing';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LedgerNode } from '../nodes/ledger-node.js';

const DEFINITION = withBoardDefaults({ order: 'desc', operator: 'best' });

/** Counts what it asks PostgreSQL. */
class CountingDatabase extends PostgresDatabase {
  queries = 0;

  override query<Row>(sql: string, parameters?: unknown[]): Promise<Row[]> {
    this.queries += 1;
    return super.query(sql, parameters);
  }
}

describe('a board that is not known', () => {
  let testDatabase: TestDatabase;
  let other: LedgerNode;
  let database: CountingDatabase;
  let boards: BoardCatalog;

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    other = new LedgerNode(testDatabase.url);
    await other.start();
    database = new CountingDatabase({ url: testDatabase.url });
    await database.open({ migrate: false });
    boards = new BoardCatalog(database);
    await boards.refresh();
  });
  afterAll(async () => {
    await database?.close();
    await other?.stop();
    await testDatabase?.drop();
  });

  it('is found where another process made it a moment ago', async () => {
    await other.registry.put('fresh', DEFINITION);
    expect(boards.byId('fresh')).toBeUndefined();
    expect(await boards.find('fresh')).toMatchObject({ id: 'fresh' });
    const { queries } = database;
    await boards.find('fresh');
    expect(database.queries).toBe(queries);
  });

  it('costs few looks where many ask for made-up ids, and is still found', async () => {
    const [before, beganAtMs] = [database.queries, performance.now()];
    const asked: Promise<unknown>[] = [];
    for (let id = 0; id < 1000; id += 1) {
      asked.push(boards.find(`none-${id}`));
      if (id === 500) await other.registry.put('meanwhile', DEFINITION);
      if (id === 501) asked.push(boards.find('meanwhile'));
      await delay(1);
    }
    const found = await Promise.all(asked);
    expect(found.filter((board) => board !== undefined)).toMatchObject([{ id: 'meanwhile' }]);
    const seconds = (performance.now() - beganAtMs) / 1000;
    expect(database.queries - before).toBeLessThan(20 + 11 * seconds);
  });
});
