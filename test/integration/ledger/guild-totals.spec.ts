// Real: PostgreSQL and the ledger; statements of one computation are held up where another could come in between.
import { withBoardDefaults, type Board } from '@laddercast/domain';
import { createTestDatabase, type TestDatabase } from '@laddercast/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { submissionOf } from '../nodes/ledger-node.js';
import { PeopleNode } from '../nodes/people-node.js';

describe('two computations of one guild', () => {
  let testDatabase: TestDatabase;
  let node: PeopleNode;
  let board: Board;
  let targets: { windowUid: number; guildId: string }[];

  beforeEach(async () => {
    testDatabase = await createTestDatabase();
    node = new PeopleNode(testDatabase.url);
    await node.start();
    const definition = withBoardDefaults({ order: 'desc', operator: 'best', scopes: ['global', 'guild'] });
    board = (await node.registry.put('b', definition)).board;
    await node.guilds.put('red', null);
    await node.guilds.join('red', 'ada');
    await node.ledger.write(submissionOf(board, 'ada', 1));
    const [window] = await node.windows.ofBoard(board.uid);
    targets = [{ windowUid: window!.uid, guildId: 'red' }];
  });
  afterEach(async () => {
    await node.stop();
    await testDatabase.drop();
  });

  it('are made one after the other: an older one never replaces a newer', async () => {
    const lane = node.lanes.of('red');
    let second: Promise<number> | null = null;
    await node.database.transaction(async (transaction) => {
      await node.totals.takeTurn(transaction, lane);
      const query = async <Row>(sql: string, values?: unknown[]): Promise<Row[]> => {
        if (sql.includes('ladder_take_lane')) {
          // Between its reading and its writing: a member scores, and another process adds up, too.
          await node.ledger.write(submissionOf(board, 'ada', 2));
          second = node.totals.recompute(targets);
          await Promise.race([second, new Promise((resolve) => setTimeout(resolve, 300))]);
        }
        return transaction.query<Row>(sql, values);
      };
      await node.totals.recomputeWithin({ query }, node.lanes.place(lane), targets);
    });
    expect(await second).toBe(1);
    expect(await node.database.query('SELECT score FROM guild_totals')).toEqual([{ score: 2 }]);
  });

  it('are made anew when their board changes before they are written', async () => {
    const transaction = node.database.transaction.bind(node.database);
    let isFirst = true;
    node.database.transaction = (work) =>
      transaction((runner) =>
        work({
          query: async <Row>(sql: string, values?: unknown[]): Promise<Row[]> => {
            if (isFirst && sql.includes('ladder_take_lane')) {
              isFirst = false;
              await node.registry.delete('b', null, 'test');
            }
            return runner.query<Row>(sql, values);
          },
        }),
      );
    expect(await node.totals.recompute(targets)).toBe(0);
    expect(isFirst).toBe(false);
    expect(await node.database.query('SELECT 1 FROM guild_totals')).toEqual([]);
  });
});
