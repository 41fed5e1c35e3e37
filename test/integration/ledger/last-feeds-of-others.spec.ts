// Real: PostgreSQL, and the ledger of a process with its pools; its clock, and when the log is delivered, are the test's.
import { fillFedBoards } from '@laddercast/ledger';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { DAY_MS, DUE_MS, FedWindows, GRACE_SECONDS, HOUR_MS } from '../nodes/fed-windows.js';
import { RestateNode } from '../nodes/restate-node.js';

const MONTHS = { every: 'monthly', timeZone: 'UTC', graceSeconds: 3600 };

describe('windows of boards that a pool feeds, beside periods, fillings and other windows', () => {
  let fed: FedWindows;
  beforeAll(async () => {
    fed = await FedWindows.start();
  });
  afterAll(() => fed.stop());
  beforeEach(() => fed.begin());

  /** When the month of a test ends, from its midnight on. */
  const monthEndMs = (): number => {
    const month = new Date(fed.midnightMs);
    return Date.UTC(month.getUTCFullYear(), month.getUTCMonth() + 1) - fed.midnightMs;
  };

  it('are made where all their games are rated after they would have closed, and only then', async () => {
    await fed.feeding();
    await fed.play('g0', { ada: 1, bob: 2 });
    await fed.at(5 * DAY_MS);
    // Of two days before, recorded now: nobody was in time.
    await fed.play('late', { cid: 1, dan: 2 }, 3 * DAY_MS);
    await fed.rate();
    await fed.deliver();
    expect(await fed.windows()).toEqual([`${fed.day()} open ada bob`]);
    await fed.askAndClose();
    await fed.rate();
    await fed.deliver();
    await fed.askAndClose();
    expect(await fed.windows()).toEqual([`${fed.day()} settled ada bob`]);
  });

  it('are not made of days before the board', async () => {
    await fed.feeding();
    await fed.play('g0', { ada: 1, bob: 2 });
    await fed.at(5 * DAY_MS);
    const first = fed.id;
    fed.id = `${fed.id}-later`;
    await fed.node.makeBoard(fed.id, { windows: ['daily'], graceSeconds: GRACE_SECONDS });
    await fed.node.makePool(fed.pool.id, { boards: [first, fed.id].map((board) => ({ board, value: 'rating' })) });
    await fed.node.boards.refresh();
    await fed.rate();
    await fed.deliver();
    expect(await fed.windows()).toEqual([]);
    fed.id = first;
    expect(await fed.windows()).toEqual([`${fed.day()} open ada bob`]);
  });

  it('are not made by the filling of a board that is made in their grace', async () => {
    await fed.feeding();
    await fed.play('g0', { ada: 1, bob: 2 });
    await fed.rate();
    await fed.deliver();
    await fed.at(DAY_MS + 60_000);
    const first = fed.id;
    fed.id = `${fed.id}-later`;
    await fed.node.makeBoard(fed.id, { windows: ['daily'], graceSeconds: GRACE_SECONDS });
    await fed.node.makePool(fed.pool.id, { boards: [first, fed.id].map((board) => ({ board, value: 'rating' })) });
    await fed.node.boards.refresh();
    await fed.node.fill();
    expect(await fed.windows()).toEqual([]);
  });

  it('wait while their board is being filled, and hold up no other board', async () => {
    await fed.feeding();
    await fed.play('g0', { ada: 1, bob: 2 });
    const other = await fed.node.makeBoard(`${fed.id}-other`, { windows: ['daily'], graceSeconds: 0 });
    await fed.node.windows.at(other, fed.midnightMs + HOUR_MS, fed.midnightMs + 12 * HOUR_MS);
    await fed.rate();
    await fed.deliver();
    await fed.node.database.query(
      `INSERT INTO board_fills (board_uid, pool_uid, round) VALUES ($1, $2, nextval('ladder_position'))`,
      [fed.board().uid, fed.pool.uid],
    );
    await fed.at(DUE_MS);
    await fed.askAndClose();
    await fed.rate();
    await fed.deliver();
    await fed.askAndClose();
    expect(await fed.windows()).toEqual([`${fed.day()} open ada bob`]);
    const [{ state }] = (await fed.node.database.query<{ state: string }>(
      'SELECT state FROM windows WHERE board_uid = $1 AND ends_at IS NOT NULL',
      [other.uid],
    )) as [{ state: string }];
    expect(state).toBe('settled');
    await fed.node.fill();
    await fed.askAndClose();
    expect(await fed.windows()).toEqual([`${fed.day()} settled ada bob`]);
  });

  it('hold what was told in a log that lost it, and wait until it is noticed and brought back', async () => {
    await fed.feeding();
    await fed.play('g0', { ada: 1, bob: 2 });
    await fed.rate();
    await fed.deliver();
    await fed.play('g1', { cid: 1, dan: 2 });
    await fed.rate();
    fed.told = (await fed.events()).length;
    await fed.at(DUE_MS);
    await fed.askAndClose();
    await fed.rate();
    await fed.node.database.query(`INSERT INTO installation (name, value) VALUES ('log-lost', 'of this test')`);
    await fed.deliver();
    await fed.askAndClose();
    expect(await fed.windows()).toEqual([`${fed.day()} open ada bob`]);
    await fillFedBoards(fed.node.database, null);
    await fed.node.database.query(`DELETE FROM installation WHERE name = 'log-lost'`);
    await fed.askAndClose();
    expect(await fed.windows()).toEqual([`${fed.day()} open ada bob`]);
    await fed.node.fill();
    await fed.askAndClose();
    expect(await fed.windows()).toEqual([`${fed.day()} settled ada bob cid dan`]);
  });

  it('stay open until the period is closed in which they end, and hold all of its games', async () => {
    await fed.feeding({ algorithm: 'fide', periods: MONTHS }, { windows: ['monthly'] });
    await fed.play('g0', { ada: 1, bob: 2 });
    const endMs = monthEndMs();
    await fed.at(endMs + 1000 * GRACE_SECONDS - 1);
    await fed.rate();
    await fed.play('g1', { cid: 1, dan: 2 }, endMs - 1);
    await fed.at(endMs + 1000 * GRACE_SECONDS);
    // Too late for a run, but not for the period, of which a rating is one number.
    await fed.play('late', { ada: 1, eve: 2 }, endMs - 1);
    await fed.rate();
    await fed.node.windows.at(fed.board(), fed.midnightMs, fed.midnightMs);
    await fed.askAndClose();
    const month = `monthly:${new Date(fed.midnightMs).toISOString().slice(0, 7)}`;
    expect(await fed.windows()).toEqual([`${month} open`]);
    await fed.at(endMs + HOUR_MS);
    await fed.askAndClose();
    await fed.node.closePeriods();
    await fed.rate();
    await fed.deliver();
    await fed.at(endMs + HOUR_MS + 1000);
    await fed.askAndClose();
    expect(await fed.windows()).toEqual([`${month} open ada bob cid dan eve`]);
    await fed.rate();
    await fed.deliver();
    await fed.askAndClose();
    expect(await fed.windows()).toEqual([`${month} settled ada bob cid dan eve`]);
    expect(await fed.node.standingsOf(fed.board(), month)).toContain(`ada ${await fed.node.ratingOf(fed.pool, 'ada')}`);
  });

  it('are late from when the period was to close, and from when they were asked for after that', async () => {
    // Those of earlier tests.
    await fed.askAndClose();
    await fed.feeding({ algorithm: 'fide', periods: MONTHS }, { windows: ['monthly'] });
    await fed.play('g0', { ada: 1, bob: 2 });
    await fed.node.windows.at(fed.board(), fed.midnightMs, fed.midnightMs + 12 * HOUR_MS);
    const endMs = monthEndMs();
    await fed.at(endMs + 1000 * GRACE_SECONDS);
    await fed.rate();
    await fed.askAndClose();
    await fed.at(endMs + HOUR_MS);
    expect(await fed.closeLag()).toBe(0);
    await fed.at(endMs + 3 * HOUR_MS);
    await fed.askAndClose();
    expect(await fed.closeLag()).toBe(7200);
    await fed.node.closePeriods();
    await fed.rate();
    await fed.at(endMs + 4 * HOUR_MS);
    await fed.askAndClose();
    await fed.at(endMs + 4 * HOUR_MS + 60_000);
    expect(await fed.closeLag()).toBe(60);
  });

  it('wait for no period that closes when nobody could read them any more', async () => {
    await fed.feeding({ algorithm: 'fide', periods: MONTHS }, { keepEndedSeconds: 90_000 });
    await fed.play('g0', { ada: 1, bob: 2 });
    await fed.node.windows.at(fed.board(), fed.midnightMs + HOUR_MS, fed.midnightMs + 12 * HOUR_MS);
    await fed.at(DUE_MS);
    await fed.askAndClose();
    await fed.rate();
    await fed.deliver();
    await fed.askAndClose();
    expect(await fed.windows()).toEqual([`${fed.day()} settled`]);
  });

  it('close though a process without the algorithm leaves the board to be filled again and again', async () => {
    await fed.feeding();
    await fed.play('g0', { ada: 1, bob: 2 });
    await fed.rate();
    await fed.deliver();
    await fed.at(DUE_MS);
    const again = (): Promise<unknown> =>
      fed.node.database.query(
        `INSERT INTO board_fills (board_uid, pool_uid, round) VALUES ($1, $2, nextval('ladder_position'))
         ON CONFLICT (board_uid) DO UPDATE SET again = true`,
        [fed.board().uid, fed.pool.uid],
      );
    await again();
    await again();
    await fed.askAndClose();
    await fed.rate();
    await fed.deliver();
    await fed.node.fill();
    await again();
    await fed.askAndClose();
    // That round had begun before the last feed was left to it.
    expect(await fed.windows()).toEqual([`${fed.day()} open ada bob`]);
    await fed.node.fill();
    await again();
    await fed.askAndClose();
    expect(await fed.windows()).toEqual([`${fed.day()} settled ada bob`]);
  });

  it('are not taken for the rest of a window that was closed by hand', async () => {
    await fed.feeding();
    await fed.node.windows.at(fed.board(), fed.midnightMs, fed.midnightMs + 12 * HOUR_MS);
    await fed.node.closeNow(await fed.node.windowUid(fed.board(), fed.day()));
    await fed.at(13 * HOUR_MS);
    await fed.play('g0', { ada: 1, bob: 2 });
    await fed.at(DAY_MS + 10 * HOUR_MS);
    await fed.play('g1', { ada: 1, bob: 2 });
    const nextMs = fed.midnightMs + DAY_MS + 10 * HOUR_MS;
    await fed.node.windows.at(fed.board(), nextMs, nextMs);
    await fed.at(DAY_MS + DUE_MS);
    await fed.rate();
    // As two turns would have fed.told it.
    const all = (await fed.events()).flatMap((one) => one.playedAtMs!.map((ms) => ({ ...one, playedAtMs: [ms] })));
    for (const one of all.sort((a, b) => a.playedAtMs[0]! - b.playedAtMs[0]!)) await fed.node.deliver([one]);
    fed.told = (await fed.events()).length;
    await fed.askAndClose();
    await fed.rate();
    await fed.deliver();
    await fed.askAndClose();
    expect((await fed.windows()).at(-1)).toMatch(/ settled ada bob$/);
  });

  it('follow a void in a process that did not make them', async () => {
    await fed.feeding();
    await fed.play('g0', { ada: 1, bob: 2 });
    await fed.play('g1', { cid: 1, dan: 2 });
    const other = new RestateNode(fed.url);
    await other.start();
    try {
      await other.boards.refresh();
      await fed.at(5 * DAY_MS);
      const seen = other.boards.byId(fed.id)!;
      await other.windows.at(seen, fed.midnightMs + 12 * HOUR_MS, fed.midnightMs + 5 * DAY_MS);
      await fed.rate();
      await fed.deliver();
      const selection = { gameIds: ['g0'], playerId: null, fromMs: null, toMs: null };
      await fed.node.corrections.record(fed.pool.id, { selection, mode: 'recompute', reason: 'r' }, 'test');
      await fed.rate();
      const all = await fed.events();
      await other.deliver(all.slice(fed.told));
      fed.told = all.length;
      expect(await fed.windows()).toEqual([`${fed.day()} open cid dan`]);
    } finally {
      await other.stop();
    }
  });
});
