// Real: PostgreSQL and the ledger; its clock, `ladder_now()`, is in the test's hands.
import {
  LadderError,
  withBoardDefaults,
  type Board,
  type BoardDefinition,
  type EntryChanged,
} from '@laddercast/domain';
import { ADVISORY_LOCKS, announceBoard, StaleBoardError, type SubmitReceipt } from '@laddercast/ledger';
import { createTestDatabase, DatabaseClock, type TestDatabase } from '@laddercast/testing';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { outboxEvents } from '../nodes/outbox-events.js';
import { LedgerNode, submissionOf } from '../nodes/ledger-node.js';

const HOUR_MS = 3_600_000;
const at = (time: string): number => Date.parse(time);

describe('windows in the ledger', () => {
  let testDatabase: TestDatabase;
  let node: LedgerNode;
  let other: LedgerNode;
  let clock: DatabaseClock;
  let boards = 0;

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    node = new LedgerNode(testDatabase.url);
    other = new LedgerNode(testDatabase.url);
    await node.start();
    await other.start();
    clock = await DatabaseClock.of(testDatabase.url);
  });

  afterAll(async () => {
    await clock.close();
    await Promise.all([node.stop(), other.stop()]);
    await testDatabase.drop();
  });

  const put = async (definition: Partial<BoardDefinition>, id?: string): Promise<Board> => {
    const full = withBoardDefaults({ order: 'desc', operator: 'sum', ...definition } as BoardDefinition);
    const { board } = await node.registry.put(id ?? `w${(boards += 1)}`, full);
    await Promise.all([node.boards.refresh(), other.boards.refresh()]);
    return board;
  };

  const now = (board: Board): Board => node.boards.byId(board.id)!;

  const submit = async (board: Board, playerId: string, score: number, achievedAt?: string): Promise<SubmitReceipt> =>
    node.ledger.write(
      submissionOf(now(board), playerId, score, { achievedAtMs: achievedAt === undefined ? null : at(achievedAt) }),
    );

  const refusal = async (write: Promise<unknown>): Promise<string> => {
    const error: unknown = await write.then(
      () => null,
      (reason: unknown) => reason,
    );
    return error instanceof LadderError ? error.code : String(error);
  };

  const scoreIn = async (board: Board, windowId: string, playerId: string): Promise<number | null> => {
    const [row] = await node.database.query<{ score: number }>(
      `SELECT score FROM entries JOIN windows w USING (window_uid)
       WHERE w.board_uid = $1 AND window_id = $2 AND player_id = $3 AND NOT removed`,
      [board.uid, windowId, playerId],
    );
    return row?.score ?? null;
  };

  const changesOf = async (board: Board): Promise<EntryChanged[]> => {
    const rows = await outboxEvents(node.database, 'entry-changed');
    return rows.map(({ event }) => event).filter(({ boardUid }) => boardUid === board.uid);
  };

  it('follow the days of the board’s zone, 25 hours of them when the clocks are set back', async () => {
    const board = await put({ windows: ['daily'], timeZone: 'Europe/Berlin' });
    await clock.stopAt(at('2026-10-25T22:59:59.999Z'));
    const last = await submit(board, 'ada', 1);
    await clock.stopAt(at('2026-10-25T23:00:00.000Z'));
    const first = await submit(board, 'ada', 1);
    expect([...last.answer.windows, ...first.answer.windows]).toEqual(['daily:2026-10-25', 'daily:2026-10-26']);
    const window = await node.windows.find(board.uid, 'daily:2026-10-25');
    expect(window!.endsAtMs! - window!.startsAtMs!).toBe(25 * HOUR_MS);
  });

  it('take a late run during their grace, and none after', async () => {
    const board = await put({ windows: ['daily'], graceSeconds: 60 });
    await clock.stopAt(at('2026-11-20T10:00:00Z'));
    await submit(board, 'ada', 1);
    await clock.stopAt(at('2026-11-21T00:00:59.999Z'));
    expect((await submit(board, 'ada', 2, '2026-11-20T23:59:00Z')).answer.windows).toEqual(['daily:2026-11-20']);
    await clock.stopAt(at('2026-11-21T00:01:00Z'));
    expect(await refusal(submit(board, 'ada', 4, '2026-11-20T23:59:00Z'))).toBe('WINDOW_CLOSED');
    expect(await scoreIn(board, 'daily:2026-11-20', 'ada')).toBe(3);
  });

  it('of many boards are made before the lane is held for their runs', async () => {
    const made = await Promise.all(Array.from({ length: 20 }, () => put({ windows: ['alltime', 'daily'] })));
    const held: boolean[] = [];
    const look = `SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND granted AND classid = $1
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())) AS is`;
    const spied = vi.spyOn(node.database, 'query').mockImplementation(async function (this: void, sql, values) {
      if (sql.includes('INSERT INTO windows')) {
        const [{ is }] = (await other.database.query<{ is: boolean }>(look, [ADVISORY_LOCKS.lanes])) as [
          { is: boolean },
        ];
        held.push(is);
      }
      return other.database.query(sql, values) as never;
    });
    try {
      const receipts = await Promise.all(made.map((board) => submit(board, 'ada', 7)));
      expect(receipts.map(({ answer }) => answer.windows.length)).toEqual(made.map(() => 2));
    } finally {
      spied.mockRestore();
    }
    expect(held).toEqual(Array.from({ length: 40 }, () => false));
  });

  it('that are over are looked up once for any number of late runs', async () => {
    const windows: BoardDefinition['windows'] = ['alltime', 'daily', 'weekly', 'monthly'];
    await clock.stopAt(at('2026-10-05T10:00:00Z'));
    const board = await put({ windows });
    await submit(board, 'ada', 1);
    await node.database.query(`UPDATE windows SET state = 'settled' WHERE window_id = 'daily:2026-10-05'`);
    await clock.stopAt(at('2026-11-20T10:00:00Z'));
    await put({ windows, graceSeconds: 3600 }, board.id);
    const lookUps = vi.spyOn(node.windows as unknown as { overlapping: () => unknown }, 'overlapping');
    const late = ['2025-05-05T12:00:00Z', '2026-10-05T09:00:00Z'];
    for (const time of [...late, ...late, ...late]) {
      expect((await submit(board, 'ada', 1, time)).answer.windows).toEqual(['alltime']);
    }
    // Three that nobody made; of the later time the day that is settled, as the others are known.
    expect(lookUps).toHaveBeenCalledTimes(4);
    // Another definition may take late runs for longer.
    await put({ windows, graceSeconds: 7200 }, board.id);
    await submit(board, 'ada', 1, late[0]);
    expect(lookUps).toHaveBeenCalledTimes(7);
    lookUps.mockRestore();
  });

  it('are looked up again for a minute after they took their last run, as clocks of processes may differ', async () => {
    const board = await put({ windows: ['alltime', 'daily'], graceSeconds: 0 });
    await clock.stopAt(at('2026-11-21T00:00:30Z'));
    await submit(board, 'ada', 1);
    const lookUps = vi.spyOn(node.windows as unknown as { overlapping: () => unknown }, 'overlapping');
    for (let times = 0; times < 2; times += 1) await submit(board, 'ada', 1, '2026-11-20T12:00:00Z');
    expect(lookUps).toHaveBeenCalledTimes(2);
    await clock.stopAt(at('2026-11-21T00:01:00Z'));
    for (let times = 0; times < 2; times += 1) await submit(board, 'ada', 1, '2026-11-20T12:00:00Z');
    expect(lookUps).toHaveBeenCalledTimes(3);
    lookUps.mockRestore();
  });

  it('are not over for good where a clock was ahead for a moment', async () => {
    const board = await put({ windows: ['alltime', 'daily'], graceSeconds: 0 });
    await clock.stopAt(at('2026-11-24T10:00:00Z'));
    await submit(board, 'ada', 1, '2026-11-20T12:00:00Z');
    await clock.stopAt(at('2026-11-20T12:00:01Z'));
    for (const time of [undefined, '2026-11-20T12:00:00Z']) {
      expect((await submit(board, 'ada', 1, time)).answer.windows).toEqual(['alltime', 'daily:2026-11-20']);
    }
  });

  it('count a run where it fits, and refuse one that fits nowhere', async () => {
    const season = { season: 's1', startsAt: '2026-11-20T12:00:00Z', endsAt: '2026-11-20T14:00:00Z' };
    const board = await put({ windows: [season, 'daily'], graceSeconds: 0 });
    await clock.stopAt(at('2026-11-20T13:00:00Z'));
    expect((await submit(board, 'ada', 1)).answer.windows).toEqual(['season:s1', 'daily:2026-11-20']);
    expect((await submit(board, 'ada', 1, '2026-11-20T11:00:00Z')).answer.windows).toEqual(['daily:2026-11-20']);
    expect(await refusal(submit(board, 'ada', 1, '2026-11-19T11:00:00Z'))).toBe('WINDOW_CLOSED');
    const onlySeason = await put({ windows: [season] });
    await clock.stopAt(at('2026-11-20T11:00:00Z'));
    expect(await refusal(submit(onlySeason, 'ada', 1))).toBe('WINDOW_CLOSED');
  });

  it('keep their stored bounds when the zone changes: the next one begins where the old one ends', async () => {
    const board = await put({ windows: ['daily'], timeZone: 'Europe/Berlin' });
    await clock.stopAt(at('2026-11-20T12:00:00Z'));
    await submit(board, 'ada', 1);
    // Berlin's day ends at 23:00 UTC; New York's would have begun at 05:00 and end at 05:00.
    await put({ windows: ['daily'], timeZone: 'America/New_York' }, board.id);
    await clock.stopAt(at('2026-11-20T22:30:00Z'));
    expect((await submit(board, 'ada', 1)).answer.windows).toEqual(['daily:2026-11-20']);
    await clock.stopAt(at('2026-11-20T23:30:00Z'));
    expect((await submit(board, 'ada', 10)).answer.windows).toEqual(['daily:2026-11-21']);
    const next = await node.windows.find(board.uid, 'daily:2026-11-21');
    expect([next!.startsAtMs, next!.endsAtMs]).toEqual([at('2026-11-20T23:00:00Z'), at('2026-11-22T05:00:00Z')]);
    // Eastwards: the day of the new zone that holds the end of the old one is cut off at its beginning.
    await put({ windows: ['daily'], timeZone: 'Asia/Tokyo' }, board.id);
    await clock.stopAt(at('2026-11-22T06:00:00Z'));
    await submit(board, 'ada', 10);
    const third = await node.windows.find(board.uid, 'daily:2026-11-22');
    expect([third!.startsAtMs, third!.endsAtMs]).toEqual([at('2026-11-22T05:00:00Z'), at('2026-11-22T15:00:00Z')]);
  });

  it('of a kind that was added begin with the next one, and of one that was taken away run to their end', async () => {
    const board = await put({ windows: ['alltime', 'daily'] });
    await clock.stopAt(at('2026-11-20T12:00:00Z'));
    await submit(board, 'ada', 1);
    await put({ windows: ['alltime', 'monthly', 'weekly'] }, board.id);
    expect((await submit(board, 'ada', 1)).answer.windows).toEqual(['alltime', 'daily:2026-11-20']);
    await clock.stopAt(at('2026-11-23T12:00:00Z'));
    expect((await submit(board, 'ada', 1)).answer.windows).toEqual(['alltime', 'weekly:2026-W48']);
    await clock.stopAt(at('2026-12-01T12:00:00Z'));
    expect((await submit(board, 'ada', 1)).answer.windows).toEqual(['alltime', 'monthly:2026-12', 'weekly:2026-W49']);
  });

  it('of a season move with its end while it runs, in every process, and not once it is closed', async () => {
    const season = { season: 's1', startsAt: '2026-11-20T00:00:00Z', endsAt: '2026-11-21T00:00:00Z' };
    const board = await put({ windows: [season], graceSeconds: 0 });
    await clock.stopAt(at('2026-11-20T12:00:00Z'));
    await submit(board, 'ada', 1);
    await other.ledger.write(submissionOf(other.boards.byId(board.id)!, 'bob', 1));
    const past = put({ windows: [{ ...season, endsAt: '2026-11-20T11:00:00Z' }], graceSeconds: 0 }, board.id);
    expect(await refusal(past)).toBe('WINDOW_MISMATCH');
    await put({ windows: [{ ...season, endsAt: '2026-11-20T12:30:00Z' }], graceSeconds: 0 }, board.id);
    await clock.stopAt(at('2026-11-20T12:30:00Z'));
    expect(await refusal(submit(board, 'ada', 1))).toBe('WINDOW_CLOSED');
    const late = other.ledger.write(submissionOf(other.boards.byId(board.id)!, 'bob', 1));
    expect(await refusal(late)).toBe('WINDOW_CLOSED');
    const ended = put({ windows: [{ ...season, endsAt: '2026-11-22T00:00:00Z' }], graceSeconds: 0 }, board.id);
    expect(await refusal(ended)).toBe('WINDOW_CLOSED');
    await clock.stopAt(at('2026-11-20T12:10:00Z'));
    await put({ windows: [{ ...season, endsAt: '2026-11-22T00:00:00Z' }], graceSeconds: 0 }, board.id);
    await clock.stopAt(at('2026-11-21T12:00:00Z'));
    expect((await submit(board, 'ada', 1)).answer.windows).toEqual(['season:s1']);
    await node.allLanes.change(async (transaction) => {
      await transaction.query(`UPDATE windows SET state = 'closed' WHERE board_uid = $1`, [board.uid]);
      const revision = await announceBoard(transaction, node.lanes, board.uid, board.id);
      await transaction.query('UPDATE boards SET revision = $2 WHERE board_uid = $1', [board.uid, revision]);
    });
    await node.boards.refresh();
    expect(await refusal(submit(board, 'ada', 1))).toBe('WINDOW_CLOSED');
    const moved = put({ windows: [{ ...season, endsAt: '2026-11-25T00:00:00Z' }], graceSeconds: 0 }, board.id);
    expect(await refusal(moved)).toBe('WINDOW_CLOSED');
    expect(await scoreIn(board, 'season:s1', 'ada')).toBe(2);
  });

  it('of a season that is taken out and put back are those that are stored, or refused', async () => {
    const season = { season: 's1', startsAt: '2026-11-20T00:00:00Z', endsAt: '2026-11-21T00:00:00Z' };
    const board = await put({ windows: ['alltime', season] });
    await clock.stopAt(at('2026-11-20T12:00:00Z'));
    await submit(board, 'ada', 1);
    await put({ windows: ['alltime'] }, board.id);
    await put({ windows: ['alltime', { ...season, endsAt: '2026-11-25T00:00:00Z' }] }, board.id);
    await clock.stopAt(at('2026-11-24T12:00:00Z'));
    expect((await submit(board, 'ada', 1)).answer.windows).toEqual(['alltime', 'season:s1']);
    await clock.stopAt(at('2026-11-25T12:00:00Z'));
    await put({ windows: ['alltime'] }, board.id);
    const again = put({ windows: ['alltime', { ...season, endsAt: '2026-12-25T00:00:00Z' }] }, board.id);
    expect(await refusal(again)).toBe('WINDOW_CLOSED');
  });

  it('of a freeze neither move once it is there, nor are set into the past', async () => {
    const season = { season: 's1', startsAt: '2026-11-20T00:00:00Z', endsAt: '2026-11-21T00:00:00Z' };
    const frozen = { ...season, freezeAt: '2026-11-20T12:00:00Z' };
    const board = await put({ windows: [season] });
    await clock.stopAt(at('2026-11-20T13:00:00Z'));
    await submit(board, 'ada', 1);
    expect(await refusal(put({ windows: [frozen] }, board.id))).toBe('WINDOW_MISMATCH');
    await put({ windows: [{ ...frozen, freezeAt: '2026-11-20T14:00:00Z' }] }, board.id);
    await clock.stopAt(at('2026-11-20T14:30:00Z'));
    for (const freezeAt of [null, '2026-11-20T14:10:00Z', '2026-11-20T15:00:00Z']) {
      expect(await refusal(put({ windows: [{ ...season, freezeAt }] }, board.id))).toBe('WINDOW_MISMATCH');
    }
  });

  it('are not made for a definition that was replaced', async () => {
    const board = await put({ windows: ['daily'], timeZone: 'Europe/Berlin' });
    await clock.stopAt(at('2026-11-20T12:00:00Z'));
    await submit(board, 'ada', 1);
    const behind = other.boards.byId(board.id)!;
    await put({ windows: ['daily'], timeZone: 'America/New_York' }, board.id);
    const next = at('2026-11-25T12:00:00Z');
    await expect(other.windows.at(behind, next, next)).rejects.toThrow(StaleBoardError);
    expect(await other.windows.find(board.uid, 'daily:2026-11-25')).toBeUndefined();
    expect((await other.windows.at(now(board), next, next)).map(({ id }) => id)).toEqual(['daily:2026-11-25']);
  });

  it('that are closed early again and again leave the rest of their time to the next', async () => {
    const board = await put({ windows: ['monthly'], graceSeconds: 0 });
    const close = async (id: string, time: string): Promise<void> => {
      await clock.stopAt(at(time));
      await submit(board, 'ada', 1);
      await node.allLanes.change(async (transaction) => {
        await transaction.query(
          `UPDATE windows SET state = 'settled', ends_at = ladder_now() WHERE board_uid = $1 AND window_id = $2`,
          [board.uid, id],
        );
        const revision = await announceBoard(transaction, node.lanes, board.uid, board.id);
        await transaction.query('UPDATE boards SET revision = $2 WHERE board_uid = $1', [board.uid, revision]);
      });
      await node.boards.refresh();
    };
    await close('monthly:2026-11', '2026-11-05T00:00:00Z');
    await close('monthly:2026-12', '2026-11-06T00:00:00Z');
    await close('monthly:2027-01', '2026-11-07T00:00:00Z');
    await clock.stopAt(at('2026-11-20T00:00:00Z'));
    expect((await submit(board, 'ada', 1)).answer.windows).toEqual(['monthly:2027-02']);
    const next = await node.windows.find(board.uid, 'monthly:2027-02');
    expect(next!.startsAtMs).toBe(at('2026-11-07T00:00:00Z'));
  });

  it('that roll take the runs of their hours, and keep what each hour holds', async () => {
    const board = await put({ windows: [{ rolling: '3h' }, 'alltime'] });
    await clock.stopAt(at('2026-11-20T12:30:00Z'));
    await submit(board, 'ada', 1, '2026-11-20T10:00:00Z');
    await submit(board, 'ada', 2, '2026-11-20T12:10:00Z');
    await submit(board, 'ada', 4);
    expect((await submit(board, 'ada', 8, '2026-11-20T09:59:59Z')).answer.windows).toEqual(['alltime']);
    expect([await scoreIn(board, 'rolling:3h', 'ada'), await scoreIn(board, 'alltime', 'ada')]).toEqual([7, 15]);
    const hours = await node.database.query(
      `SELECT hour, score FROM rolling_hours JOIN windows USING (window_uid) WHERE board_uid = $1 ORDER BY hour`,
      [board.uid],
    );
    const hour = at('2026-11-20T10:00:00Z') / HOUR_MS;
    expect(hours).toEqual([
      { hour, score: 1 },
      { hour: hour + 2, score: 6 },
    ]);
  });

  it('save what they held at their freeze, once, whatever comes after', async () => {
    const season = {
      season: 's1',
      startsAt: '2026-11-20T00:00:00Z',
      endsAt: '2026-11-21T00:00:00Z',
      freezeAt: '2026-11-20T12:00:00Z',
    };
    const board = await put({ windows: [season] });
    await clock.stopAt(at('2026-11-20T11:59:59.999Z'));
    await submit(board, 'ada', 1);
    await clock.stopAt(at('2026-11-20T12:00:00Z'));
    await submit(board, 'ada', 10);
    await submit(board, 'ada', 100);
    await submit(board, 'bob', 5);
    const frozen = await node.database.query(
      `SELECT player_id, present, score FROM frozen_entries JOIN windows USING (window_uid)
       WHERE board_uid = $1 ORDER BY player_id`,
      [board.uid],
    );
    expect(frozen).toEqual([
      { player_id: 'ada', present: true, score: 1 },
      { player_id: 'bob', present: false, score: 0 },
    ]);
    expect(await scoreIn(board, 'season:s1', 'ada')).toBe(111);
  });

  it('rank an entry in the scopes of its player, and say which ones it left', async () => {
    const board = await put({ windows: ['daily'], scopes: ['global', 'region', 'guild', { attribute: 'country' }] });
    const profile = (region: string, country: string): Promise<unknown> =>
      node.database.query(
        `INSERT INTO players (player_id, region, attributes, changed_at) VALUES ('eve', $1, $2, ladder_now())
         ON CONFLICT (player_id) DO UPDATE SET region = $1, attributes = $2`,
        [region, JSON.stringify({ country })],
      );
    await clock.stopAt(at('2026-11-20T12:00:00Z'));
    await submit(board, 'eve', 1);
    await profile('EU', 'DE');
    await node.database.query(`INSERT INTO guilds VALUES ('red', 'Red', ladder_now()) ON CONFLICT DO NOTHING`);
    await node.database.query(`INSERT INTO guild_members VALUES ('eve', 'red', ladder_now())`);
    await submit(board, 'eve', 1);
    await profile('US', 'DE');
    await submit(board, 'eve', 1);
    const [eu, us, de, red] = await node.scopes.ensure(['region:EU', 'region:US', 'country:DE', 'guild:red']);
    const changes = (await changesOf(board)).map(({ changes: [change] }) => [change!.scopes, change!.leftScopes]);
    expect(changes).toEqual([
      [undefined, undefined],
      [[eu, red, de], undefined],
      [[us, red, de], [eu]],
    ]);
    // Ended, though still in its grace: what it was stays.
    await clock.stopAt(at('2026-11-21T00:01:00Z'));
    await profile('EU', 'FR');
    await submit(board, 'eve', 1, '2026-11-20T23:00:00Z');
    expect((await changesOf(board)).at(-1)!.changes[0]!.scopes).toEqual([us, red, de]);
  });
});
