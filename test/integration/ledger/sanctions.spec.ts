// Real: PostgreSQL, the ledger, guilds' totals; its clock, `ladder_now()`, is in the test's hands.
import {
  withBoardDefaults,
  type Board,
  type BoardDefinition,
  type EntryChanged,
  type LadderEvent,
} from '@laddercast/domain';
import {
  AuditLog,
  comparedPage,
  LaneQueue,
  SanctionClock,
  Sanctions,
  StateRepublisher,
  type NewSanction,
  type ListedAuditRecord,
  type SqlRunner,
  type SubmitReceipt,
  type Place,
} from '@laddercast/ledger';
import { createTestDatabase, DatabaseClock, type TestDatabase } from '@laddercast/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { OUTBOX_COLUMNS, outboxEventOf, type LaneOutboxRow } from '../nodes/outbox-events.js';
import { submissionOf } from '../nodes/ledger-node.js';
import { PeopleNode, tablesScanned } from '../nodes/people-node.js';

const NOON = Date.parse('2026-11-20T12:00:00Z');
const HOUR = 3_600_000;
const BAN: NewSanction = { kind: 'ban', reason: 'speed hack', publicReason: 'Cheating.', untilMs: null, boards: null };
const SHADOW: NewSanction = { ...BAN, kind: 'shadow' };
const ACT = { actor: 'mod', reason: 'a bug of ours' };
const NEVER = new AbortController().signal;

