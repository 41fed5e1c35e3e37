// Real: PostgreSQL and the ledger of two processes; the clock, `ladder_now()`, is in the test's hands.
import type { LadderError } from '@laddercast/domain';
import {
  ADVISORY_LOCKS,
  gamesById,
  gamesOfPool,
  type GameReceipt,
  type HeldPools,
  type Pool,
  type SqlRunner,
} from '@laddercast/ledger';
import { sleep } from '@laddercast/platform';
import { createTestDatabase, DatabaseClock, type TestDatabase } from '@laddercast/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { gameOf, PoolNode } from '../nodes/pool-node.js';
import { holding } from '../nodes/time-node.js';

const NOON = Date.parse('2026-11-20T12:00:00Z');
const codeOf = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'none',
    (error: LadderError) => error.code,
  );

describe('games', () => {
  let testDatabase: TestDatabase;
  let clock: DatabaseClock;
  let node: PoolNode;
  let other: PoolNode;
  let pool: Pool;
  let made = 0;

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    node = new PoolNode(testDatabase.url);
    await node.start();
    other = new PoolNode(testDatabase.url);
    await other.start();
    clock = await DatabaseClock.of(testDatabase.url);
    await clock.stopAt(NOON);
  });
  beforeEach(async () => {
    pool = await node.makePool(`p${(made += 1)}`);
  });
  afterAll(async () => {
    await other.stop();
    await node.stop();
    await clock.close();
    await testDatabase.drop();
  });

  const record = (id: string, places: Record<string, number>, more = {}, by = node): Promise<GameReceipt> =>
    by.games.record(gameOf(pool.id, id, places, more));
  const eventsOf = ({ uid }: Pool): Promise<{ position: number; payload: { position: number } }[]> =>
    node.database.query(
      `SELECT position, payload::jsonb AS payload FROM outbox WHERE topic = 'game-recorded' AND key = $1
       ORDER BY position`,
      [String(uid)],
    );
  const positionsOf = async ({ uid }: Pool): Promise<number[]> =>
    (await gamesOfPool(node.database, uid, { playerId: null, beforePosition: null, limit: 10_000 })).map(
      ({ position }) => position,
    );

  it('are recorded in the order in which they come, and ring once for what is committed together', async () => {
    const ids = Array.from({ length: 40 }, (_, index) => `g${index}`);
    const receipts = await Promise.all(ids.map((id) => record(id, { ada: 1, bob: 2 })));
    const positions = receipts.map(({ position }) => position);
    expect(positions).toEqual([...positions].sort((a, b) => a - b));
    expect(new Set(positions).size).toBe(40);
    expect(await positionsOf(pool)).toEqual([...positions].reverse());
    const events = await eventsOf(pool);
    expect(events).toHaveLength(1);
    expect(events[0]!.payload).toEqual({ type: 'game-recorded', poolUid: pool.uid, position: positions.at(-1) });
    expect(await node.pools.get(pool.id)).toMatchObject({ games: 40, pending: 40, players: 0, ratedPosition: 0 });
  });

  it('keep what was said of them', async () => {
    const [ada, bob] = gameOf(pool.id, 'g', { ada: 1, bob: 2 }).players;
    const players = [
      { ...ada!, isHome: true, score: 3.5 },
      { ...bob!, status: 'absent' as const, place: null },
      { ...bob!, playerId: 'Zoë "/\\', place: 7, team: 'red' },
    ];
    const metadata = '{"replay":"r"}';
    const { position } = await record('g', {}, { players, weight: 1.5, metadata, playedAtMs: NOON - 1000 });
    const [game] = await gamesById(node.database, pool.uid, ['g', 'nothing']);
    expect(game).toEqual({
      ...{ gameId: 'g', position, playedAtMs: NOON - 1000, recordedAtMs: NOON, weight: 1.5, metadata },
      ...{ players, unrated: null, voided: null, isGone: false, isRated: false, changes: [] },
    });
  });

  it('are known again by their id and body, for as long as there is the pool', async () => {
    const first = await record('g', { ada: 1, bob: 2 });
    expect(first.replayed).toBe(false);
    expect(await record('g', { ada: 1, bob: 2 })).toEqual({ ...first, replayed: true });
    expect(await record('g', { ada: 1, bob: 2 }, {}, other)).toEqual({ ...first, replayed: true });
    expect(await codeOf(record('g', { ada: 2, bob: 1 }))).toBe('GAME_ID_REUSED');
    expect((await positionsOf(pool)).length).toBe(1);
    expect((await eventsOf(pool)).length).toBe(1);

    const elsewhere = await node.makePool(`${pool.id}-too`);
    const another = await node.games.record(gameOf(elsewhere.id, 'g', { ada: 2, bob: 1 }));
    expect(another).toMatchObject({ poolUid: elsewhere.uid, replayed: false });

    await node.pools.delete(pool.id, null, 'test');
    const again = await node.makePool(pool.id);
    expect(await record('g', { ada: 2, bob: 1 })).toMatchObject({ poolUid: again.uid, replayed: false });
  });

  it('are known again within one batch', async () => {
    const [first, second, third] = await Promise.allSettled([
      record('g', { ada: 1, bob: 2 }),
      record('g', { ada: 1, bob: 2 }),
      record('g', { ada: 2, bob: 1 }),
    ]);
    const receipt = (first as PromiseFulfilledResult<GameReceipt>).value;
    expect(receipt.position).toBeGreaterThan(0);
    expect(second).toEqual({ status: 'fulfilled', value: { ...receipt, replayed: true } });
    expect((third as PromiseRejectedResult).reason).toMatchObject({ code: 'GAME_ID_REUSED' });
  });

  it('that are refused leave no trace, and hold up no other', async () => {
    const outcomes = await Promise.all([
      codeOf(record('g1', { ada: 1, bob: 2 })),
      codeOf(record('g2', { ada: 1 })),
      codeOf(node.games.record(gameOf('nowhere', 'g', { ada: 1, bob: 2 }))),
      codeOf(record('g3', { ada: 1, bob: 2 }, { playedAtMs: NOON + 60_001 })),
      // PostgreSQL itself refuses this text: the batch is halved until it stands alone.
      codeOf(record('g4', { ada: 1, bob: 2 }, { metadata: '"\0"' })).then((code) => code ?? 'a fault of the data'),
      codeOf(record('g5', { ada: 2, bob: 1 })),
    ]);
    expect(outcomes.map((code, index) => (index === 4 && code !== 'none' ? 'refused' : code))).toEqual([
      ...['none', 'VALIDATION_FAILED', 'POOL_NOT_FOUND', 'ACHIEVED_AT_IN_FUTURE', 'refused', 'none'],
    ]);
    expect((await positionsOf(pool)).length).toBe(2);
    expect(await node.pools.get(pool.id)).toMatchObject({ games: 2 });
  });

  it('are played now where nothing is said, or a little later is', async () => {
    await record('now', { ada: 1, bob: 2 });
    await record('soon', { ada: 1, bob: 2 }, { playedAtMs: NOON + 60_000 });
    await record('before', { ada: 1, bob: 2 }, { playedAtMs: NOON - 86_400_000 });
    const games = await gamesById(node.database, pool.uid, ['now', 'soon', 'before']);
    expect(games.map(({ playedAtMs }) => playedAtMs - NOON)).toEqual([0, 0, -86_400_000]);
  });

  it('move nobody where one side is left, which is said at once', async () => {
    const [ada, bob] = gameOf(pool.id, 'g', { ada: 1, bob: 2 }).players;
    const players = [ada!, { ...bob!, status: 'absent' as const, place: null }];
    expect(await record('g', {}, { players })).toMatchObject({ unrated: 'TOO_FEW_SIDES' });
    expect(await record('g', {}, { players })).toMatchObject({ unrated: 'TOO_FEW_SIDES', replayed: true });
  });

  it('of two processes become visible in order and without gaps', async () => {
    let isOver = false;
    const seen: number[] = [];
    const look = async (): Promise<void> => {
      while (!isOver) {
        const found = await node.database.query<{ position: number }>(
          'SELECT position FROM games WHERE pool_uid = $1 AND position > $2 ORDER BY position',
          [pool.uid, seen.at(-1) ?? 0],
        );
        seen.push(...found.map(({ position }) => position));
      }
    };
    const looking = look();
    const sent = await Promise.all(
      [node, other].flatMap((by, process) =>
        Array.from({ length: 300 }, async (_, index) => {
          // In several batches each.
          await new Promise((resolve) => setTimeout(resolve, index % 50));
          return record(`g${process}-${index}`, { ada: 1, bob: 2 }, {}, by);
        }),
      ),
    );
    isOver = true;
    await looking;
    const all = sent.map(({ position }) => position).sort((a, b) => a - b);
    // One that became visible behind a later one would have been passed over.
    expect(all.filter((position) => position <= seen.at(-1)!)).toEqual(seen);
    expect((await positionsOf(pool)).length).toBe(600);
    expect(await node.pools.get(pool.id)).toMatchObject({ games: 600, pending: 600 });
    expect((await eventsOf(pool)).at(-1)!.payload.position).toBe(all.at(-1));
  });

  it('whose commit was not answered are found by the next look, as the first answer', async () => {
    const transaction = node.database.transaction.bind(node.database);
    let lost = 0;
    node.database.transaction = async <T>(work: (sql: SqlRunner) => Promise<T>): Promise<T> => {
      const done = await transaction(work);
      if (lost > 0) return done;
      lost += 1;
      throw Object.assign(new Error('Connection terminated unexpectedly'), { code: 'ECONNRESET' });
    };
    try {
      const receipt = await record('g', { ada: 1, bob: 2 });
      expect([lost, receipt.replayed]).toEqual([1, false]);
      expect(await positionsOf(pool)).toEqual([receipt.position]);
    } finally {
      node.database.transaction = transaction;
    }
  });

  it('of a player are listed, the newest first', async () => {
    await record('g1', { ada: 1, bob: 2 });
    await record('g2', { bob: 1, cy: 2 });
    await record('g3', { ada: 1, cy: 2 });
    const ofPlayer = async (playerId: string | null, beforePosition: number | null, limit = 10): Promise<string[]> =>
      (await gamesOfPool(node.database, pool.uid, { playerId, beforePosition, limit })).map(({ gameId }) => gameId);
    expect(await ofPlayer('ada', null)).toEqual(['g3', 'g1']);
    expect(await ofPlayer(null, null, 2)).toEqual(['g3', 'g2']);
    const [{ position } = { position: 0 }] = await gamesById(node.database, pool.uid, ['g3']);
    expect(await ofPlayer('cy', position)).toEqual(['g2']);
    expect(await ofPlayer('nobody', null)).toEqual([]);
  });

  it('fail with an earlier one of their pool that came with them, so that sending both again keeps their order', async () => {
    const lane = node.lanes.of(pool.id);
    const neighbour = Array.from({ length: 100 }, (_, n) => `neighbour${n}`).find((id) => node.lanes.of(id) === lane)!;
    const another = await node.makePool(neighbour);
    const hold = await holding(node, `SELECT pg_advisory_xact_lock(${ADVISORY_LOCKS.lanes}, ${lane})`);
    const held: HeldPools = new Map();
    const outcomes: string[] = [];
    const recorded = (one: Pool, id: string, by: HeldPools): Promise<unknown> =>
      node.games.record(gameOf(one.id, id, { ada: 1, bob: 2 }), by).then(
        () => outcomes.push(`${id} recorded`),
        (error: { code: string }) => outcomes.push(`${id} ${error.code}`),
      );
    const first = recorded(pool, 'first', held);
    // The first gives up after two waits of four seconds, when the others have time left.
    await sleep(6000);
    const later = [
      recorded(pool, 'second', held),
      recorded(another, 'elsewhere', held),
      recorded(pool, 'alone', new Map()),
    ];
    await first;
    await hold.end();
    await Promise.all(later);
    expect(outcomes).toEqual([
      'first LEDGER_UNAVAILABLE',
      'second LEDGER_UNAVAILABLE',
      'elsewhere recorded',
      'alone recorded',
    ]);
  });

  it('that waited too long while the database was away for one part of a commit are not begun with the other part', async () => {
    await node.database.query('CREATE SEQUENCE tries');
    await node.database.query(`
      CREATE FUNCTION bad_day() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF NEW.game_id = 'bad' THEN RAISE EXCEPTION 'a bad write'; END IF;
        IF NEW.game_id = 'slow' AND nextval('tries') = 2 THEN
          PERFORM pg_sleep(5.1), pg_terminate_backend(pg_backend_pid());
        END IF;
        RETURN NEW;
      END $$`);
    await node.database.query('CREATE TRIGGER bad_day BEFORE INSERT ON games FOR EACH ROW EXECUTE FUNCTION bad_day()');
    try {
      const games = ['slow', 'with-it', 'behind', 'bad'].map((id) => codeOf(record(id, { ada: 1, bob: 2 })));
      expect(await Promise.all(games)).toEqual(Array(4).fill('LEDGER_UNAVAILABLE'));
      expect(await positionsOf(pool)).toEqual([]);
    } finally {
      await node.database.query('DROP TRIGGER bad_day ON games');
    }
  });
});
