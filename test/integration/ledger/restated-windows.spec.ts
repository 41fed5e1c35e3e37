// Real: PostgreSQL and the ledgers of two processes; their clock is the test's. A process that dies is one whose statements fail
// from some step on: what was not committed is rolled back.
import { LadderError, RATING_ALGORITHMS, type Board, type BoardDefinition } from '@laddercast/domain';
import {
  EditionCatalog,
  LaneQueue,
  RestatedEntries,
  Sanctions,
  WindowRestater,
  type Pool,
  type PoolsOf,
  type PostgresDatabase,
} from '@laddercast/ledger';
import { createTestDatabase, DatabaseClock, type TestDatabase } from '@laddercast/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { gameOf } from '../nodes/pool-node.js';
import { RestateNode } from '../nodes/restate-node.js';
import { dyingAfter, watched } from '../nodes/watched-database.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const MIDNIGHT_MS = Date.parse('2026-11-20T00:00:00Z');
const DAY = 'daily:2026-11-20';
const ALWAYS = new AbortController().signal;

describe('restating a window that ended', () => {
  let testDatabase: TestDatabase;
  let node: RestateNode;
  let other: RestateNode;
  let clock: DatabaseClock;
  let made = 0;
  let id = '';

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    node = new RestateNode(testDatabase.url);
    await node.start();
    clock = await DatabaseClock.of(testDatabase.url);
    other = new RestateNode(testDatabase.url);
    await other.start();
  });
  beforeEach(async () => {
    id = `r${(made += 1)}`;
    await clock.stopAt(MIDNIGHT_MS + HOUR_MS);
  });
  afterAll(async () => {
    await clock.close();
    await other.stop();
    await node.stop();
    await testDatabase.drop();
  });

  const query = <Row>(sql: string, parameters: unknown[] = []): Promise<Row[]> =>
    node.database.query<Row>(sql, parameters);

  const feeding = async (pool: object = {}, board: Partial<BoardDefinition> = {}): Promise<Pool> => {
    await node.makeBoard(id, { windows: ['daily'], graceSeconds: 0, ...board });
    const fed = await node.makePool(id, { board: id, ...pool });
    await node.boards.refresh();
    return fed;
  };
  const board = (): Board => node.boards.byId(id)!;
  const uid = (): Promise<number> => node.windowUid(board(), DAY);
  const play = async (pool: Pool, gameId: string, places: Record<string, number>, hour: number): Promise<void> => {
    const playedAtMs = MIDNIGHT_MS + hour * HOUR_MS;
    if ((await clock.nowMs()) < playedAtMs) await clock.stopAt(playedAtMs);
    await node.games.record(gameOf(pool.id, gameId, places, { playedAtMs }));
    await node.play(pool);
  };
  const close = async (days = 1): Promise<void> => {
    await clock.stopAt(MIDNIGHT_MS + days * DAY_MS + HOUR_MS);
    await node.boards.refresh();
    await node.closeWindows();
  };
  const voidGames = async (pool: Pool, ...gameIds: string[]): Promise<void> => {
    const selection = { gameIds, playerId: null, fromMs: null, toMs: null };
    await node.corrections.record(pool.id, { selection, mode: 'recompute', reason: 'r' }, 'test');
    await node.play(pool);
  };
  const refusalOf = async (asked: Promise<unknown>): Promise<string> =>
    asked.then(
      () => 'none',
      (error: unknown) => (error as LadderError).code,
    );
  const acts = (): Promise<{ actor: string; details: Record<string, unknown> }[]> =>
    query(
      `SELECT actor, details FROM audit_log WHERE action = 'standings.restate' AND subject = $1 ORDER BY audit_id`,
      [`window:${id}/${DAY}`],
    );

  /** Two games of a day, of which the first is void afterwards. */
  const voidedAfterwards = async (of: object = {}): Promise<Pool> => {
    const pool = await feeding(of);
    await play(pool, 'g1', { ada: 1, bob: 2 }, 2);
    await play(pool, 'g2', { bob: 1, cy: 2 }, 3);
    await close();
    await voidGames(pool, 'g1');
    return pool;
  };

  it('writes the next edition, an act with its reason, and says so on the log', async () => {
    await voidedAfterwards();
    const before = await node.standingsOf(board(), DAY);
    await node.restatements.ask(await uid(), { actor: 'test', reason: 'a bot' });
    const revising = async (): Promise<boolean> =>
      (await new EditionCatalog(node.database).present(await uid(), 'final')).isRevising;
    expect(await revising()).toBe(true);
    expect(before.map((line) => line.split(' ')[0])).toEqual(['ada', 'bob', 'cy']);
    expect(await node.restate(await uid(), undefined, 'a bot')).toEqual({
      ...{ pool: id, playersRead: 3, entries: 3, edition: 2, isDone: true },
    });
    expect(await revising()).toBe(false);
    expect(await node.standingsOf(board(), DAY)).toEqual(['bob 1516', 'cy 1484']);
    expect(await node.standingsOf(board(), DAY, 1)).toEqual(before);
    const [act] = await acts();
    expect(act).toMatchObject({
      actor: 'test',
      details: { window: DAY, pool: id, reason: 'a bot', entries: 3, ratedPosition: expect.any(Number) },
    });
    expect(act!.details['players']).toMatchObject([
      { playerId: 'ada', before: { score: 1516 }, after: null },
      { playerId: 'bob', after: { score: 1516, columns: [] } },
      { playerId: 'cy', after: { score: 1484 } },
    ]);
    expect(await node.editionsOf(await uid())).toMatchObject([
      { number: 1, reason: null, acts: [] },
      { number: 2, reason: 'a bot', acts: [expect.any(Number)] },
    ]);
    const told = await query<{ payload: string }>(
      `SELECT payload FROM outbox WHERE topic = 'standings-revised' AND key = $1`,
      [String(board().uid)],
    );
    expect(told.map(({ payload }) => JSON.parse(payload) as object)).toMatchObject([{ windowId: DAY, edition: 2 }]);
  });

  it('changes nothing, and is no act, where nothing differs', async () => {
    const pool = await feeding({ rankable: { gamesMin: 1, inactiveDaysMax: 2 } });
    await play(pool, 'g1', { ada: 1, bob: 2 }, 2);
    // By the time of the restatement nobody is rankable any more; when the window closed everybody was.
    await close(9);
    expect(await node.restate(await uid())).toMatchObject({ entries: 0, edition: 1, isDone: true });
    expect(await acts()).toEqual([]);
    expect(await query('SELECT FROM revisions_due')).toEqual([]);
  });

  it('goes by the rules that the pool had when the window ended', async () => {
    const rules = { rankable: { gamesMin: 2 }, provisional: { games: 2 } };
    await node.makeBoard(`${id}-peak`, { windows: ['daily'], graceSeconds: 0 });
    const boards = [
      { board: id, value: 'rating' },
      { board: `${id}-peak`, value: 'peak' },
    ];
    const pool = await feeding({ board: undefined, boards, ...rules });
    await play(pool, 'g1', { ada: 1, bob: 2 }, 2);
    await play(pool, 'g2', { bob: 1, cy: 2 }, 3);
    await play(pool, 'g3', { bob: 1, di: 2 }, 4);
    await play(pool, 'g4', { cy: 1, di: 2 }, 5);
    await close();
    const shown = await node.standingsOf(board(), DAY);
    expect(shown.map((line) => line.split(' ')[0])).toEqual(['bob', 'cy', 'di']);
    // From now on one game is enough; the next day others play their second.
    await node.makePool(id, { boards, rankable: { gamesMin: 1 } });
    await node.rater.rate(pool.uid);
    await node.fill();
    await play(pool, 'g5', { ada: 1, eve: 2 }, 26);
    expect(await node.restate(await uid())).toMatchObject({ entries: 0, edition: 1 });
    // Of three games of bob two are left, of two of di one: not enough.
    await voidGames(pool, 'g3');
    expect(await node.restate(await uid())).toMatchObject({ edition: 2 });
    expect((await node.standingsOf(board(), DAY)).map((line) => line.split(' ')[0])).toEqual(['bob', 'cy']);
    const peaks = node.boards.byId(`${id}-peak`)!;
    await node.restate(await node.windowUid(peaks, DAY));
    const ratings = await node.standingsOf(board(), DAY);
    // The first game of each is provisional: the peak is the rating after the second.
    expect(await node.standingsOf(peaks, DAY)).toEqual(ratings);
  });

  it('has games that came after the window closed, and results that were corrected', async () => {
    const pool = await feeding();
    await play(pool, 'g1', { ada: 1, bob: 2 }, 2);
    await close();
    await play(pool, 'late', { cy: 1, ada: 2 }, 3);
    expect((await node.standingsOf(board(), DAY)).length).toBe(2);
    await node.restate(await uid());
    const ratings = await Promise.all(['cy', 'ada', 'bob'].map((player) => node.ratingOf(pool, player)));
    expect(await node.standingsOf(board(), DAY)).toEqual(
      ['cy', 'ada', 'bob'].map((name, at) => `${name} ${ratings[at]}`),
    );
    const players = gameOf(id, 'g1', { di: 1, bob: 2 }).players;
    await node.corrections.record(id, { gameId: 'g1', players, reason: 'r' }, 'test');
    await node.play(pool);
    expect(await node.restate(await uid())).toMatchObject({ edition: 3 });
    expect(await node.standingsOf(board(), DAY)).toEqual(['di 1516', 'cy 1516', 'bob 1484', 'ada 1484']);
  });

  it('leaves banned players out, and has them back as the pool says when that is lifted', async () => {
    await voidedAfterwards();
    const sanctions = new Sanctions(node.database, node.lanes, node.work);
    const ban = { kind: 'ban', reason: 'r', publicReason: null, untilMs: null, boards: [id] } as const;
    await sanctions.put('cy', ban, 'test');
    await node.restate(await uid());
    expect(await node.standingsOf(board(), DAY)).toEqual(['bob 1516']);
    await sanctions.lift('cy', { actor: 'test', reason: 'r' });
    await node.revise();
    expect(await node.standingsOf(board(), DAY)).toEqual(['bob 1516', 'cy 1484']);
  });

  it('is of one moment: a void that comes while it is read is not half in it', async () => {
    const pool = await feeding();
    for (let at = 0; at < 300; at += 1) {
      await node.games.record(
        gameOf(id, `g${at}`, { [`a${at}`]: 1, [`z${at}`]: 2 }, { playedAtMs: MIDNIGHT_MS + HOUR_MS }),
      );
    }
    await node.play(pool);
    await close();
    await voidGames(pool, 'g0');
    await node.restatements.ask(await uid(), { actor: 'test', reason: null });
    // After its first chunk of players: the second holds the losers of the first.
    let isVoided = false;
    const lateVoid = watched(node.database, async () => {
      const [{ read } = { read: 0 }] = await query<{ read: number }>(
        'SELECT players_read AS read FROM restatements WHERE window_uid = $1',
        [await uid()],
      );
      if (isVoided || read === 0) return;
      isVoided = true;
      await voidGames(pool, 'g1', 'g2');
    });
    await restaterOf(node, lateVoid).run(ALWAYS);
    expect(isVoided).toBe(true);
    await node.revise();
    const names = (await node.standingsOf(board(), DAY)).map((line) => line.split(' ')[0]);
    expect(names).toHaveLength(598);
    expect(['a0', 'z0', 'a1', 'z1'].map((name) => names.includes(name))).toEqual([false, false, true, true]);
    await node.restate(await uid());
    expect(await node.standingsOf(board(), DAY)).toHaveLength(594);
  });

  it(
    'goes on where a process died between any two steps, and makes one edition, with one act',
    { timeout: 120_000 },
    async () => {
      const pool = await voidedAfterwards();
      let isDone = false;
      let steps = 0;
      for (; !isDone; steps += 1) {
        // What was done before is undone, as the pool says now: each round begins with other standings.
        await node.corrections.record(
          id,
          {
            gameId: 'g2',
            players: gameOf(id, 'g2', steps % 2 === 0 ? { bob: 1, cy: 2 } : { cy: 1, bob: 2 }).players,
            reason: 'r',
          },
          'test',
        );
        await node.play(pool);
        const before = (await acts()).length;
        const edition = (await node.editionsOf(await uid())).length;
        await node.restatements.ask(await uid(), { actor: 'test', reason: `${steps}` });
        isDone = await restaterOf(node, dyingAfter(node.database, steps))
          .run(ALWAYS)
          .then(
            () => true,
            () => false,
          );
        // An edition that is due meanwhile, whatever for, waits.
        if (!isDone) await node.revise();
        await other.restater.run(ALWAYS);
        await other.restater.run(ALWAYS);
        await node.revise();
        const winner = steps % 2 === 0 ? 'bob' : 'cy';
        const [first] = await node.standingsOf(board(), DAY);
        expect(first, `died after ${steps} steps`).toBe(`${winner} 1516`);
        expect((await acts()).length).toBe(before + 1);
        expect((await node.editionsOf(await uid())).length).toBe(edition + 1);
        expect(await query('SELECT FROM restated_entries')).toEqual([]);
      }
      expect(steps).toBeGreaterThan(10);
    },
  );

  it('holds up no ban while it is read, and is not seen half while it is written', async () => {
    await voidedAfterwards();
    const sanctions = new Sanctions(node.database, node.lanes, node.work);
    const ban = (): Promise<unknown> =>
      sanctions.put('cy', { kind: 'ban', reason: 'r', publicReason: null, untilMs: null, boards: [id] }, 'test');
    const lift = (): Promise<unknown> => sanctions.lift('cy', { actor: 'test', reason: 'r' });
    const seen: string[] = [];
    const looking = watched(node.database, async () => {
      const [{ entries } = { entries: null }] = await query<{ entries: number | null }>(
        'SELECT entries FROM restatements WHERE window_uid = $1',
        [await uid()],
      );
      if (entries === null && seen.length > 0) return;
      if (entries === null) await ban();
      await node.revise();
      seen.push(`${entries === null ? 'read' : 'written'}: ${(await node.standingsOf(board(), DAY)).join()}`);
    });
    await node.restatements.ask(await uid(), { actor: 'test', reason: null });
    await restaterOf(node, looking).run(ALWAYS);
    const [first, ...others] = new Set(seen);
    expect(first).toMatch(/^read: ada 1516,bob [0-9.]+$/);
    expect(others).toEqual([`written: ${first!.slice('read: '.length)}`]);
    await node.revise();
    expect(await node.standingsOf(board(), DAY)).toEqual(['bob 1516']);
    await lift();
    await node.revise();
    expect(await node.standingsOf(board(), DAY)).toEqual(['bob 1516', 'cy 1484']);
  });

  it('is done once by two processes at the same time', async () => {
    await voidedAfterwards();
    await node.restatements.ask(await uid(), { actor: 'test', reason: 'first' });
    await other.restatements.ask(await uid(), { actor: 'test', reason: 'second' });
    await Promise.all([node, other, node, other].map(({ restater }) => restater.run(ALWAYS)));
    await node.restater.run(ALWAYS);
    await node.revise();
    expect((await acts()).map(({ details }) => details['reason'])).toEqual(['first']);
    expect(await node.editionsOf(await uid())).toMatchObject([{ number: 1 }, { number: 2 }]);
    expect(await node.standingsOf(board(), DAY)).toEqual(['bob 1516', 'cy 1484']);
  });

  it('keeps what another process read, where one wakes late that had begun before', async () => {
    await voidedAfterwards();
    await node.restatements.ask(await uid(), { actor: 'test', reason: null });
    const sleeping = watched(node.database, async () => {
      const begun = await query('SELECT FROM restatements WHERE window_uid = $1 AND attempt = 1', [await uid()]);
      if (begun.length > 0) await dieOnceRead(other);
    });
    await restaterOf(node, sleeping).run(ALWAYS);
    await other.restater.run(ALWAYS);
    await node.revise();
    expect(await node.standingsOf(board(), DAY)).toEqual(['bob 1516', 'cy 1484']);
  });

  it('keeps what another process read, where one gives up that found limits when it began', async () => {
    await voidedAfterwards();
    await node.restatements.ask(await uid(), { actor: 'test', reason: null });
    const { definition } = board();
    await node.registry.put(id, { ...definition, limits: { ...definition.limits, entriesMax: 10 } });
    const sleeping = watched(node.database, async (text) => {
      if (!text.includes('DELETE FROM restatements')) return;
      await node.registry.put(id, definition);
      await dieOnceRead(other);
    });
    await restaterOf(node, sleeping).run(ALWAYS);
    await other.restater.run(ALWAYS);
    await node.revise();
    expect(await node.standingsOf(board(), DAY)).toEqual(['bob 1516', 'cy 1484']);
  });

  it('is read by a process that has the algorithm of the pool, and written by any', async () => {
    node.ofTeams.push({ ...RATING_ALGORITHMS.find(({ name }) => name === 'elo')!, name: 'of-a-team' });
    try {
      await voidedAfterwards({ algorithm: 'of-a-team' });
      await node.restatements.ask(await uid(), { actor: 'test', reason: null });
      await other.restater.run(ALWAYS, other.algorithms.everywhere);
      // Somebody who reads meanwhile would have to begin anew.
      const attempts = await query('SELECT attempt FROM restatements WHERE window_uid = $1', [await uid()]);
      expect(attempts).toEqual([{ attempt: 0 }]);
      await dieOnceRead(node, ['of-a-team']);
      await other.restater.run(ALWAYS, other.algorithms.everywhere);
      await node.revise();
      expect(await node.standingsOf(board(), DAY)).toEqual(['bob 1516', 'cy 1484']);
    } finally {
      node.ofTeams.pop();
    }
  });

  it('ends with its board, or where a pool feeds that no more', async () => {
    await voidedAfterwards();
    await node.restatements.ask(await uid(), { actor: 'test', reason: null });
    await node.makePool(id, { boards: [] });
    await node.restater.run(ALWAYS, node.algorithms.everywhere);
    expect(await query('SELECT FROM restatements')).toEqual(
      await query('SELECT FROM restatements WHERE done_at IS NOT NULL'),
    );
    expect(await refusalOf(node.restatements.progress(await uid()))).toBe('BOARD_NOT_FED');
    expect(await node.editionsOf(await uid())).toHaveLength(1);
  });

  it('keeps the changes of ratings that it needs, and is refused where they are gone', async () => {
    const pool = await feeding({ history: { keepDays: 7 } });
    await play(pool, 'g1', { ada: 1, bob: 2 }, 2);
    await close();
    await voidGames(pool, 'g1');
    await clock.stopAt(MIDNIGHT_MS + 20 * DAY_MS);
    await node.restatements.ask(await uid(), { actor: 'test', reason: null });
    await node.pruneHistory(pool);
    await node.restater.run(ALWAYS);
    await node.revise();
    expect(await node.standingsOf(board(), DAY)).toEqual([]);
    await play(pool, 'g2', { ada: 1, bob: 2 }, 20 * 24 + 1);
    await node.pruneHistory(pool);
    expect(await refusalOf(node.restatements.ask(await uid(), { actor: 'test', reason: null }))).toBe(
      'RECOMPUTE_TOO_LARGE',
    );
  });

  it('is refused while a window runs, of boards with limits, and where standings are kept no longer', async () => {
    const pool = await feeding();
    await play(pool, 'g1', { ada: 1, bob: 2 }, 2);
    const ask = async (): Promise<string> =>
      refusalOf(node.restatements.ask(await uid(), { actor: 'test', reason: null }));
    expect(await ask()).toBe('WINDOW_NOT_SETTLED');
    await close();
    expect(await ask()).toBe('none');
    await node.restater.run(ALWAYS);
    const definition = board().definition;
    await node.registry.put(id, { ...definition, limits: { ...definition.limits, entriesMax: 10 } });
    expect(await ask()).toBe('NOT_SUPPORTED');
    await node.registry.put(id, definition);
    await query('DELETE FROM editions WHERE window_uid = $1', [await uid()]);
    expect(await ask()).toBe('SNAPSHOT_GONE');
  });

  const restaterOf = (of: RestateNode, database: PostgresDatabase): WindowRestater => {
    const entries = new RestatedEntries(database, of.lanes, new LaneQueue(database, of.lanes, of.notifier), of.scopes);
    return new WindowRestater(database, of.lanes, of.algorithms, entries);
  };

  /** All that differs is kept by a process that dies before it has written any of it. */
  const dieOnceRead = async (of: RestateNode, pools: PoolsOf | null = null): Promise<void> => {
    const dying = watched(of.database, async () => {
      const [asked] = await query<{ entries: number | null }>(
        'SELECT entries FROM restatements WHERE window_uid = $1',
        [await uid()],
      );
      if (asked!.entries !== null) throw new Error('killed');
    });
    await expect(restaterOf(of, dying).run(ALWAYS, pools)).rejects.toThrow();
  };
});
