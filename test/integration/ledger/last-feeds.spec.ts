// Real: PostgreSQL, and the ledger of a process with its pools; its clock, and when the log is delivered, are the test's.
import type { Board, BoardDefinition, RatingChanged } from '@laddercast/domain';
import type { Pool } from '@laddercast/ledger';
import { createTestDatabase, DatabaseClock, type TestDatabase } from '@laddercast/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { gameOf } from '../nodes/pool-node.js';
import { RestateNode } from '../nodes/restate-node.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const GRACE_SECONDS = 300;
const never = new AbortController().signal;

describe('windows of boards that a pool feeds', () => {
  let testDatabase: TestDatabase;
  let node: RestateNode;
  let clock: DatabaseClock;
  let id = '';
  /** When the day begins on which the games of a test are played. */
  let midnightMs = Date.parse('2026-11-20T00:00:00Z');
  let pool: Pool;
  let told = 0;

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    node = new RestateNode(testDatabase.url);
    await node.start();
    clock = await DatabaseClock.of(testDatabase.url);
  });
  afterAll(async () => {
    await clock.close();
    await node.stop();
    await testDatabase.drop();
  });
  beforeEach(async () => {
    midnightMs += 30 * DAY_MS;
    id = `b${midnightMs}`;
    await at(12 * HOUR_MS);
  });

  // Its windows would be asked for again and again.
  afterEach(async () => {
    const left = await node.database.query<{ id: string }>('SELECT pool_id AS id FROM pools WHERE pool_id IS NOT NULL');
    for (const one of left) await node.pools.delete(one.id, null, 'test');
    await node.boards.refresh();
  });

  const at = (ms: number): Promise<void> => clock.stopAt(midnightMs + ms);
  const DUE_MS = DAY_MS + 1000 * GRACE_SECONDS;
  const feeding = async (definition: object = {}, options: Partial<BoardDefinition> = {}): Promise<void> => {
    await node.makeBoard(id, { windows: ['daily'], graceSeconds: GRACE_SECONDS, ...options });
    pool = await node.makePool(`p-${id}`, { board: id, ...definition });
    await node.boards.refresh();
    await node.fill();
    told = 0;
  };
  const board = (): Board => node.boards.byId(id)!;
  const play = async (gameId: string, places: Record<string, number>, playedMs?: number): Promise<void> => {
    const playedAtMs = playedMs === undefined ? null : midnightMs + playedMs;
    await node.games.record(gameOf(pool.id, gameId, places, { playedAtMs }));
  };
  const events = (): Promise<RatingChanged[]> => node.ratingEvents(pool.uid);
  const rate = (): Promise<unknown> => node.rater.rate(pool.uid);
  /** Delivers what the log has of the pool and was not delivered yet. */
  const deliver = async (): Promise<void> => {
    const all = await events();
    await node.deliver(all.slice(told));
    told = all.length;
  };
  const askAndClose = async (): Promise<void> => {
    await node.lastFeeds.run(never);
    await node.closeFed();
  };
  /** Each window of the day with its state and its entries, as `id state player …`. */
  const windows = async (): Promise<string[]> => {
    const rows = await node.database.query<{ line: string }>(
      `SELECT concat_ws(' ', w.window_id, w.state, (SELECT string_agg(player_id, ' ' ORDER BY player_id) FROM entries e
         WHERE e.window_uid = w.window_uid AND NOT removed)) AS line
       FROM windows w WHERE board_uid = $1 AND ends_at <= ladder_now() ORDER BY ends_at`,
      [board().uid],
    );
    return rows.map(({ line }) => line);
  };
  const day = (): string => `daily:${new Date(midnightMs).toISOString().slice(0, 10)}`;

  it('stay open until games that were recorded in time are rated', async () => {
    await feeding();
    await play('g0', { ada: 1, bob: 2 });
    await rate();
    await deliver();
    await at(DUE_MS - 1);
    await play('g1', { cid: 1, dan: 2 }, DAY_MS - 1);
    await at(DUE_MS);
    await askAndClose();
    expect(await windows()).toEqual([`${day()} open ada bob`]);
    await rate();
    await askAndClose();
    expect(await windows()).toEqual([`${day()} open ada bob`]);
    await deliver();
    await askAndClose();
    expect(await windows()).toEqual([`${day()} settled ada bob cid dan`]);
    expect(await node.standingsOf(board(), day())).toHaveLength(4);
  });

  it('stay open until what was rated in time is on the board', async () => {
    await feeding();
    await play('g0', { ada: 1, bob: 2 });
    await rate();
    await deliver();
    await play('g1', { cid: 1, dan: 2 });
    await rate();
    await at(DUE_MS);
    await askAndClose();
    await rate();
    // What follows comes first, as if the batch in between had failed: only all up to the mark is enough.
    expect(await windows()).toEqual([`${day()} open ada bob`]);
    await deliver();
    await askAndClose();
    expect(await windows()).toEqual([`${day()} settled ada bob cid dan`]);
  });

  it('hold no game that was recorded when it was too late', async () => {
    await feeding();
    await play('g0', { ada: 1, bob: 2 });
    await at(DUE_MS);
    await play('g1', { cid: 1, dan: 2 }, DAY_MS - 1);
    await play('g2', { ada: 2, bob: 1 }, DAY_MS - 1);
    await rate();
    await deliver();
    await askAndClose();
    await rate();
    await deliver();
    await askAndClose();
    expect(await windows()).toEqual([`${day()} settled ada bob`]);
    const [first] = await node.standingsOf(board(), day());
    expect(first).toMatch(/^ada /);
  });

  it('are made where all their games are rated after they would have closed, and only then', async () => {
    await feeding();
    await play('g0', { ada: 1, bob: 2 });
    await at(5 * DAY_MS);
    // Of two days before, recorded now: nobody was in time.
    await play('late', { cid: 1, dan: 2 }, 3 * DAY_MS);
    await rate();
    await deliver();
    expect(await windows()).toEqual([`${day()} open ada bob`]);
    await askAndClose();
    await rate();
    await deliver();
    await askAndClose();
    expect(await windows()).toEqual([`${day()} settled ada bob`]);
  });

  it('are not made of days before the board', async () => {
    await feeding();
    await play('g0', { ada: 1, bob: 2 });
    await at(5 * DAY_MS);
    const first = id;
    id = `${id}-later`;
    await node.makeBoard(id, { windows: ['daily'], graceSeconds: GRACE_SECONDS });
    await node.makePool(pool.id, { boards: [first, id].map((board) => ({ board, value: 'rating' })) });
    await node.boards.refresh();
    await rate();
    await deliver();
    expect(await windows()).toEqual([]);
    id = first;
    expect(await windows()).toEqual([`${day()} open ada bob`]);
  });

  it('wait for voids that came in time, too', async () => {
    await feeding();
    await play('g0', { ada: 1, bob: 2 });
    await play('g1', { cid: 1, dan: 2 });
    await rate();
    await deliver();
    const selection = { gameIds: ['g0', 'g1'], playerId: null, fromMs: null, toMs: null };
    await node.corrections.record(pool.id, { selection, mode: 'recompute', reason: 'r' }, 'test');
    await at(DUE_MS);
    await askAndClose();
    // Nobody is rated any more when the last feed is told.
    await rate();
    await askAndClose();
    expect(await windows()).toEqual([`${day()} open ada bob cid dan`]);
    await deliver();
    await askAndClose();
    expect(await windows()).toEqual([`${day()} settled`]);
  });

  it('close at once where nobody was ever rated, and where the pool is gone', async () => {
    await feeding();
    await node.windows.at(board(), midnightMs + HOUR_MS, midnightMs + 12 * HOUR_MS);
    await at(DUE_MS);
    await askAndClose();
    await rate();
    await askAndClose();
    expect(await windows()).toEqual([`${day()} settled`]);
    await at(DUE_MS + HOUR_MS);
    await play('g0', { ada: 1, bob: 2 });
    await rate();
    await deliver();
    await at(DUE_MS + DAY_MS);
    await node.pools.delete(pool.id, null, 'test');
    await node.boards.refresh();
    await askAndClose();
    expect(await windows()).toEqual([`${day()} settled`, expect.stringMatching(/ settled ada bob$/)]);
  });

  it('ring again when the last feed does not come, and take the first that does', async () => {
    await feeding();
    await play('g0', { ada: 1, bob: 2 });
    await rate();
    await deliver();
    await at(DUE_MS);
    await node.lastFeeds.run(never);
    await node.lastFeeds.run(never);
    await rate();
    // The log has lost it.
    told = (await events()).length;
    await at(DUE_MS + 59_000);
    await askAndClose();
    await rate();
    expect((await events()).length).toBe(told);
    await at(DUE_MS + 61_000);
    await askAndClose();
    await rate();
    expect((await events()).length).toBe(told + 1);
    await deliver();
    await askAndClose();
    expect(await windows()).toEqual([`${day()} settled ada bob`]);
  });

  it('wait again where their end was moved before they closed', async () => {
    await feeding();
    await play('g0', { ada: 1, bob: 2 });
    await rate();
    await deliver();
    await at(DUE_MS);
    await node.lastFeeds.run(never);
    await rate();
    await deliver();
    const { definition } = board();
    await node.registry.put(id, { ...definition, graceSeconds: 2 * GRACE_SECONDS });
    await node.boards.refresh();
    await askAndClose();
    expect(await windows()).toEqual([`${day()} open ada bob`]);
    await play('g1', { cid: 1, dan: 2 }, DAY_MS - 1);
    await at(DUE_MS + 1000 * GRACE_SECONDS);
    await node.closeFed();
    await askAndClose();
    expect(await windows()).toEqual([`${day()} open ada bob`]);
    await rate();
    await deliver();
    await askAndClose();
    expect(await windows()).toEqual([`${day()} settled ada bob cid dan`]);
  });

  it('wait while their board is being filled, and hold up no other board', async () => {
    await feeding();
    await play('g0', { ada: 1, bob: 2 });
    const other = await node.makeBoard(`${id}-other`, { windows: ['daily'], graceSeconds: 0 });
    await node.windows.at(other, midnightMs + HOUR_MS, midnightMs + 12 * HOUR_MS);
    await rate();
    await deliver();
    await node.database.query(
      `INSERT INTO board_fills (board_uid, pool_uid, round) VALUES ($1, $2, nextval('ladder_position'))`,
      [board().uid, pool.uid],
    );
    await at(DUE_MS);
    await askAndClose();
    await rate();
    await deliver();
    await askAndClose();
    expect(await windows()).toEqual([`${day()} open ada bob`]);
    const [{ state }] = (await node.database.query<{ state: string }>(
      'SELECT state FROM windows WHERE board_uid = $1 AND ends_at IS NOT NULL',
      [other.uid],
    )) as [{ state: string }];
    expect(state).toBe('settled');
    await node.fill();
    await askAndClose();
    expect(await windows()).toEqual([`${day()} settled ada bob`]);
  });

  it('stay open until the period is closed in which they end, where the pool rates by periods', async () => {
    await feeding(
      { algorithm: 'fide', periods: { every: 'monthly', timeZone: 'UTC', graceSeconds: 3600 } },
      { windows: ['monthly'] },
    );
    await play('g0', { ada: 1, bob: 2 });
    const month = new Date(midnightMs);
    const monthEndMs = Date.UTC(month.getUTCFullYear(), month.getUTCMonth() + 1) - midnightMs;
    await at(monthEndMs + 1000 * GRACE_SECONDS - 1);
    await rate();
    await play('g1', { cid: 1, dan: 2 }, monthEndMs - 1);
    await at(monthEndMs + 1000 * GRACE_SECONDS);
    await play('late', { eve: 1, fay: 2 }, monthEndMs - 1);
    await rate();
    await node.windows.at(board(), midnightMs, midnightMs);
    await askAndClose();
    const id = `monthly:${month.toISOString().slice(0, 7)}`;
    expect(await windows()).toEqual([`${id} open`]);
    await at(monthEndMs + HOUR_MS);
    await askAndClose();
    await node.closePeriods();
    await rate();
    await deliver();
    await at(monthEndMs + HOUR_MS + 1000);
    await askAndClose();
    expect(await windows()).toEqual([`${id} open ada bob cid dan`]);
    await rate();
    await deliver();
    await askAndClose();
    expect(await windows()).toEqual([`${id} settled ada bob cid dan`]);
  });

  it('keep who is not rankable any more when they are written, and was when they were due', async () => {
    await feeding({ rankable: { inactiveDaysMax: 1 } });
    await play('g0', { ada: 1, bob: 2 });
    await at(4 * DAY_MS);
    await rate();
    await deliver();
    await askAndClose();
    await rate();
    await deliver();
    await askAndClose();
    expect(await windows()).toEqual([`${day()} settled ada bob`]);
  });
});