describe('sanctions in the ledger', () => {
  let testDatabase: TestDatabase;
  let node: PeopleNode;
  let clock: DatabaseClock;
  let sanctions: Sanctions;
  let made = 0;

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    node = new PeopleNode(testDatabase.url);
    await node.start();
    clock = await DatabaseClock.of(testDatabase.url);
    sanctions = new Sanctions(node.database, node.lanes, node.work);
  });
  beforeEach(() => clock.stopAt(NOON));
  afterAll(async () => {
    await clock.close();
    await node.stop();
    await testDatabase.drop();
  });

  const newPlayer = (): string => `player${(made += 1)}`;
  const put = async (definition: Partial<BoardDefinition> = {}, id = `s${(made += 1)}`): Promise<Board> => {
    const full = withBoardDefaults({ order: 'desc', operator: 'best', ...definition } as BoardDefinition);
    const { board } = await node.registry.put(id, full);
    await node.boards.refresh();
    return board;
  };
  const submit = (board: Board, playerId: string, score: number, submissionId?: string): Promise<SubmitReceipt> =>
    node.ledger.write(
      submissionOf(node.boards.byId(board.id)!, playerId, score, submissionId === undefined ? {} : { submissionId }),
    );

  interface StoredRow {
    window: string;
    score: number;
    removed: boolean;
    unranked: boolean;
    version: number;
  }
  const entriesOf = (board: Board, playerId: string): Promise<StoredRow[]> =>
    node.database.query<StoredRow>(
      `SELECT w.window_id AS window, score, removed, unranked, version FROM entries JOIN windows w USING (window_uid)
       WHERE w.board_uid = $1 AND player_id = $2 ORDER BY window_id`,
      [board.uid, playerId],
    );
  const rankedOf = (board: Board): Promise<{ player: string; score: number }[]> =>
    node.database.query(
      `SELECT player_id AS player, score FROM ranked_entries JOIN windows w USING (window_uid)
       WHERE w.board_uid = $1 AND w.window_id = 'alltime' ORDER BY player_id`,
      [board.uid],
    );
  async function eventsOf(playerId: string): Promise<LadderEvent[]> {
    const rows = await node.database.query<LaneOutboxRow>(
      `SELECT ${OUTBOX_COLUMNS} FROM outbox WHERE key = $1 ORDER BY position`,
      [playerId],
    );
    return rows.map((row) => outboxEventOf(row).event);
  }
  const auditOf = (playerId: string): Promise<ListedAuditRecord[]> =>
    new AuditLog(node.database).list({ subject: `player:${playerId}` }, 50, null);

  it('a ban takes the player out of every running window, and a lift brings back the same bits', async () => {
    const board = await put({ windows: ['alltime', 'daily'] });
    const ada = newPlayer();
    await submit(board, ada, 0.1 + 0.2);
    await submit(board, 'bob', 7);
    const before = await entriesOf(board, ada);
    await sanctions.put(ada, BAN, 'mod');
    expect((await rankedOf(board)).map(({ player }) => player)).toEqual(['bob']);
    const event = (await eventsOf(ada)).filter(({ type }) => type === 'entry-changed').at(-1) as EntryChanged;
    expect(event.changes.map(({ entry }) => entry)).toEqual([null, null]);
    expect((await entriesOf(board, ada)).map(({ version }) => version)).toEqual([event.version, event.version]);

    await sanctions.lift(ada, ACT);
    const after = await entriesOf(board, ada);
    expect(after.map(({ version: _, ...row }) => row)).toEqual(before.map(({ version: _, ...row }) => row));
    const back = (await eventsOf(ada)).filter(({ type }) => type === 'entry-changed').at(-1) as EntryChanged;
    expect(back.changes.map(({ entry }) => entry?.score)).toEqual([0.1 + 0.2, 0.1 + 0.2]);
    expect(back.version).toBeGreaterThan(event.version);
  });

  it('a run of a banned player is refused, stores nothing and leaves its id free; a retry gets its first answer', async () => {
    const board = await put();
    const ada = newPlayer();
    await submit(board, ada, 5, `${ada}-1`);
    await sanctions.put(ada, { ...BAN, untilMs: NOON + HOUR }, 'mod');
    await expect(submit(board, ada, 9, `${ada}-2`)).rejects.toMatchObject({
      code: 'PLAYER_BANNED',
      extensions: { sanction: { kind: 'ban', until: '2026-11-20T13:00:00.000Z', publicReason: 'Cheating.' } },
    });
    expect(await submit(board, ada, 5, `${ada}-1`)).toMatchObject({ replayed: true, answer: { outcome: 'created' } });
    expect(await node.database.query('SELECT 1 FROM submissions WHERE submission_id = $1', [`${ada}-2`])).toEqual([]);
    await sanctions.lift(ada, ACT);
    expect((await submit(board, ada, 9, `${ada}-2`)).answer).toMatchObject({ outcome: 'improved', previousScore: 5 });
  });

  it('refuses in a batch only the runs of the banned player, whatever stands beside them', async () => {
    const board = await put({ scopes: ['global', 'region'] });
    const ada = newPlayer();
    await sanctions.put(ada, BAN, 'mod');
    const runs = [submit(board, 'bob', 1), submit(board, ada, 2), submit(board, 'cy', 3), submit(board, ada, 4)];
    const outcomes = await Promise.allSettled(runs);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'rejected']);
    expect(await entriesOf(board, ada)).toEqual([]);
  });

  it('a shadowed player is answered as ever, and none of what it scores is ranked, in new windows and boards neither', async () => {
    const board = await put({ operator: 'sum', windows: ['alltime', 'daily'] });
    const ada = newPlayer();
    await submit(board, ada, 5);
    await sanctions.put(ada, SHADOW, 'mod');
    expect((await submit(board, ada, 2)).answer).toMatchObject({ outcome: 'changed', score: 7, previousScore: 5 });
    await clock.stopAt(NOON + 24 * HOUR);
    await node.boards.refresh();
    const next = await submit(board, ada, 3);
    expect(next.answer.windows).toContain('daily:2026-11-21');
    const later = await put();
    await submit(later, ada, 4);
    for (const one of [board, later]) {
      expect((await entriesOf(one, ada)).every(({ unranked }) => unranked)).toBe(true);
      expect(await rankedOf(one)).toEqual([]);
    }
    const events = (await eventsOf(ada)).filter(({ type }) => type === 'entry-changed') as EntryChanged[];
    expect(events.slice(1).flatMap(({ changes }) => changes.map(({ entry }) => entry))).not.toContainEqual(
      expect.anything(),
    );
    await sanctions.lift(ada, ACT);
    expect((await entriesOf(board, ada)).map(({ window, score, unranked }) => [window, score, unranked])).toEqual([
      ['alltime', 10, false],
      ['daily:2026-11-20', 7, false],
      ['daily:2026-11-21', 3, false],
    ]);
    expect(await rankedOf(later)).toEqual([{ player: ada, score: 4 }]);
  });

  it('holds on the boards that it names alone, and follows them when they are others', async () => {
    const [first, second] = [await put(), await put()];
    const ada = newPlayer();
    for (const board of [first, second]) await submit(board, ada, 5);
    await sanctions.put(ada, { ...BAN, boards: [first.id] }, 'mod');
    expect([await rankedOf(first), await rankedOf(second)]).toEqual([[], [{ player: ada, score: 5 }]]);
    await expect(submit(first, ada, 6)).rejects.toMatchObject({ code: 'PLAYER_BANNED' });
    await submit(second, ada, 6);
    await sanctions.put(ada, { ...BAN, boards: [second.id] }, 'mod');
    expect([await rankedOf(first), await rankedOf(second)]).toEqual([[{ player: ada, score: 5 }], []]);
    await expect(sanctions.put(ada, { ...BAN, boards: ['nowhere'] }, 'mod')).rejects.toMatchObject({
      code: 'BOARD_NOT_FOUND',
    });
  });

  it('hide leaves entries as they are', async () => {
    const board = await put();
    const ada = newPlayer();
    await submit(board, ada, 5);
    const before = await entriesOf(board, ada);
    await sanctions.put(ada, { ...BAN, kind: 'hide' }, 'mod');
    expect(await entriesOf(board, ada)).toEqual(before);
    expect((await submit(board, ada, 6)).answer.outcome).toBe('improved');
  });

  it('is one at a time: a PUT replaces, the same again changes nothing, and all there ever were are listed', async () => {
    const board = await put();
    const ada = newPlayer();
    await submit(board, ada, 5);
    await sanctions.put(ada, BAN, 'mod');
    const again = await sanctions.put(ada, BAN, 'other');
    await sanctions.put(ada, { ...SHADOW, reason: 'milder' }, 'mod');
    expect((await entriesOf(board, ada))[0]!.unranked).toBe(true);
    expect(await sanctions.lift(ada, ACT)).toMatchObject({ kind: 'shadow', endedBy: 'mod', endReason: ACT.reason });
    expect(await sanctions.lift(ada, ACT)).toBeNull();
    const all = await sanctions.list(ada, 10, null);
    expect(all.map(({ kind, putBy, endReason, pending }) => [kind, putBy, endReason, pending])).toEqual([
      ['shadow', 'mod', ACT.reason, false],
      ['ban', 'mod', 'milder', false],
    ]);
    expect(again.sanctionId).toBe(all[1]!.sanctionId);
    const acts = await auditOf(ada);
    expect(acts.map(({ action }) => action)).toEqual(['sanction.lift', 'sanction.put', 'sanction.put']);
    expect(acts.at(-1)!.details).toMatchObject({
      reason: 'speed hack',
      entries: 1,
      windows: [{ board: board.id, window: 'alltime', before: { score: 5 }, after: null }],
    });
    // From ban to shadow nothing changes for others.
    expect(acts[1]!.details).toMatchObject({ kind: 'shadow', entries: 0, windows: [] });
    const told = (await eventsOf(ada)).filter(({ type }) => type === 'sanction-changed');
    expect(told.map((event) => (event as { sanction: { kind: string } | null }).sanction?.kind ?? null)).toEqual([
      'ban',
      'shadow',
      null,
    ]);
  });

  it('is lifted by the clock when its end is over, once, also after a time without anybody', async () => {
    const board = await put();
    const ada = newPlayer();
    await submit(board, ada, 5);
    await expect(sanctions.put(ada, { ...BAN, untilMs: NOON }, 'mod')).rejects.toMatchObject({
      code: 'VALIDATION_FAILED',
    });
    await sanctions.put(ada, { ...BAN, untilMs: NOON + HOUR }, 'mod');
    const clocks = [1, 2].map(() => new SanctionClock(node.database, sanctions));
    await clock.stopAt(NOON + HOUR - 1);
    expect(await clocks[0]!.liftDue(NEVER)).toBe(0);
    await clock.stopAt(NOON + 100 * HOUR);
    const lifted = await Promise.all(clocks.map((one) => one.liftDue(NEVER)));
    expect(lifted.sort()).toEqual([0, 1]);
    expect(await rankedOf(board)).toEqual([{ player: ada, score: 5 }]);
    const [act] = await auditOf(ada);
    expect(act).toMatchObject({ actor: 'clock', action: 'sanction.lift', details: { reason: 'until' } });
    // Whoever bans it anew keeps that: the end of the former one is nothing to it.
    await sanctions.put(ada, BAN, 'mod');
    expect(await clocks[0]!.liftDue(NEVER)).toBe(0);
  });

  /** A player with an entry in so many windows that are over, and one that runs. */
  async function withManyWindows(windows: number): Promise<{ board: Board; playerId: string }> {
    const board = await put({ windows: ['alltime', 'daily'] });
    const playerId = newPlayer();
    await submit(board, playerId, 5);
    await node.database.query(
      `WITH past AS (
         INSERT INTO windows (board_uid, window_id, kind, starts_at, ends_at, state)
         SELECT $1, 'daily:past-' || n, 'daily', '2020-01-01'::timestamptz + n * interval '1 day',
           '2020-01-02'::timestamptz + n * interval '1 day', 'settled' FROM generate_series(1, $3::int) AS n
         RETURNING window_uid)
       INSERT INTO entries (window_uid, player_id, board_uid, lane, version, removed, score, columns, achieved_at_ms)
       SELECT window_uid, $2, $1, $4, 1, false, 3, '{}', 0 FROM past`,
      [board.uid, playerId, windows, node.lanes.of(playerId)],
    );
    return { board, playerId };
  }
  const unrankedOf = async (playerId: string): Promise<number> => {
    const [row] = await node.database.query<{ n: number }>(
      'SELECT count(*)::int AS n FROM entries WHERE player_id = $1 AND unranked',
      [playerId],
    );
    return row!.n;
  };

  it('follows in parts: up to 1,000 entries at once, and a projector goes on with what is left', async () => {
    const { playerId } = await withManyWindows(1200);
    const banned = await sanctions.put(playerId, BAN, 'mod');
    expect(banned).toMatchObject({ pending: true, followedEntries: 1000 });
    expect(await unrankedOf(playerId)).toBe(1000);
    await new SanctionClock(node.database, sanctions).goOn(NEVER);
    expect(await unrankedOf(playerId)).toBe(1202);
    expect(await sanctions.inForce(playerId)).toMatchObject({ pending: false, followedEntries: 1202 });
  });

  /** Work in lanes that ends with the process after so many transactions. */
  class Dying extends LaneQueue {
    constructor(private left: number) {
      super(node.database, node.lanes, node.notifier);
    }

    override holding<T>(at: string | Place, work: (transaction: SqlRunner, lane: number) => Promise<T>): Promise<T> {
      this.left -= 1;
      if (this.left < 0) return Promise.reject(new Error('killed'));
      return super.holding(at, work);
    }
  }

  it('goes on where a process died between two parts, also where the sanction was lifted meanwhile', async () => {
    const { board, playerId } = await withManyWindows(600);
    const dying = new Sanctions(node.database, node.lanes, new Dying(2));
    await expect(dying.put(playerId, BAN, 'mod')).rejects.toThrow('killed');
    expect(await unrankedOf(playerId)).toBe(500);
    await new SanctionClock(node.database, sanctions).goOn(NEVER);
    expect(await unrankedOf(playerId)).toBe(602);
    // Lifted in one part, and dead; put again before anybody went on.
    const lifting = new Sanctions(node.database, node.lanes, new Dying(1));
    await expect(lifting.lift(playerId, ACT)).rejects.toThrow('killed');
    expect(await unrankedOf(playerId)).toBe(352);
    await sanctions.put(playerId, SHADOW, 'mod');
    expect(await unrankedOf(playerId)).toBe(602);
    await sanctions.lift(playerId, ACT);
    expect(await unrankedOf(playerId)).toBe(0);
    expect((await entriesOf(board, playerId)).find(({ window }) => window === 'alltime')!.score).toBe(5);
    const pending = await node.database.query('SELECT 1 FROM sanctions WHERE player_id = $1 AND pending', [playerId]);
    expect(pending).toEqual([]);
  });

  it('of two at once the last one stands, and entries are as it says', async () => {
    const board = await put({ windows: ['alltime', 'daily'] });
    for (let round = 0; round < 10; round += 1) {
      const ada = newPlayer();
      await submit(board, ada, 5);
      await Promise.all([
        sanctions.put(ada, BAN, 'one'),
        sanctions.put(ada, { ...BAN, kind: 'hide' }, 'two'),
        submit(board, ada, 6).catch((error: unknown) => expect(error).toMatchObject({ code: 'PLAYER_BANNED' })),
        sanctions.put(ada, SHADOW, 'three'),
        sanctions.lift(ada, ACT),
      ]);
      const inForce = await sanctions.inForce(ada);
      const unranked = inForce !== undefined && inForce.kind !== 'hide';
      expect((await entriesOf(board, ada)).map((row) => row.unranked)).toEqual([unranked, unranked]);
      const all = await sanctions.list(ada, 10, null);
      expect(all.filter(({ endedAtMs }) => endedAtMs === null)).toHaveLength(inForce ? 1 : 0);
    }
  });

  it('says that there is no entry in every event that anybody writes, and whoever compares expects none', async () => {
    const board = await put({ scopes: ['global', 'region'] });
    const ada = newPlayer();
    await submit(board, ada, 5);
    await sanctions.put(ada, SHADOW, 'mod');
    const since = (await eventsOf(ada)).length;
    const profile = { displayName: null, region: 'EU', avatarUrl: null, attributes: {}, listed: true };
    await node.players.put(ada, profile);
    await submit(board, ada, 8);
    await new StateRepublisher(node.work, node.totals).emitPlayer(ada, {
      boardUid: null,
      windowUids: null,
    });
    const all = (await eventsOf(ada)).slice(since) as EntryChanged[];
    const events = all.filter(({ type }) => type === 'entry-changed');
    expect(events).toHaveLength(3);
    expect(events.flatMap(({ changes }) => changes.map(({ entry }) => entry))).toEqual([null, null, null]);
    const { uid } = (await node.windows.find(board.uid, 'alltime'))!;
    const [row] = await comparedPage(node.database, uid, false, '');
    expect(row).toMatchObject({ playerId: ada, removed: true, version: events.at(-1)!.version });
  });

  it('takes a banned member out of its guild, and out of the one that keeps its part, and brings both back', async () => {
    const board = await put({
      operator: 'sum',
      scopes: ['global', 'guild'],
      guildAggregate: { kind: 'sum', k: null, onLeave: 'keep' },
    });
    const [ada, red, blue] = [newPlayer(), `red${made}`, `blue${made}`];
    for (const guild of [red, blue]) await node.guilds.put(guild, null);
    await node.guilds.join(red, ada);
    await node.guilds.join(red, `mate of ${ada}`);
    await submit(board, ada, 5);
    await submit(board, `mate of ${ada}`, 1);
    await node.guilds.join(blue, ada);
    await submit(board, ada, 2);
    await node.follow();
    const totals = async (): Promise<Record<string, number>> => {
      await node.settled();
      const rows = await node.database.query<{ guild: string; score: number }>(
        'SELECT guild_id AS guild, score FROM guild_totals WHERE board_uid = $1 AND NOT removed',
        [board.uid],
      );
      return Object.fromEntries(rows.map(({ guild, score }) => [guild, score]));
    };
    expect(await totals()).toEqual({ [red]: 6, [blue]: 7 });
    await sanctions.put(ada, BAN, 'mod');
    expect(await totals()).toEqual({ [red]: 1 });
    await sanctions.lift(ada, ACT);
    expect(await totals()).toEqual({ [red]: 6, [blue]: 7 });
    // The part that is kept goes and comes back also where the entry itself is gone.
    const audit = { actor: 'test', action: 'entry.remove', subject: 'x', details: {} };
    await node.ledger.write({ kind: 'override', board, playerId: ada, entry: null, audit });
    await sanctions.put(ada, BAN, 'mod');
    expect(await totals()).toEqual({ [red]: 1 });
    await sanctions.lift(ada, ACT);
    expect(await totals()).toEqual({ [red]: 6 });
  });

  it('looks sanctions up by indexes', async () => {
    const ada = newPlayer();
    await node.database.query(
      `INSERT INTO sanctions (player_id, kind, reason, put_by, put_at, pending)
       SELECT 'crowd' || n, 'ban', 'r', 'mod', ladder_now(), false FROM generate_series(1, 20000) AS n`,
    );
    await node.database.query('ANALYZE sanctions');
    const scanned = await tablesScanned(node.database, async (sql) => {
      const run = new Sanctions(
        { query: (text: string, values?: unknown[]) => sql.query(text, values) } as never,
        node.lanes,
        node.work,
      );
      await run.inForce(ada);
      await run.list(ada, 10, null);
    });
    expect(scanned).toEqual([]);
  });
});
