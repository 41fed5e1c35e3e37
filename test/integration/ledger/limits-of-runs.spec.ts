// Real: PostgreSQL, the ledger, the acts on runs and what removes entries, by hand; the ledger's clock is the test's.
import { withBoardDefaults, type Board, type BoardDefinition } from '@laddercast/domain';
import { createTestDatabase, DatabaseClock, type TestDatabase } from '@laddercast/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { RunNode } from '../nodes/run-node.js';

const at = (time: string): number => Date.parse(time);

interface Migration {
  up(runner: { query(sql: string): Promise<unknown> }): Promise<void>;
}

describe('limits that remove entries, and acts on runs', () => {
  let testDatabase: TestDatabase;
  let node: RunNode;
  let clock: DatabaseClock;

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    node = new RunNode(testDatabase.url);
    await node.start();
    clock = await DatabaseClock.of(testDatabase.url);
  });
  beforeEach(() => clock.stopAt(at('2026-11-01T10:00:00Z')));

  afterAll(async () => {
    await clock.close();
    await node.stop();
    await testDatabase.drop();
  });

  const limited = (some: Partial<BoardDefinition['limits']>, more: Partial<BoardDefinition> = {}): Promise<Board> => {
    const { limits } = withBoardDefaults({ order: 'desc', operator: 'best', limits: some });
    return node.best({ runs: { keepDays: 90 }, ...more, limits });
  };
  const verify = (board: Board, submissionId: string): Promise<unknown> =>
    node.acts.verify(node.actOn(board, submissionId), true);
  const submit = async (board: Board, scores: Record<string, number>): Promise<void> => {
    for (const [player, score] of Object.entries(scores)) {
      await node.submit(board, player, score, { submissionId: `${player}-${score}` });
    }
  };

  it('keep the best of the entries that moderators let count', async () => {
    const board = await limited({ entriesMax: 2 }, { counts: 'verified' });
    await submit(board, { ada: 1, bob: 2, cy: 3, dan: 4 });
    expect(await node.standing(board)).toEqual([]);
    for (const id of ['ada-1', 'bob-2', 'cy-3', 'dan-4']) await verify(board, id);
    expect(await node.limit(board)).toBe(2);
    expect(await node.standing(board)).toEqual(['dan 4', 'cy 3']);
  });

  it('keep the best also where a void brings a run of the player in', async () => {
    const board = await limited({ entriesMax: 2 }, { entriesPer: 'run', entriesPerPlayerMax: 2 });
    await submit(board, { ada: 9 });
    await submit(board, { ada: 8 });
    await submit(board, { ada: 7 });
    await node.void(board, 'ada-9');
    expect(await node.limit(board)).toBe(0);
    await submit(board, { bob: 10 });
    expect(await node.limit(board)).toBe(1);
    expect((await node.entries(board)).map(({ score }) => score).sort()).toEqual([10, 8]);
  });

  it('let entries live from the moment at which a moderator let them count', async () => {
    const board = await limited({ entryLifetimeSeconds: 60 }, { counts: 'verified' });
    await submit(board, { ada: 1 });
    await clock.stopAt(at('2026-11-01T10:10:00Z'));
    await verify(board, 'ada-1');
    await clock.stopAt(at('2026-11-01T10:10:59Z'));
    expect(await node.limit(board)).toBe(0);
    await clock.stopAt(at('2026-11-01T10:11:00Z'));
    expect(await node.limit(board)).toBe(1);
  });

  it.each([9, 3])('let an entry live on by a held run of %i that is accepted', async (score) => {
    const board = await limited({ entryLifetimeSeconds: 60 }, { counts: 'verified' });
    await submit(board, { ada: 5 });
    await verify(board, 'ada-5');
    await clock.stopAt(at('2026-11-01T10:00:40Z'));
    await submit(board, { ada: score });
    await clock.stopAt(at('2026-11-01T10:00:50Z'));
    await verify(board, `ada-${score}`);
    await clock.stopAt(at('2026-11-01T10:01:00Z'));
    expect(await node.limit(board)).toBe(0);
    expect(await node.standing(board)).toEqual([`ada ${Math.max(score, 5)}`]);
    await clock.stopAt(at('2026-11-01T10:01:50Z'));
    expect(await node.limit(board)).toBe(1);
  });

  it('are not put off by a void, nor by a restore where the entry stood on', async () => {
    const board = await limited({ entryLifetimeSeconds: 60 });
    await submit(board, { ada: 5 });
    await submit(board, { ada: 9 });
    await clock.stopAt(at('2026-11-01T10:00:50Z'));
    await node.void(board, 'ada-9');
    await node.restore(board, 'ada-9');
    await clock.stopAt(at('2026-11-01T10:01:00Z'));
    expect(await node.limit(board)).toBe(1);
  });

  it('take in what earlier releases left out', async () => {
    const board = await limited({ entriesMax: 1 });
    const other = await limited({});
    await submit(board, { ada: 1, bob: 2 });
    await submit(other, { ada: 1 });
    await node.database.query('UPDATE entries SET renewed_at_ms = NULL WHERE board_uid = $1', [board.uid]);
    expect(await node.limit(board)).toBe(0);
    const migrations = node.database.dataSource.options.migrations as (new () => Migration)[];
    const marks = migrations.find(({ name }) => name.startsWith('LimitsOfRuns'))!;
    await new marks().up({ query: (sql) => node.database.query(sql) });
    const toMark = await node.database.query('SELECT board_uid FROM boards WHERE mark_entries');
    expect(toMark).not.toContainEqual({ board_uid: other.uid });
    expect(await node.limit(board)).toBe(1);
    expect(await node.standing(board)).toEqual(['bob 2']);
  });
});
