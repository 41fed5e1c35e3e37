// Real: PostgreSQL, the ledger, its log and the saga that adds up guilds; the clock, `ladder_now()`, is in the test's hands.
import {
  withBoardDefaults,
  type Board,
  type BoardDefinition,
  type EntryChanged,
  type LadderError,
} from '@laddercast/domain';
import { GUILD_MEMBERS_MAX, rescopeGuildBoards } from '@laddercast/ledger';
import { createTestDatabase, DatabaseClock, type TestDatabase } from '@laddercast/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { outboxEvents } from '../nodes/outbox-events.js';
import { submissionOf } from '../nodes/ledger-node.js';
import { PeopleNode, tablesScanned } from '../nodes/people-node.js';

const NOON = Date.parse('2026-11-20T12:00:00Z');
const MIDNIGHT = Date.parse('2026-11-21T00:00:00Z');
const TODAY = 'daily:2026-11-20';
const PLAYERS = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];

describe('guilds in the ledger', () => {
  let testDatabase: TestDatabase;
  let node: PeopleNode;
  let clock: DatabaseClock;
  let made = 0;
  /** Each test has guilds and players of its own. */
  let own = '';
  const red = (): string => `red${own}`;
  const blue = (): string => `blue${own}`;

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    node = new PeopleNode(testDatabase.url);
    await node.start();
    clock = await DatabaseClock.of(testDatabase.url);
    await clock.stopAt(NOON - 86_400_000);
    await node.follow();
  });
  beforeEach(async () => {
    own = `-${(made += 1)}`;
    await clock.stopAt(NOON + made);
    await node.guilds.put(red(), 'The Reds');
    await node.guilds.put(blue(), null);
  });
  afterEach(() => expect(node.failures).toEqual([]));
  afterAll(async () => {
    await node.stop();
    await clock.close();
    await testDatabase.drop();
  });

  const put = async (definition: Partial<BoardDefinition>, id = `b${own}`): Promise<Board> => {
    const full = withBoardDefaults({
      order: 'desc',
      operator: 'best',
      scopes: ['global', 'guild'],
      ...definition,
    } as BoardDefinition);
    const { board } = await node.registry.put(id, full);
    await node.boards.refresh();
    return board;
  };
  const submit = (board: Board, player: string, score: number, achievedAtMs: number | null = null) =>
    node.ledger.write(submissionOf(node.boards.byId(board.id)!, player + own, score, { achievedAtMs }));
  const join = (guild: string, player: string) => node.guilds.join(guild, player + own);
  const leave = (guild: string, player: string) => node.guilds.leave(guild, player + own);

  /** What the guild has in a window: score, members, time; null: nothing. */
  async function total(board: Board, guildId: string, windowId = 'alltime'): Promise<[number, number, number] | null> {
    await node.settled();
    const [row] = await node.database.query<{ removed: boolean; score: number; members: number; at: number }>(
      `SELECT t.removed, t.score, t.members, t.achieved_at_ms AS at FROM guild_totals t JOIN windows w USING (window_uid)
       WHERE w.board_uid = $1 AND window_id = $2 AND guild_id = $3`,
      [board.uid, windowId, guildId],
    );
    return row === undefined || row.removed ? null : [row.score, row.members, row.at];
  }

  async function eventsOf(guildId: string): Promise<EntryChanged[]> {
    const rows = (await outboxEvents(node.database, 'entry-changed')).filter(({ key }) => key === guildId);
    for (const { lane } of rows) expect(lane).toBe(node.lanes.of(guildId));
    return rows.map(({ event }) => event);
  }

  const refusal = (work: Promise<unknown>): Promise<string> =>
    work.then(
      () => 'nothing',
      (error: unknown) => (error as LadderError).code,
    );

  it('are made, renamed, listed and deleted once they are empty', async () => {
    expect(await node.guilds.put(red(), 'The Reds')).toEqual({
      guild: { guildId: red(), displayName: 'The Reds', memberCount: 0 },
      created: false,
    });
    expect((await node.guilds.put(red(), 'Reds')).guild.displayName).toBe('Reds');
    for (const player of ['c', 'a', 'b']) await join(red(), player);
    const members = await node.guilds.members(red(), { limit: 2, after: '', reader: 'key' });
    expect(members.map(({ playerId }) => playerId)).toEqual([`a${own}`, `b${own}`]);
    expect(
      (await node.guilds.members(red(), { limit: 2, after: `b${own}`, reader: 'key' })).map(({ playerId }) => playerId),
    ).toEqual([`c${own}`]);
    await node.database.query(
      `INSERT INTO players (player_id, listed, changed_at) VALUES ($1, false, ladder_now())
       ON CONFLICT (player_id) DO UPDATE SET listed = false`,
      [`b${own}`],
    );
    const seenBy = async (playerId: string): Promise<string[]> =>
      (await node.guilds.members(red(), { limit: 2, after: '', reader: { playerId } })).map((one) => one.playerId);
    // A page is full without those whom its reader may not see: not even as a place to go on from.
    expect(await seenBy(`a${own}`)).toEqual([`a${own}`, `c${own}`]);
    expect(await seenBy(`b${own}`)).toEqual([`a${own}`, `b${own}`]);
    expect(await refusal(node.guilds.delete(red()))).toBe('GUILD_NOT_EMPTY');
    for (const player of ['c', 'a', 'b']) await leave(red(), player);
    await node.guilds.delete(red());
    expect(await refusal(node.guilds.find(red()))).toBe('GUILD_NOT_FOUND');
    expect(await refusal(join(red(), 'a'))).toBe('GUILD_NOT_FOUND');
    expect(await refusal(leave(red(), 'a'))).toBe('GUILD_NOT_FOUND');
    const rows = await node.database.query<{ payload: string }>(
      `SELECT payload FROM outbox WHERE topic = 'player-changed' AND key = $1`,
      [red()],
    );
    expect(rows.map(({ payload }) => JSON.parse(payload) as object)).toEqual([
      { type: 'player-changed', playerId: red(), isGuild: true },
      { type: 'player-changed', playerId: red(), isGuild: true },
      { type: 'player-changed', playerId: red(), isGuild: true },
    ]);
  });

  it('have a player in one at a time: joining another is leaving the first', async () => {
    const board = await put({});
    await submit(board, 'a', 5);
    expect(await join(red(), 'a')).toEqual({ joinedAtMs: NOON + made, leftGuildId: null });
    expect(await total(board, red())).toEqual([5, 1, NOON + made]);
    expect(await join(blue(), 'a')).toMatchObject({ leftGuildId: red() });
    expect(await total(board, red())).toBeNull();
    expect(await total(board, blue())).toEqual([5, 1, NOON + made]);
    await clock.stopAt(NOON + 1000);
    expect(await join(blue(), 'a')).toEqual({ joinedAtMs: NOON + made, leftGuildId: null });
    await leave(red(), 'a');
    expect((await node.players.find(`a${own}`))!.guildId).toBe(blue());
  });

  it.each([
    [{ kind: 'sum' as const, k: null }, 'desc' as const, 70],
    [{ kind: 'average' as const, k: null }, 'desc' as const, 17.5],
    [{ kind: 'top' as const, k: 2 }, 'desc' as const, 60],
    [{ kind: 'top' as const, k: 2 }, 'asc' as const, 10],
  ])('are added up as %j of a board that is %s', async (aggregate, order, expected) => {
    const board = await put({ order, guildAggregate: { ...aggregate, onLeave: 'takeAway' } });
    for (const [index, player] of ['a', 'b', 'c', 'd'].entries()) {
      await join(red(), player);
      await submit(board, player, [40, 0, 20, 10][index]!);
    }
    expect((await total(board, red()))!.slice(0, 2)).toEqual([expected, 4]);
    const events = await eventsOf(red());
    expect(events.at(-1)).toMatchObject({
      isGuild: true,
      playerId: red(),
      changes: [{ keepUntilMs: null, entry: { score: expected, columns: [] } }],
    });
  });

  it('are written only when they differ', async () => {
    const board = await put({});
    await join(red(), 'a');
    await submit(board, 'a', 5);
    await total(board, red());
    const before = (await eventsOf(red())).length;
    expect(
      await node.totals.recompute([{ windowUid: (await node.windows.ofBoard(board.uid))[0]!.uid, guildId: red() }]),
    ).toBe(0);
    expect(await eventsOf(red())).toHaveLength(before);
    // A member without another score is a difference all the same.
    await join(red(), 'z');
    await submit(board, 'z', 0);
    expect((await total(board, red()))!.slice(0, 2)).toEqual([5, 2]);
    expect(await eventsOf(red())).toHaveLength(before + 1);
  });

  it('stay within the doubles, whatever their members score', async () => {
    const board = await put({});
    for (const player of ['a', 'b']) {
      await join(red(), player);
      await submit(board, player, 1.7e308);
    }
    expect((await total(board, red()))![0]).toBe(Number.MAX_VALUE);
  });

  it('lose what an operator takes from a member, and go with the last', async () => {
    const board = await put({});
    await join(red(), 'a');
    await submit(board, 'a', 5);
    expect((await total(board, red()))![0]).toBe(5);
    const audit = { actor: 'test', action: 'entry.remove', subject: 'x', details: {} };
    await node.ledger.write({ kind: 'override', board, playerId: `a${own}`, entry: null, audit });
    expect(await total(board, red())).toBeNull();
    expect((await eventsOf(red())).at(-1)!.changes).toMatchObject([{ entry: null }]);
    await submit(board, 'a', 7);
    expect((await total(board, red()))![0]).toBe(7);
  });

  describe('that keep what leavers scored', () => {
    const keeping = (windows: BoardDefinition['windows'] = ['alltime']): Promise<Board> =>
      put({ windows, operator: 'sum', guildAggregate: { kind: 'sum', k: null, onLeave: 'keep' }, graceSeconds: 600 });

    it('count it as it was, beside what the leaver scores for another guild', async () => {
      const board = await keeping();
      await join(red(), 'a');
      await submit(board, 'a', 5);
      await join(blue(), 'a');
      await submit(board, 'a', 10);
      expect((await total(board, red()))!.slice(0, 2)).toEqual([5, 1]);
      expect((await total(board, blue()))!.slice(0, 2)).toEqual([15, 1]);
    });

    it('count who comes back once, as it is then', async () => {
      const board = await keeping();
      await join(red(), 'a');
      await submit(board, 'a', 5);
      await leave(red(), 'a');
      await submit(board, 'a', 10);
      await join(red(), 'a');
      expect((await total(board, red()))!.slice(0, 2)).toEqual([15, 1]);
      await leave(red(), 'a');
      await submit(board, 'a', 100);
      expect((await total(board, red()))!.slice(0, 2)).toEqual([15, 1]);
    });

    it('let go of it also when who comes back has no entry any more', async () => {
      const board = await keeping();
      await join(red(), 'a');
      await submit(board, 'a', 5);
      await leave(red(), 'a');
      const audit = { actor: 'test', action: 'entry.remove', subject: 'x', details: {} };
      await node.ledger.write({ kind: 'override', board, playerId: `a${own}`, entry: null, audit });
      expect((await total(board, red()))!.slice(0, 2)).toEqual([5, 1]);
      await join(red(), 'a');
      expect(await total(board, red())).toBeNull();
    });

    it('keep nothing in rolling windows, whose hours leave', async () => {
      const board = await keeping(['alltime', { rolling: '24h' }]);
      await join(red(), 'a');
      await submit(board, 'a', 5);
      await leave(red(), 'a');
      expect((await total(board, red()))!.slice(0, 2)).toEqual([5, 1]);
      expect(await total(board, red(), 'rolling:24h')).toBeNull();
    });

    it('lose it in running windows when they are deleted, and keep it in ended ones', async () => {
      const board = await keeping(['alltime', 'daily']);
      await join(red(), 'a');
      await submit(board, 'a', 5);
      await leave(red(), 'a');
      await total(board, red());
      await clock.stopAt(MIDNIGHT);
      await node.guilds.delete(red());
      expect(await total(board, red())).toBeNull();
      expect((await total(board, red(), TODAY))!.slice(0, 2)).toEqual([5, 1]);
    });
  });

  describe('in a window that has ended', () => {
    it('keep the members that they had, late runs and leavers included', async () => {
      const board = await put({ windows: ['alltime', 'daily'], operator: 'sum', graceSeconds: 600 });
      for (const player of ['a', 'b']) {
        await join(red(), player);
        await submit(board, player, 5);
      }
      await join(blue(), 'c');
      await submit(board, 'c', 100);
      await clock.stopAt(MIDNIGHT);
      await leave(red(), 'a');
      await join(red(), 'c');
      await submit(board, 'b', 1, NOON);
      await submit(board, 'a', 10, NOON);
      expect((await total(board, red(), TODAY))!.slice(0, 2)).toEqual([21, 2]);
      expect((await total(board, blue(), TODAY))!.slice(0, 2)).toEqual([100, 1]);
      expect((await total(board, red()))!.slice(0, 2)).toEqual([106, 2]);
    });

    it('are brought up to its last run also when that arrives after the closing', async () => {
      const board = await put({ windows: ['daily'], operator: 'sum', graceSeconds: 600 });
      await join(red(), 'a');
      await submit(board, 'a', 5);
      await node.settled();
      const [window] = await node.windows.ofBoard(board.uid);
      await node.database.query(`UPDATE guild_totals SET score = 1 WHERE window_uid = $1`, [window!.uid]);
      await node.database.query(`UPDATE windows SET state = 'settled' WHERE window_uid = $1`, [window!.uid]);
      await clock.stopAt(MIDNIGHT + 3_600_000);
      await node.totals.recompute([{ windowUid: window!.uid, guildId: red() }]);
      expect((await total(board, red(), TODAY))![0]).toBe(5);
      // And not for ever: what is read of it then are the standings.
      await node.database.query(`UPDATE guild_totals SET score = 1 WHERE window_uid = $1`, [window!.uid]);
      await clock.stopAt(MIDNIGHT + 91_000_000);
      await node.totals.recompute([{ windowUid: window!.uid, guildId: red() }]);
      expect((await total(board, red(), TODAY))![0]).toBe(1);
    });
  });

  it('are added up anew when the board says so in another way, and are gone when it ranks them no more', async () => {
    const board = await put({ operator: 'sum' });
    for (const [player, score] of [
      ['a', 5],
      ['b', 10],
    ] as const) {
      await join(red(), player);
      await submit(board, player, score);
    }
    expect((await total(board, red()))![0]).toBe(15);
    const never = new AbortController().signal;
    const top = { kind: 'top' as const, k: 1, onLeave: 'takeAway' as const };
    await put({ operator: 'sum', guildAggregate: top }, board.id);
    await node.scopeMigration.run(never);
    expect((await total(board, red()))!.slice(0, 2)).toEqual([10, 2]);
    await put({ operator: 'sum', guildAggregate: top, scopes: ['global'] }, board.id);
    await node.scopeMigration.run(never);
    expect(await total(board, red())).toBeNull();
    await put({ operator: 'sum', scopes: ['global', 'guild'] }, board.id);
    await node.scopeMigration.run(never);
    expect((await total(board, red()))![0]).toBe(15);
  });

  it('are added up by a rescoping also where what would have ordered it was lost with a log', async () => {
    const board = await put({});
    await join(red(), 'a');
    await submit(board, 'a', 5);
    await node.settled();
    const lose = async (): Promise<void> => {
      await node.database.query('DELETE FROM guild_totals WHERE guild_id = $1', [red()]);
      await rescopeGuildBoards(node.database);
    };
    await lose();
    await node.scopeMigration.run(new AbortController().signal);
    expect((await total(board, red()))!.slice(0, 2)).toEqual([5, 1]);
    // Lost again behind the last guild of a rescoping that is under way.
    await lose();
    const query = node.database.query.bind(node.database);
    let again = false;
    node.database.query = async <Row>(sql: string, values?: unknown[]): Promise<Row[]> => {
      if (sql.includes('rescope = false') && values?.[0] === board.uid && !again) {
        again = true;
        await lose();
      }
      return query<Row>(sql, values);
    };
    await node.scopeMigration.run(new AbortController().signal);
    node.database.query = query;
    const stored = `SELECT score FROM guild_totals WHERE guild_id = $1 AND board_uid = $2`;
    expect(await query(stored, [red(), board.uid])).toEqual([]);
    await node.scopeMigration.run(new AbortController().signal);
    expect(await query(stored, [red(), board.uid])).toEqual([{ score: 5 }]);
  });

  it('have at most ten thousand members, also when many join at once', async () => {
    await node.database.query(
      `INSERT INTO guild_members (player_id, guild_id, joined_at)
       SELECT 'm' || n || $1, $2, ladder_now() FROM generate_series(1, $3) AS n`,
      [own, red(), GUILD_MEMBERS_MAX - 4],
    );
    await join(red(), 'filler');
    const joins = await Promise.all(Array.from({ length: 10 }, (_, i) => refusal(join(red(), `late${i}`))));
    expect(joins.filter((code) => code === 'nothing')).toHaveLength(3);
    expect(joins.filter((code) => code === 'LIMIT_REACHED')).toHaveLength(7);
    // Two of different lanes, for the last place.
    const rivals = [0, 1].map((lane) => PLAYERS.find((player) => node.lanes.of(player + own) === lane)!);
    for (let round = 0; round < 20; round += 1) {
      await leave(red(), 'filler');
      const codes = await Promise.all(rivals.map((player) => refusal(join(red(), player))));
      expect(codes.sort()).toEqual(['LIMIT_REACHED', 'nothing']);
      for (const player of rivals) await leave(red(), player);
      await join(red(), 'filler');
    }
    expect((await node.guilds.find(red())).memberCount).toBe(GUILD_MEMBERS_MAX);
  });

  it('are read by probes of their members, however many entries there are', async () => {
    const board = await put({});
    const [guild] = await node.scopes.ensure([`guild:${red()}`]);
    await submit(board, 'a', 1);
    const [window] = await node.windows.ofBoard(board.uid);
    await node.database.query(
      `INSERT INTO entries (window_uid, player_id, board_uid, lane, version, removed, score, columns, achieved_at_ms, scopes)
       SELECT $1::int, 'x' || n || $4, $2::int, 0, 1, false, n, '{}', 0, ARRAY[$3::int] FROM generate_series(1, 200000) AS n`,
      [window!.uid, board.uid, guild, own],
    );
    await node.database.query(
      `INSERT INTO guild_members SELECT 'x' || n || $1, $2, ladder_now() FROM generate_series(1, 5000) AS n`,
      [own, red()],
    );
    const lane = node.lanes.of(red());
    const targets = [{ windowUid: window!.uid, guildId: red() }];
    for (const analysed of [false, true]) {
      if (analysed) await node.database.query('ANALYZE entries, guild_members, guild_totals');
      const scanned = await node.database.transaction((transaction) =>
        tablesScanned(transaction, (sql) => node.totals.recomputeWithin(sql, node.lanes.place(lane), targets)),
      );
      expect(scanned).not.toContain('entries');
      expect(scanned).not.toContain('guild_members');
    }
    expect((await total(board, red()))!.slice(0, 2)).toEqual([(5000 * 5001) / 2, 5000]);
  });
});
