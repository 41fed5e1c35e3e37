// Real: PostgreSQL and the ledger of two processes. Events are delivered by hand, so that they can be late, or come twice.
import { RATING_ALGORITHMS, withBoardDefaults, type BoardDefinition } from '@laddercast/domain';
import { createTestDatabase, DatabaseClock, Dice, seedOfRun, type TestDatabase } from '@laddercast/testing';
import { EntryExpirer, type Pool, type PoolsOf } from '@laddercast/ledger';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { FeedNode } from '../nodes/feed-node.js';
import { submissionOf } from '../nodes/ledger-node.js';
import { gameOf } from '../nodes/pool-node.js';

describe('boards that a rating pool feeds', () => {
  let testDatabase: TestDatabase;
  let node: FeedNode;
  let other: FeedNode;
  let made = 0;
  let board = '';

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    node = new FeedNode(testDatabase.url);
    await node.start();
    other = new FeedNode(testDatabase.url);
    await other.start();
  });
  beforeEach(() => {
    board = `b${(made += 1)}`;
  });
  afterAll(async () => {
    await other.stop();
    await node.stop();
    await testDatabase.drop();
  });

  const poolOf = async (definition: object = {}, ofBoard: Partial<BoardDefinition> = {}): Promise<Pool> => {
    await node.makeBoard(board, ofBoard);
    const pool = await node.makePool(`p${made}`, { board, ...definition });
    await node.boards.refresh();
    return pool;
  };
  const play = (pool: Pool, gameId: string, places: Record<string, number>, more: object = {}): Promise<unknown> =>
    node.games.record(gameOf(pool.id, gameId, places, more));

  it('have an entry for each rated player', async () => {
    const pool = await poolOf();
    await play(pool, 'g1', { ada: 1, bob: 2 });
    await node.settle(pool.uid);
    expect(await node.linesOf(board)).toEqual(['alltime ada 1516', 'alltime bob 1484']);
  });

  it('are fed also while the outbox is full: nothing of it is trimmed before', async () => {
    const pool = await poolOf();
    await play(pool, 'g1', { ada: 1, bob: 2 });
    await node.rater.rate(pool.uid);
    const full = new FeedNode(testDatabase.url, 0);
    await full.start();
    try {
      await full.ledger.start(false);
      const plain = await node.makeBoard(`${board}-plain`);
      const submit = async (): Promise<unknown> => full.ledger.write(submissionOf(plain, 'ada', 1));
      await expect.poll(() => submit().catch(({ code }: { code: string }) => code)).toBe('OUTBOX_FULL');
      await full.deliver(await node.ratingEvents(pool.uid));
      expect(await node.linesOf(board)).toEqual(['alltime ada 1516', 'alltime bob 1484']);
    } finally {
      await full.stop();
    }
  });

  it('follow a rating down, too, and a game that was played before the one that counted last', async () => {
    const pool = await poolOf();
    await play(pool, 'g1', { ada: 1, bob: 2 });
    await node.settle(pool.uid);
    await play(pool, 'g2', { cy: 1, ada: 2 }, { playedAtMs: Date.parse('2020-01-01T00:00:00Z') });
    await node.settle(pool.uid);
    const ratings = await Promise.all(['ada', 'bob', 'cy'].map((player) => node.ratingOf(pool, player)));
    expect(await node.linesOf(board)).toEqual(
      ['ada', 'bob', 'cy'].map((player, index) => `alltime ${player} ${ratings[index]}`),
    );
    expect(ratings[0]).toBeLessThan(1516);
  });

  it('get all players of a batch, however few writes may wait in a lane', async () => {
    const small = new FeedNode(testDatabase.url);
    Object.assign(Reflect.get(small.writers, 'settings') as object, { LANE_QUEUE_MAX: 512 });
    try {
      await small.start();
      await small.makeBoard(board);
      await small.makeBoard(`${board}-2`);
      const boards = [board, `${board}-2`].map((id) => ({ board: id, value: 'rating' }));
      const pool = await small.makePool(`p${made}`, { boards });
      const ids = Array.from({ length: 1000 }, (_, at) => `many-${at}`);
      const players = ids.map((playerId) => ({ playerId, playedAtMs: [], isEverywhere: true }));
      await small.feeder.feed(pool.uid, players);
      const [fed] = await small.database.query(
        `SELECT count(*)::int AS players FROM entry_feeds WHERE player_id LIKE 'many-%'`,
      );
      expect(fed).toEqual({ players: 2000 });
    } finally {
      await small.stop();
    }
  });

  it('keep the newer of two readings, whichever is written last', async () => {
    const pool = await poolOf();
    await play(pool, 'g1', { ada: 1, bob: 2 });
    await node.settle(pool.uid);
    const { uid, revision } = node.boards.byId(board)!;
    const [window] = await node.windows.open(node.boards.byId(board)!);
    const newest = (await node.pools.get(pool.id)).ratedPosition;
    const write = (feedPosition: number, score: number | null, playerId: string): Promise<{ windows: string[] }> =>
      node.ledger.write({
        ...{ kind: 'feed', board: node.boards.byId(board)!, playerId, feedPosition },
        entries: [{ window: window!, entry: score === null ? null : { score, columns: [], achievedAtMs: 1 } }],
      });
    expect({ uid, revision }).toMatchObject({ uid: window && expect.any(Number) });
    expect(await write(newest, 1, 'ada')).toMatchObject({ windows: [] });
    expect(await write(newest - 1, 1, 'ada')).toMatchObject({ windows: [] });
    expect(await write(newest + 1, 2, 'ada')).toMatchObject({ windows: ['alltime'] });
    // No entry, where there was none: what is older makes no ghost.
    expect(await write(newest + 1, null, 'cy')).toMatchObject({ windows: ['alltime'] });
    expect(await write(newest, 3, 'cy')).toMatchObject({ windows: [] });
    expect(await write(newest + 2, null, 'bob')).toMatchObject({ windows: ['alltime'] });
    expect(await write(newest + 1, 5, 'bob')).toMatchObject({ windows: [] });
    // Two in one batch.
    await Promise.all([write(newest + 4, 8, 'di'), write(newest + 3, 7, 'di')]);
    expect(await node.linesOf(board)).toEqual(['alltime ada 2', 'alltime di 8']);
  });

  it('take no other: not one that has entries, another order, or another pool', async () => {
    const refusal = async (id: string, definition: object): Promise<string> =>
      node.makePool(id, definition).then(
        () => 'none',
        (error: unknown) => (error as { code: string }).code,
      );
    expect(await refusal('p-none', { board: 'there-is-none' })).toBe('BOARD_IN_USE');
    const full = await node.makeBoard(`${board}-full`);
    await node.ledger.write(submissionOf(full, 'ada', 1));
    expect(await refusal('p-full', { board: full.id })).toBe('BOARD_IN_USE');
    await node.makeBoard(`${board}-best`, { operator: 'best' });
    expect(await refusal('p-best', { board: `${board}-best` })).toBe('BOARD_IN_USE');
    await node.makeBoard(`${board}-asc`, { order: 'asc' });
    expect(await refusal('p-asc', { board: `${board}-asc` })).toBe('BOARD_IN_USE');
    await node.makeBoard(`${board}-columns`, { columns: [{ name: 'played', order: 'desc' }] });
    expect(await refusal('p-columns', { board: `${board}-columns` })).toBe('VALIDATION_FAILED');
    await poolOf();
    expect(await refusal('p-other', { board })).toBe('BOARD_IN_USE');
    // What was refused left no pool behind.
    expect((await node.pools.list('p-', 10, { withPrivate: true })).filter(({ id }) => id.startsWith('p-'))).toEqual(
      [],
    );
  });

  it('are filled when they are named later, and when they are reset', async () => {
    await node.makeBoard(board);
    const pool = await node.makePool(`p${made}`);
    for (let n = 0; n < 6; n += 1) await play(pool, `g${n}`, { [`a${n}`]: 1, [`b${n}`]: 2 });
    await node.settle(pool.uid);
    await node.makePool(pool.id, { boards: [{ board, value: 'wins' }] });
    expect(await node.linesOf(board)).toEqual([]);
    await other.fill();
    const expected = [...'012345'].flatMap((n) => [`alltime a${n} 1`, `alltime b${n} 0`]).sort();
    expect((await node.linesOf(board)).sort()).toEqual(expected);
    await node.registry.reset(board, 'test');
    expect(await node.linesOf(board)).toEqual([]);
    await node.fill();
    expect((await node.linesOf(board)).sort()).toEqual(expected);
    const left = (): Promise<object[]> =>
      node.database.query('SELECT * FROM board_fills WHERE pool_uid = $1', [pool.uid]);
    expect(await left()).toEqual([]);
    await node.registry.reset(board, 'test');
    await node.pools.delete(pool.id, null, 'test');
    await node.pools.purge(new AbortController().signal);
    expect(await left()).toHaveLength(1);
    await node.filler.run(new AbortController().signal, node.algorithms.everywhere);
    expect(await left()).toEqual([]);
  });

  it('show who is rankable, by other rules once these are changed', async () => {
    const pool = await poolOf({ rankable: { gamesMin: 2 } });
    await play(pool, 'g1', { ada: 1, bob: 2 });
    await play(pool, 'g2', { ada: 1, cy: 2 });
    await node.settle(pool.uid);
    expect((await node.entriesOf(board)).map(({ playerId }) => playerId)).toEqual(['ada']);
    await node.makePool(pool.id, { board });
    await node.rater.rate(pool.uid);
    await node.fill();
    expect((await node.entriesOf(board)).map(({ playerId }) => playerId)).toEqual(['ada', 'bob', 'cy']);
    await node.makePool(pool.id, { board, rankable: { gamesMin: 3 } });
    await node.rater.rate(pool.uid);
    await node.fill();
    expect(await node.entriesOf(board)).toEqual([]);
  });

  it('show in every window who is rankable by a game of another day', async () => {
    const dayMs = 86_400_000;
    const pool = await poolOf({ rankable: { gamesMin: 2 } }, { windows: ['alltime', 'daily'] });
    await play(pool, 'g1', { ada: 1, bob: 2 });
    await node.settle(pool.uid);
    await play(pool, 'g2', { ada: 1, bob: 2 }, { playedAtMs: Date.now() - dayMs });
    await node.rater.rate(pool.uid);
    await node.deliver((await node.ratingEvents(pool.uid)).slice(-2));
    const days = [Date.now(), Date.now() - dayMs].map((ms) => `daily:${new Date(ms).toISOString().slice(0, 10)}`);
    const expected = ['alltime', ...days].flatMap((window) => [`${window} ada`, `${window} bob`]);
    const shown = (await node.entriesOf(board)).map(({ window, playerId }) => `${window} ${playerId}`);
    expect(shown.sort()).toEqual(expected.sort());
  });

  it('stand as they are when their pool leaves them or is gone, and take submissions', async () => {
    const pool = await poolOf();
    await play(pool, 'g1', { ada: 1, bob: 2 });
    await node.settle(pool.uid);
    await node.pools.delete(pool.id, null, 'test');
    await node.boards.refresh();
    expect(node.boards.byId(board)!.feed).toBeUndefined();
    await node.deliver(await node.ratingEvents(pool.uid));
    await node.ledger.write(submissionOf(node.boards.byId(board)!, 'ada', 7));
    expect(await node.linesOf(board)).toEqual(['alltime ada 7', 'alltime bob 1484']);
  });

  it('are not deleted while they are fed, nor given another order', async () => {
    await poolOf();
    await expect(node.registry.delete(board, null, 'test')).rejects.toMatchObject({ code: 'BOARD_IN_USE' });
    await expect(node.makeBoard(board, { operator: 'best' })).rejects.toMatchObject({ code: 'BOARD_IN_USE' });
    await node.makeBoard(board, { title: 'Blitz' });
    expect(node.boards.byId(board)).toMatchObject({ feed: { value: 'rating' }, definition: { title: 'Blitz' } });
    await node.makePool(`p${made}`, {});
    await node.boards.refresh();
    await node.registry.delete(board, null, 'test');
  });

  it('keep their columns while they are fed: the pool says what goes into which', async () => {
    const columns = ['played', 'won'].map((name) => ({ name, order: 'desc' as const }));
    const boards = [{ board, value: 'rating', columns: { played: 'games', won: 'wins' } }];
    await poolOf({ board: undefined, boards }, { columns });
    const inUse = { code: 'BOARD_IN_USE' };
    await expect(node.makeBoard(board, { columns: columns.toReversed() })).rejects.toMatchObject(inUse);
    const renamed = columns.map(({ name, order }) => ({ name: `${name}2`, order }));
    await expect(node.makeBoard(board, { columns: renamed })).rejects.toMatchObject(inUse);
    await node.makeBoard(board, { columns: columns.map(({ name }) => ({ name, order: 'asc' })) });
    expect(node.boards.byId(board)!.feed).toMatchObject({ columns: ['games', 'wins'] });
  });

  it('are left to a process that has the algorithm of their pool, and those of other pools go on', async () => {
    const ofTeam = { ...RATING_ALGORITHMS.find(({ name }) => name === 'elo')!, name: 'of-a-team' };
    node.ofTeams.push(ofTeam);
    try {
      const pool = await poolOf({ algorithm: 'of-a-team' });
      await play(pool, 'g1', { ada: 1, bob: 2 });
      await node.rater.rate(pool.uid);
      await node.makeBoard(`${board}-beside`);
      const beside = await node.makePool(`${pool.id}-beside`, { board: `${board}-beside` });
      await play(beside, 'g1', { cy: 1, di: 2 });
      await node.rater.rate(beside.uid);
      const events = [...(await node.ratingEvents(pool.uid)), ...(await node.ratingEvents(beside.uid))];
      await other.deliver(events);
      expect(await node.linesOf(board)).toEqual([]);
      expect(await node.linesOf(`${board}-beside`)).toEqual(['alltime cy 1516', 'alltime di 1484']);
      await other.fill();
      expect(await node.linesOf(board)).toEqual([]);
      const fillOf = (by: FeedNode, of: PoolsOf): Promise<void> => by.filler.run(new AbortController().signal, of);
      await fillOf(other, other.algorithms.everywhere);
      await fillOf(node, node.algorithms.everywhere);
      expect(await node.linesOf(board)).toEqual([]);
      await fillOf(node, ['of-a-team']);
      expect(await node.linesOf(board)).toEqual(['alltime ada 1516', 'alltime bob 1484']);
    } finally {
      node.ofTeams.pop();
    }
  });

  const seed = seedOfRun();
  it(`have who is rankable, whatever comes between a game and the end of its players' time (SEED=${seed})`, async () => {
    const clock = await DatabaseClock.of(testDatabase.url);
    const dice = new Dice(seed);
    const idleMax = 2 * 86_400_000;
    const lookForEnds = async (): Promise<void> => {
      while ((await other.ender.run(new AbortController().signal)) !== undefined);
    };
    try {
      const pool = await poolOf({ rankable: { inactiveDaysMax: 2 } });
      const lastPlayed = new Map<string, number>();
      for (let step = 0; step < 120; step += 1) {
        const by = dice.oneOf([node, other]);
        const act = dice.below(6);
        if (act <= 1) {
          const winner = dice.below(8);
          const [a, b] = [`p${winner}`, `p${(winner + 1 + dice.below(7)) % 8}`];
          await by.games.record(gameOf(pool.id, `g${step}`, { [a]: 1, [b]: 2 }));
          const nowMs = await clock.nowMs();
          lastPlayed.set(a, nowMs).set(b, nowMs);
        } else if (act === 2) await by.rater.rate(pool.uid);
        else if (act === 3) await lookForEnds();
        else if (act === 4) await clock.stopAt((await clock.nowMs()) + dice.below(idleMax));
        else {
          const some = (await node.ratingEvents(pool.uid)).filter(() => dice.isUnder(0.5));
          await by.deliver(some.sort(() => dice.next() - 0.5));
        }
      }
      await node.rater.rate(pool.uid);
      await node.deliver(await node.ratingEvents(pool.uid));
      await lookForEnds();
      await node.settle(pool.uid);
      const nowMs = await clock.nowMs();
      const rankable = [...lastPlayed].filter(([, atMs]) => atMs + idleMax > nowMs).map(([playerId]) => playerId);
      expect((await node.entriesOf(board)).map(({ playerId }) => playerId)).toEqual(rankable.sort());
      expect(lastPlayed.size).toBe(8);
    } finally {
      await clock.close();
    }
  });

  it('do not get back who had its lifetime there, until its next game', async () => {
    const clock = await DatabaseClock.of(testDatabase.url);
    try {
      const { limits } = withBoardDefaults({
        ...{ order: 'desc', operator: 'latest', limits: { entryLifetimeSeconds: 90_000 } },
      } as unknown as BoardDefinition);
      const pool = await poolOf({}, { limits });
      const look = async (): Promise<string[]> => {
        await node.settle(pool.uid);
        await node.fill();
        await new EntryExpirer(node.database, node.lanes, node.notifier).run(new AbortController().signal);
        return (await node.entriesOf(board)).map(({ playerId }) => playerId);
      };
      await play(pool, 'g1', { ada: 1, bob: 2 });
      expect(await look()).toEqual(['ada', 'bob']);
      await clock.goOnFrom((await clock.nowMs()) + 80_000_000);
      await play(pool, 'g2', { ada: 1, cy: 2 });
      await look();
      await clock.goOnFrom((await clock.nowMs()) + 80_000_000);
      expect(await look()).toEqual(['ada', 'cy']);
      // All are written anew by other rules.
      await node.makePool(pool.id, { board, rankable: { inactiveDaysMax: 30 } });
      expect(await look()).toEqual(['ada', 'cy']);
      await play(pool, 'g3', { bob: 1, di: 2 });
      expect(await look()).toEqual(['ada', 'bob', 'cy', 'di']);
    } finally {
      await clock.close();
    }
  });

  it('lose a player at the moment from which it is not rankable any more, until its next game', async () => {
    const clock = await DatabaseClock.of(testDatabase.url);
    try {
      const pool = await poolOf({ rankable: { inactiveDaysMax: 2 } });
      await play(pool, 'g1', { ada: 1, bob: 2 });
      await node.settle(pool.uid);
      await clock.goOnFrom((await clock.nowMs()) + 1 * 86_400_000);
      await play(pool, 'g2', { ada: 1, cy: 2 });
      await node.settle(pool.uid);
      const look = async (): Promise<string[]> => {
        await other.ender.run(new AbortController().signal);
        await node.settle(pool.uid);
        return (await node.entriesOf(board)).map(({ playerId }) => playerId);
      };
      expect(await look()).toEqual(['ada', 'bob', 'cy']);
      await clock.goOnFrom((await clock.nowMs()) + 1 * 86_400_000);
      expect(await look()).toEqual(['ada', 'cy']);
      await play(pool, 'g3', { bob: 1, di: 2 });
      expect(await look()).toEqual(['ada', 'bob', 'cy', 'di']);
      await clock.goOnFrom((await clock.nowMs()) + 1 * 86_400_000);
      expect(await look()).toEqual(['bob', 'di']);
    } finally {
      await clock.close();
    }
  });

  it('lose it also while there are ends of a pool that is gone, which come before', async () => {
    const clock = await DatabaseClock.of(testDatabase.url);
    try {
      const pool = await poolOf({ rankable: { inactiveDaysMax: 2 } });
      await play(pool, 'g1', { ada: 1, bob: 2 });
      await node.settle(pool.uid);
      const gone = await node.makePool('gone');
      await node.database.query(
        `INSERT INTO entry_ends (pool_uid, player_id, position, until_ms)
         SELECT $1::int, 'p' || n, 1, n FROM generate_series(1, 1000) AS n`,
        [gone.uid],
      );
      await node.pools.delete('gone', null, 'test');
      await clock.goOnFrom((await clock.nowMs()) + 2 * 86_400_000);
      await node.ender.run(new AbortController().signal);
      await node.settle(pool.uid);
      expect(await node.entriesOf(board)).toEqual([]);
      await node.pools.purge(new AbortController().signal);
      expect(await node.database.query('SELECT FROM entry_ends WHERE pool_uid = $1', [gone.uid])).toEqual([]);
    } finally {
      await clock.close();
    }
  });
});
