// Real: PostgreSQL, and the ledger of a process with its pools; its clock, and when the log is delivered, are the test's.
import { withBoardDefaults } from '@laddercast/domain';
import { EntryTrimmer, LimitStartMarker } from '@laddercast/ledger';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { DAY_MS, DUE_MS, FedWindows, GRACE_SECONDS, HOUR_MS } from '../nodes/fed-windows.js';

const never = new AbortController().signal;

describe('windows of boards that a pool feeds', () => {
  let fed: FedWindows;
  beforeAll(async () => {
    fed = await FedWindows.start();
  });
  afterAll(() => fed.stop());
  beforeEach(() => fed.begin());

  it('stay open until games that were recorded in time are rated', async () => {
    await fed.feeding();
    await fed.play('g0', { ada: 1, bob: 2 });
    await fed.rate();
    await fed.deliver();
    await fed.at(DUE_MS - 1);
    await fed.play('g1', { cid: 1, dan: 2 }, DAY_MS - 1);
    await fed.at(DUE_MS);
    await fed.askAndClose();
    expect(await fed.windows()).toEqual([`${fed.day()} open ada bob`]);
    await fed.rate();
    await fed.askAndClose();
    expect(await fed.windows()).toEqual([`${fed.day()} open ada bob`]);
    await fed.deliver();
    await fed.askAndClose();
    expect(await fed.windows()).toEqual([`${fed.day()} settled ada bob cid dan`]);
    expect(await fed.node.standingsOf(fed.board(), fed.day())).toHaveLength(4);
  });

  it('are known to be late while they stay open', async () => {
    // Those of earlier tests.
    await fed.askAndClose();
    await fed.feeding();
    await fed.play('g0', { ada: 1, bob: 2 });
    await fed.rate();
    await fed.deliver();
    await fed.at(DUE_MS - 1);
    expect(await fed.closeLag()).toBe(0);
    // Nobody has asked for the last feed.
    await fed.at(DUE_MS + HOUR_MS);
    expect(await fed.closeLag()).toBe(3600);
    await fed.node.lastFeeds.run(never);
    await fed.at(DUE_MS + HOUR_MS + 60_000);
    expect(await fed.closeLag()).toBe(60);
    await fed.rate();
    await fed.deliver();
    await fed.askAndClose();
    expect(await fed.closeLag()).toBe(0);
  });

  it('stay open until what was rated in time is on the board', async () => {
    await fed.feeding();
    await fed.play('g0', { ada: 1, bob: 2 });
    await fed.rate();
    await fed.deliver();
    await fed.play('g1', { cid: 1, dan: 2 });
    await fed.rate();
    await fed.at(DUE_MS);
    await fed.askAndClose();
    await fed.rate();
    // What follows comes first, as if the batch in between had failed: only all up to the mark is enough.
    expect(await fed.windows()).toEqual([`${fed.day()} open ada bob`]);
    await fed.deliver();
    await fed.askAndClose();
    expect(await fed.windows()).toEqual([`${fed.day()} settled ada bob cid dan`]);
  });

  it('hold no game that was recorded when it was too late', async () => {
    await fed.feeding();
    await fed.play('g0', { ada: 1, bob: 2 });
    await fed.at(DUE_MS);
    await fed.play('g1', { cid: 1, dan: 2 }, DAY_MS - 1);
    await fed.play('g2', { ada: 2, bob: 1 }, DAY_MS - 1);
    await fed.rate();
    await fed.deliver();
    await fed.askAndClose();
    await fed.rate();
    await fed.deliver();
    await fed.askAndClose();
    expect(await fed.windows()).toEqual([`${fed.day()} settled ada bob`]);
    const [first] = await fed.node.standingsOf(fed.board(), fed.day());
    expect(first).toMatch(/^ada /);
  });

  it('wait for voids that came in time, too', async () => {
    await fed.feeding();
    await fed.play('g0', { ada: 1, bob: 2 });
    await fed.play('g1', { cid: 1, dan: 2 });
    await fed.rate();
    await fed.deliver();
    const selection = { gameIds: ['g0', 'g1'], playerId: null, fromMs: null, toMs: null };
    await fed.node.corrections.record(fed.pool.id, { selection, mode: 'recompute', reason: 'r' }, 'test');
    await fed.at(DUE_MS);
    await fed.askAndClose();
    // Nobody is rated any more when the last feed is fed.told.
    await fed.rate();
    await fed.askAndClose();
    expect(await fed.windows()).toEqual([`${fed.day()} open ada bob cid dan`]);
    await fed.deliver();
    await fed.askAndClose();
    expect(await fed.windows()).toEqual([`${fed.day()} settled`]);
  });

  it('close at once where nobody was ever rated, and where the pool is gone', async () => {
    await fed.feeding();
    await fed.node.windows.at(fed.board(), fed.midnightMs + HOUR_MS, fed.midnightMs + 12 * HOUR_MS);
    await fed.at(DUE_MS);
    await fed.askAndClose();
    await fed.rate();
    await fed.askAndClose();
    expect(await fed.windows()).toEqual([`${fed.day()} settled`]);
    await fed.at(DUE_MS + HOUR_MS);
    await fed.play('g0', { ada: 1, bob: 2 });
    await fed.rate();
    await fed.deliver();
    await fed.at(DUE_MS + DAY_MS);
    await fed.node.pools.delete(fed.pool.id, null, 'test');
    await fed.node.boards.refresh();
    await fed.askAndClose();
    expect(await fed.windows()).toEqual([`${fed.day()} settled`, expect.stringMatching(/ settled ada bob$/)]);
  });

  it('ring again when the last feed does not come, and take the first that does', async () => {
    await fed.feeding();
    await fed.play('g0', { ada: 1, bob: 2 });
    await fed.rate();
    await fed.deliver();
    await fed.at(DUE_MS);
    await fed.node.lastFeeds.run(never);
    await fed.node.lastFeeds.run(never);
    await fed.rate();
    // The log has lost it.
    fed.told = (await fed.events()).length;
    await fed.at(DUE_MS + 59_000);
    await fed.askAndClose();
    await fed.rate();
    expect((await fed.events()).length).toBe(fed.told);
    await fed.at(DUE_MS + 61_000);
    await fed.askAndClose();
    await fed.rate();
    expect((await fed.events()).length).toBe(fed.told + 1);
    await fed.deliver();
    await fed.askAndClose();
    expect(await fed.windows()).toEqual([`${fed.day()} settled ada bob`]);
  });

  it('wait again where their end was moved before they closed', async () => {
    await fed.feeding();
    await fed.play('g0', { ada: 1, bob: 2 });
    await fed.rate();
    await fed.deliver();
    await fed.at(DUE_MS);
    await fed.node.lastFeeds.run(never);
    await fed.rate();
    await fed.deliver();
    const { definition } = fed.board();
    await fed.node.registry.put(fed.id, { ...definition, graceSeconds: 2 * GRACE_SECONDS });
    await fed.node.boards.refresh();
    await fed.askAndClose();
    expect(await fed.windows()).toEqual([`${fed.day()} open ada bob`]);
    await fed.play('g1', { cid: 1, dan: 2 }, DAY_MS - 1);
    await fed.at(DUE_MS + 1000 * GRACE_SECONDS);
    await fed.node.closeFed();
    await fed.askAndClose();
    expect(await fed.windows()).toEqual([`${fed.day()} open ada bob`]);
    await fed.rate();
    await fed.deliver();
    await fed.node.fill();
    await fed.askAndClose();
    expect(await fed.windows()).toEqual([`${fed.day()} settled ada bob cid dan`]);
  });

  describe('whose grace is raised while they are open', () => {
    const raise = async (): Promise<void> => {
      await fed.node.registry.put(fed.id, { ...fed.board().definition, graceSeconds: 2 * GRACE_SECONDS });
      await fed.node.boards.refresh();
    };
    const standingOfAda = async (): Promise<string> => `ada ${await fed.node.ratingOf(fed.pool, 'ada')}`;

    it.each([
      { when: 'after their last feed was asked for', asks: true },
      { when: 'before that', asks: false },
    ])('hold at once what had come too late, $when', async ({ asks }) => {
      await fed.feeding();
      await fed.play('g0', { ada: 1, bob: 2 });
      await fed.rate();
      await fed.deliver();
      await fed.at(DUE_MS);
      if (asks) await fed.node.lastFeeds.run(never);
      await fed.at(DUE_MS + 60_000);
      await fed.play('g1', { ada: 1, cid: 2 }, DAY_MS - 1);
      await fed.rate();
      await fed.deliver();
      expect(await fed.windows()).toEqual([`${fed.day()} open ada bob`]);
      await raise();
      await fed.rate();
      await fed.node.fill();
      expect(await fed.windows()).toEqual([`${fed.day()} open ada bob cid`]);
      await fed.at(DUE_MS + 1000 * GRACE_SECONDS);
      await fed.askAndClose();
      await fed.rate();
      await fed.deliver();
      await fed.askAndClose();
      expect(await fed.windows()).toEqual([`${fed.day()} settled ada bob cid`]);
      expect(await fed.node.standingsOf(fed.board(), fed.day())).toContain(await standingOfAda());
    });

    it('are made by what had come too late, where nothing had been in time', async () => {
      await fed.feeding();
      await fed.at(DUE_MS + 60_000);
      await fed.play('g1', { ada: 1, cid: 2 }, DAY_MS - 1);
      await fed.rate();
      await fed.deliver();
      expect(await fed.windows()).toEqual([]);
      await raise();
      await fed.rate();
      await fed.node.fill();
      expect(await fed.windows()).toEqual([`${fed.day()} open ada cid`]);
      await fed.at(DUE_MS + 1000 * GRACE_SECONDS);
      await fed.askAndClose();
      await fed.rate();
      await fed.deliver();
      await fed.askAndClose();
      expect(await fed.windows()).toEqual([`${fed.day()} settled ada cid`]);
    });

    it('hold no more than they may, also where the board is filled', async () => {
      const { limits } = withBoardDefaults({ order: 'desc', operator: 'latest', limits: { entriesMax: 2 } } as never);
      const trimmer = new EntryTrimmer(fed.node.database, fed.node.lanes, fed.node.notifier, {
        OUTBOX_EVENTS_MAX: 1_000_000,
      });
      const trim = async (): Promise<string[]> => {
        await new LimitStartMarker(fed.node.database, fed.node.lanes).run(never);
        await trimmer.run(never);
        return fed.windows();
      };
      await fed.feeding({}, { limits });
      await fed.play('g0', { ada: 1, bob: 2 });
      await fed.play('g1', { cid: 1, dan: 2 });
      await fed.rate();
      await fed.deliver();
      await trim();
      await fed.at(DUE_MS - 1);
      expect(await fed.windows()).toEqual([`${fed.day()} open ada cid`]);
      await raise();
      await fed.rate();
      await fed.node.fill();
      expect(await fed.windows()).toEqual([`${fed.day()} open ada bob cid dan`]);
      expect(await trim()).toEqual([`${fed.day()} open ada cid`]);
    });

    it('close only when they are filled', async () => {
      await fed.feeding();
      await fed.play('g0', { ada: 1, bob: 2 });
      await fed.rate();
      await fed.deliver();
      await fed.at(DUE_MS + 60_000);
      await fed.play('g1', { ada: 1, cid: 2 }, DAY_MS - 1);
      await raise();
      await fed.at(DUE_MS + 1000 * GRACE_SECONDS);
      await fed.askAndClose();
      await fed.rate();
      await fed.deliver();
      await fed.askAndClose();
      expect(await fed.windows()).toEqual([expect.stringMatching(/ open /)]);
      await fed.node.fill();
      await fed.askAndClose();
      expect(await fed.windows()).toEqual([`${fed.day()} settled ada bob cid`]);
    });
  });

  it('are read a part at a time where many of them wait', async () => {
    const PLAYERS = 200;
    const DAYS = 30;
    await fed.feeding();
    const places = Array.from({ length: PLAYERS / 2 }, (_, at) => ({ [`w${at}`]: 1, [`l${at}`]: 2 }));
    for (const [index, one] of places.entries()) await fed.play(`g${index}`, one);
    for (let days = 0; days < DAYS; days += 1) {
      const dayMs = fed.midnightMs + days * DAY_MS + HOUR_MS;
      await fed.node.windows.at(fed.board(), dayMs, dayMs);
    }
    await fed.at(DAYS * DAY_MS);
    await fed.node.rater.rate(fed.pool.uid);
    await fed.rate();
    const asked = vi.spyOn(fed.node.database, 'query');
    const players = places.flatMap((one) => Object.keys(one));
    await fed.node.feeder.feed(
      fed.pool.uid,
      players.map((playerId) => ({ playerId, playedAtMs: [], isEverywhere: true })),
    );
    const reads = asked.mock.calls.filter(([sql]) => sql.includes('AS stretches'));
    asked.mockRestore();
    expect(reads).toHaveLength(2);
    expect(await fed.windows()).toContain(`${fed.day()} open ${players.sort().join(' ')}`);
  });

  it('keep who is not rankable any more when they are written, and was when they were due', async () => {
    await fed.feeding({ rankable: { inactiveDaysMax: 1 } });
    await fed.play('g0', { ada: 1, bob: 2 });
    await fed.at(4 * DAY_MS);
    await fed.rate();
    await fed.deliver();
    await fed.askAndClose();
    await fed.rate();
    await fed.deliver();
    await fed.askAndClose();
    expect(await fed.windows()).toEqual([`${fed.day()} settled ada bob`]);
  });
});
