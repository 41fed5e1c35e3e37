// Real: PostgreSQL, the ledger and its players; its clock, `ladder_now()`, is in the test's hands.
import { withBoardDefaults, type Board, type BoardDefinition, type LadderEvent } from '@laddercast/domain';
import { NO_PROFILE, type PlayerProfile } from '@laddercast/ledger';
import { createTestDatabase, DatabaseClock, type TestDatabase } from '@laddercast/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { outboxEvents, type EventOf } from '../nodes/outbox-events.js';
import { submissionOf } from '../nodes/ledger-node.js';
import { PeopleNode, tablesScanned } from '../nodes/people-node.js';

const NOON = Date.parse('2026-11-20T12:00:00Z');

describe('players in the ledger', () => {
  let testDatabase: TestDatabase;
  let node: PeopleNode;
  let clock: DatabaseClock;
  let made = 0;

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    node = new PeopleNode(testDatabase.url);
    await node.start();
    clock = await DatabaseClock.of(testDatabase.url);
  });
  beforeEach(() => clock.stopAt(NOON));
  afterAll(async () => {
    await clock.close();
    await node.stop();
    await testDatabase.drop();
  });

  const put = async (definition: Partial<BoardDefinition>, id = `p${(made += 1)}`): Promise<Board> => {
    const full = withBoardDefaults({ order: 'desc', operator: 'best', ...definition } as BoardDefinition);
    const { board } = await node.registry.put(id, full);
    await node.boards.refresh();
    return board;
  };
  const profile = (playerId: string, given: Partial<PlayerProfile>) =>
    node.players.put(playerId, { ...NO_PROFILE, ...given });
  const submit = (board: Board, playerId: string, score: number) =>
    node.ledger.write(submissionOf(node.boards.byId(board.id)!, playerId, score));

  /** The names of the scopes of a player's entry, and of those it left. */
  async function scopesOf(board: Board, windowId: string, playerId: string): Promise<[string[], string[]]> {
    const [row] = await node.database.query<{ scopes: number[]; left_scopes: number[] }>(
      `SELECT scopes, left_scopes FROM entries JOIN windows w USING (window_uid)
       WHERE w.board_uid = $1 AND window_id = $2 AND player_id = $3`,
      [board.uid, windowId, playerId],
    );
    const names = await node.scopes.namesOf([...row!.scopes, ...row!.left_scopes]);
    const named = (uids: number[]): string[] => uids.map((uid) => names.get(uid)!).sort();
    return [named(row!.scopes), named(row!.left_scopes)];
  }

  async function eventsOf<Type extends LadderEvent['type']>(type: Type): Promise<(EventOf<Type> & { lane: number })[]> {
    return (await outboxEvents(node.database, type)).map(({ lane, event }) => ({ ...event, lane }));
  }

  it('have their running entries ranked in the scopes of their region and attributes, and no others', async () => {
    const board = await put({
      windows: ['alltime', 'daily'],
      scopes: ['global', 'region', { attribute: 'country' }],
    });
    const plain = await put({});
    await submit(board, 'ada', 5);
    await submit(plain, 'ada', 5);
    await profile('ada', { region: 'EU', attributes: { country: 'GB', language: 'en' } });
    expect(await scopesOf(board, 'alltime', 'ada')).toEqual([['country:GB', 'region:EU'], []]);
    await profile('ada', { region: 'US', attributes: { country: 'GB' } });
    expect(await scopesOf(board, 'daily:2026-11-20', 'ada')).toEqual([['country:GB', 'region:US'], ['region:EU']]);
    const events = (await eventsOf('entry-changed')).filter(({ boardUid }) => boardUid === board.uid);
    const [region] = await node.scopes.ensure(['region:EU']);
    expect(events.map(({ changes }) => changes.map(({ leftScopes = [] }) => leftScopes))).toEqual([
      [[], []],
      [[], []],
      [[region], [region]],
    ]);
    expect(events.at(-1)!.changes[0]).toMatchObject({ entry: { score: 5 }, keepUntilMs: null });
    expect(new Set(events.map(({ lane }) => lane))).toEqual(new Set([node.lanes.of('ada')]));
    expect((await eventsOf('entry-changed')).filter(({ boardUid }) => boardUid === plain.uid)).toHaveLength(1);
  });

  it('go back to where they were: the scopes that an entry left are not those that it has', async () => {
    const board = await put({ scopes: ['global', 'region'] });
    await profile('bob', { region: 'EU' });
    await submit(board, 'bob', 1);
    await profile('bob', { region: 'US' });
    await profile('bob', {});
    expect(await scopesOf(board, 'alltime', 'bob')).toEqual([[], ['region:EU', 'region:US']]);
    await profile('bob', { region: 'EU' });
    expect(await scopesOf(board, 'alltime', 'bob')).toEqual([['region:EU'], ['region:US']]);
  });

  it('stay where they were in windows that have ended, late runs included', async () => {
    const board = await put({ windows: ['alltime', 'daily'], scopes: ['global', 'region'], graceSeconds: 600 });
    await profile('cy', { region: 'EU' });
    await submit(board, 'cy', 1);
    await clock.stopAt(Date.parse('2026-11-21T00:00:00Z'));
    await profile('cy', { region: 'US' });
    expect(await scopesOf(board, 'daily:2026-11-20', 'cy')).toEqual([['region:EU'], []]);
    expect(await scopesOf(board, 'alltime', 'cy')).toEqual([['region:US'], ['region:EU']]);
    const late = submissionOf(node.boards.byId(board.id)!, 'cy', 9, { achievedAtMs: NOON });
    await node.ledger.write(late);
    expect(await scopesOf(board, 'daily:2026-11-20', 'cy')).toEqual([['region:EU'], []]);
  });

  it('leave a frozen window as it was: the entry is saved before its scopes change', async () => {
    const season = {
      season: 's1',
      startsAt: '2026-11-20T00:00:00Z',
      endsAt: '2026-11-21T00:00:00Z',
      freezeAt: '2026-11-20T13:00:00Z',
    };
    const board = await put({ windows: [season], scopes: ['global', 'region'] });
    await profile('dan', { region: 'EU' });
    await submit(board, 'dan', 7);
    await clock.stopAt(NOON + 2 * 3_600_000);
    await profile('dan', { region: 'US' });
    const [eu] = await node.scopes.ensure(['region:EU']);
    const frozen = await node.database.query(
      `SELECT player_id, present, score, f.scopes FROM frozen_entries f JOIN windows USING (window_uid) WHERE board_uid = $1`,
      [board.uid],
    );
    expect(frozen).toEqual([{ player_id: 'dan', present: true, score: 7, scopes: [eu] }]);
  });

  it('announce another name, face or listing, and nothing else', async () => {
    const before = (await eventsOf('player-changed')).length;
    const avatarUrl = 'https://cdn.example/eve.png';
    const changes = [
      { displayName: 'Eve' },
      { displayName: 'Eve', region: 'EU' },
      { displayName: 'Eve', region: 'EU', avatarUrl },
      { displayName: 'Eve', region: 'EU', attributes: { a: '1', bb: '2' } },
      { displayName: 'Eve', listed: false },
      { displayName: 'Eva', listed: false },
    ];
    for (const change of changes) {
      await profile('eve', change);
      // The same again is no news.
      await profile('eve', change);
    }
    const events = (await eventsOf('player-changed')).slice(before);
    expect(events.map(({ playerId }) => playerId)).toEqual(changes.map(() => 'eve'));
    expect(await node.players.find('eve')).toEqual({
      ...NO_PROFILE,
      playerId: 'eve',
      displayName: 'Eva',
      listed: false,
      guildId: null,
    });
    expect(await node.players.find('nobody')).toBeUndefined();
  });

  it('end where the last profile says, whatever is put and played at the same time', async () => {
    const board = await put({ operator: 'sum', windows: ['alltime', 'daily'], scopes: ['global', 'region'] });
    const regions = ['EU', 'US', 'AS'];
    const players = ['p1', 'p2', 'p3', 'p4'];
    await Promise.all(
      Array.from({ length: 240 }, (_, i) => {
        const playerId = players[i % 4]!;
        return i % 3 === 0 ? profile(playerId, { region: regions[(i % 7) % 3]! }) : submit(board, playerId, 1);
      }),
    );
    for (const playerId of players) {
      const { region } = (await node.players.find(playerId))!;
      for (const window of ['alltime', 'daily:2026-11-20']) {
        expect((await scopesOf(board, window, playerId))[0], playerId).toEqual([`region:${region}`]);
      }
    }
    // Applied in the order of their versions, the events end in the same lists.
    const last = new Map<string, number[]>();
    for (const event of await eventsOf('entry-changed')) {
      if (event.boardUid !== board.uid) continue;
      for (const { windowUid, scopes = [], leftScopes = [] } of event.changes) {
        for (const left of leftScopes) last.set(`${windowUid}/${event.playerId}/${left}`, []);
        for (const scope of scopes) last.set(`${windowUid}/${event.playerId}/${scope}`, [scope]);
      }
    }
    const inLists = [...last].filter(([, scopes]) => scopes.length > 0).map(([key]) => key);
    const rows = await node.database.query<{ key: string }>(
      `SELECT window_uid || '/' || player_id || '/' || unnest(scopes) AS key FROM entries WHERE board_uid = $1`,
      [board.uid],
    );
    expect(inLists.sort()).toEqual(rows.map(({ key }) => key).sort());
  });

  it('are found by probes alone, however many entries there are', async () => {
    const board = await put({ windows: ['alltime', 'daily'], scopes: ['global', 'region'] });
    await submit(board, 'fay', 1);
    await node.database.query(
      `INSERT INTO entries (window_uid, player_id, board_uid, lane, version, removed, score, columns, achieved_at_ms)
       SELECT w.window_uid, 'x' || n, w.board_uid, 0, 1, false, n, '{}', 0
       FROM windows w, generate_series(1, 100000) AS n WHERE w.board_uid = $1`,
      [board.uid],
    );
    for (const analysed of [false, true]) {
      if (analysed) await node.database.query('ANALYZE entries');
      const scanned = await tablesScanned(node.database, (sql) => node.reemission.runningOfPlayer(sql, 'fay', NOON));
      // Boards and players are few: who has counted them may read them whole.
      expect(scanned.filter((table) => !['boards', 'players'].includes(table))).toEqual([]);
      const [alltime] = await node.windows.ofBoard(board.uid);
      const players = Array.from({ length: 500 }, (_, i) => `x${i}`);
      expect(
        await tablesScanned(node.database, (sql) => node.reemission.runningOfWindow(sql, alltime!.uid, players, NOON)),
      ).not.toContain('entries');
    }
  });

  describe('of a board whose scopes change', () => {
    it('get the new scopes of its running entries, and only what was not done yet is written', async () => {
      const board = await put({ windows: ['alltime'], scopes: ['global'] });
      for (let i = 0; i < 40; i += 1) {
        await profile(`r${i}`, { region: i % 2 ? 'EU' : 'US', attributes: { country: 'DE' } });
        await submit(board, `r${i}`, i);
      }
      await put({ windows: ['alltime'], scopes: ['global', 'region', { attribute: 'country' }] }, board.id);
      await node.scopeMigration.run(new AbortController().signal);
      expect(await scopesOf(board, 'alltime', 'r3')).toEqual([['country:DE', 'region:EU'], []]);
      const count = async (): Promise<number> =>
        (await eventsOf('entry-changed')).filter(({ boardUid }) => boardUid === board.uid).length;
      expect(await count()).toBe(80);
      const [row] = await node.database.query('SELECT rescope FROM boards WHERE board_uid = $1', [board.uid]);
      expect(row).toEqual({ rescope: false });
      await node.database.query('UPDATE boards SET rescope = true WHERE board_uid = $1', [board.uid]);
      await node.scopeMigration.run(new AbortController().signal);
      expect(await count()).toBe(80);
      await put({ windows: ['alltime'], scopes: ['global', 'region'] }, board.id);
      await node.scopeMigration.run(new AbortController().signal);
      expect(await scopesOf(board, 'alltime', 'r3')).toEqual([['region:EU'], ['country:DE']]);
      expect(await count()).toBe(120);
      expect(node.failures).toEqual([]);
    });

    it('are looked at once more when they change again meanwhile', async () => {
      const board = await put({ scopes: ['global'] });
      await profile('gil', { region: 'EU' });
      await submit(board, 'gil', 1);
      await put({ scopes: ['global', 'region'] }, board.id);
      const found = await node.database.query('SELECT board_uid FROM boards WHERE rescope AND board_uid = $1', [
        board.uid,
      ]);
      expect(found).toHaveLength(1);
      const query = node.database.query.bind(node.database);
      let again = false;
      node.database.query = async <Row>(sql: string, values?: unknown[]): Promise<Row[]> => {
        if (sql.includes('rescope = false') && !again) {
          again = true;
          await put({ scopes: ['global'] }, board.id);
        }
        return query<Row>(sql, values);
      };
      await node.scopeMigration.run(new AbortController().signal);
      node.database.query = query;
      expect(await query('SELECT rescope FROM boards WHERE board_uid = $1', [board.uid])).toEqual([{ rescope: true }]);
      await node.scopeMigration.run(new AbortController().signal);
      expect(await scopesOf(board, 'alltime', 'gil')).toEqual([[], ['region:EU']]);
      expect(await query('SELECT rescope FROM boards WHERE board_uid = $1', [board.uid])).toEqual([{ rescope: false }]);
    });
  });
});
