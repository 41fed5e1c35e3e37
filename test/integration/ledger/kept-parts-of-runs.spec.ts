// Real: PostgreSQL, the ledger with its guilds and acts on runs; the ledger's clock is the test's.
import { withBoardDefaults, type Board, type BoardDefinition } from '@laddercast/domain';
import { EntryRefold, RunActs } from '@laddercast/ledger';
import { createTestDatabase, DatabaseClock, type TestDatabase } from '@laddercast/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { submissionOf } from '../nodes/ledger-node.js';
import { PeopleNode } from '../nodes/people-node.js';

const START_MS = Date.parse('2026-11-20T12:00:00Z');
const MINUTE_MS = 60_000;

describe('runs that a board keeps', () => {
  let testDatabase: TestDatabase;
  let node: PeopleNode;
  let clock: DatabaseClock;
  let acts: RunActs;
  let board: Board;
  let nowMs = START_MS;
  let made = 0;

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    node = new PeopleNode(testDatabase.url);
    await node.start();
    clock = await DatabaseClock.of(testDatabase.url);
    await clock.stopAt(nowMs);
    acts = new RunActs(node.database, node.lanes, node.work, new EntryRefold(node.scopes));
    await node.follow();
  });
  afterAll(async () => {
    await clock.close();
    await node.stop();
    await testDatabase.drop();
  });

  const put = async (given: Partial<BoardDefinition> = {}): Promise<void> => {
    const keeping = { guildAggregate: { kind: 'sum', k: null, onLeave: 'keep' }, scopes: ['global', 'guild'] } as const;
    const definition = withBoardDefaults({
      ...{ order: 'desc', operator: 'best', windows: ['alltime'], runs: { keepDays: 30 } },
      ...keeping,
      ...given,
    } as BoardDefinition);
    await node.registry.put(`b${(made += 1)}`, definition);
    await node.boards.refresh();
    board = node.boards.byId(`b${made}`)!;
    await node.guilds.put(red(), null);
    await node.guilds.join(red(), ada());
  };
  const red = (): string => `red${made}`;
  const ada = (): string => `ada${made}`;
  const submit = async (submissionId: string, score: number, held = false): Promise<void> => {
    await clock.stopAt((nowMs += MINUTE_MS));
    const hold = { check: 'Doubtful', reason: 'a test' };
    await node.ledger.write(submissionOf(board, ada(), score, { submissionId, ...(held && { hold }) }));
  };
  const leave = async (): Promise<void> => {
    await clock.stopAt((nowMs += MINUTE_MS));
    await node.guilds.leave(red(), ada());
    await clock.stopAt((nowMs += MINUTE_MS));
  };
  const actOn = (submissionId: string): Parameters<RunActs['void']>[0] => ({
    ...{ boardId: board.id, submissionId, actor: 'moderator', reason: 'a test' },
  });
  const total = async (): Promise<number | null> => {
    await node.settled();
    const [row] = await node.database.query<{ score: number }>(
      'SELECT score FROM guild_totals WHERE board_uid = $1 AND guild_id = $2 AND NOT removed',
      [board.uid, red()],
    );
    return row?.score ?? null;
  };

  describe('in what a guild keeps of a leaver', () => {
    beforeEach(() => put());

    it('count once they are accepted, although the player had no entry when it left', async () => {
      await submit('held', 7, true);
      await leave();
      expect(await total()).toBeNull();
      await acts.verify(actOn('held'), true);
      expect(await total()).toBe(7);
      await acts.void(actOn('held'));
      expect(await total()).toBeNull();
    });

    it('count once they are restored, although their entry was gone when the player left', async () => {
      await submit('one', 7);
      await acts.void(actOn('one'));
      await leave();
      await acts.restore(actOn('one'));
      expect(await total()).toBe(7);
    });

    it('count no more where they are voided, also under an entry that rests on a later run', async () => {
      await submit('one', 5);
      await submit('two', 7);
      await leave();
      await submit('three', 9);
      await acts.void(actOn('two'));
      expect(await total()).toBe(5);
      await acts.restore(actOn('two'));
      expect(await total()).toBe(7);
    });

    it('count once for who came back before they were accepted', async () => {
      await submit('held', 7, true);
      await leave();
      await node.guilds.join(red(), ada());
      await acts.verify(actOn('held'), true);
      expect(await total()).toBe(7);
    });

    it('do not count where they came after it left', async () => {
      await leave();
      await submit('held', 7, true);
      await acts.verify(actOn('held'), true);
      expect(await total()).toBeNull();
    });
  });

  it.each([
    ['held', (id: string) => submit(id, 7, true), (id: string) => acts.verify(actOn(id), true)],
    ['voided', (id: string) => submit(id, 7).then(() => acts.void(actOn(id))), (id: string) => acts.restore(actOn(id))],
  ])('count for the guild of the end of their window, when they were %s until then', async (_what, take, giveBack) => {
    const [startMs, endMs] = [nowMs - MINUTE_MS, nowMs + 60 * MINUTE_MS];
    const at = (ms: number): string => new Date(ms).toISOString();
    await put({ windows: [{ season: 's', startsAt: at(startMs), endsAt: at(endMs) }] });
    await take('one');
    await node.guilds.put(`blue${made}`, null);
    await node.guilds.join(`blue${made}`, ada());
    await clock.stopAt((nowMs = endMs + MINUTE_MS));
    await node.guilds.join(red(), ada());
    await giveBack('one');
    const names = await node.database.query(
      `SELECT s.name FROM entries e JOIN scopes s ON s.scope_uid = ANY (e.scopes) WHERE player_id = $1 AND NOT removed`,
      [ada()],
    );
    expect(names).toEqual([{ name: `guild:blue${made}` }]);
  });

  it('count no more in what a frozen window shows, also under an entry that rests on a later run', async () => {
    const season = { season: 's', startsAt: '2026-11-01T00:00:00Z', endsAt: '2026-12-31T00:00:00Z' };
    await put({ windows: [{ ...season, freezeAt: new Date(nowMs + 10 * MINUTE_MS).toISOString() }] });
    await submit('one', 5);
    await submit('two', 7);
    await clock.stopAt((nowMs += 20 * MINUTE_MS));
    await submit('three', 9);
    const { windows } = await acts.void(actOn('two'));
    expect(windows).toMatchObject([{ hasChanged: false, isTouched: true }]);
    const frozen = await node.database.query('SELECT score FROM frozen_entries WHERE player_id = $1 AND present', [
      ada(),
    ]);
    expect(frozen).toEqual([{ score: 5 }]);
    expect(await node.database.query('SELECT player_id FROM revisions_due')).toEqual([{ player_id: ada() }]);
  });
});
