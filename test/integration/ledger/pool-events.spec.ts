// Real: PostgreSQL and the ledger of two processes. The events are of a type of the test's own: what others do is tested there.
import {
  outcomeOfPoolEvent,
  recordPoolEvent,
  type FoldedEvent,
  type Pool,
  type PoolEvent,
  type PoolEventFold,
  type PoolInTurn,
  type SqlRunner,
} from '@laddercast/ledger';
import type { PlayerRating } from '@laddercast/domain';
import { createTestDatabase, type TestDatabase } from '@laddercast/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { gameOf, PoolNode } from '../nodes/pool-node.js';

/** More than one statement tells. */
const MANY = 6000;

/** Tells the ratings of many players, in an order that is not that of their ids. */
class TellMany implements PoolEventFold {
  readonly type = 'tell-many';
  /** Called where a rating is put into words. */
  onWords = (): void => undefined;
  /** Called when the fold is done. */
  onFolded = (): Promise<void> => Promise.resolve();
  spoilt: number | null = null;

  async fold(): Promise<FoldedEvent> {
    const changed = Array.from({ length: MANY }, (_, at) => {
      const rating = ratingWith(at);
      const words = { ...rating, toJSON: (): PlayerRating => (this.onWords(), rating) };
      // PostgreSQL keeps no such text.
      return {
        playerId: `${playerAt(at)}${at === this.spoilt ? '\u0000' : ''}`,
        rating: words,
        playedAtMs: [at, at + 1],
      };
    });
    await this.onFolded();
    return { outcome: { told: MANY }, newcomers: 0, changed };
  }
}

const playerAt = (at: number): string => `player-${(at * 7) % MANY}`;
const ratingWith = (games: number): PlayerRating => ({
  state: { rating: 1500 + games / 3, deviation: null, volatility: null, memory: {} },
  ...{ games, wins: 0, draws: 0, losses: games, peak: null, lastPlayedAtMs: null, position: 1 },
});

/** Of a binary array as PostgreSQL takes it: its dimensions, whether there are nulls, and the type of its elements come first. */
const elementsOf = (array: Buffer): number => array.readInt32BE(12);

/** Sets one player's rating, and says what all ratings were. */
class SetRating implements PoolEventFold {
  readonly type = 'set-rating';
  folds = 0;

  async fold(transaction: SqlRunner, pool: PoolInTurn, { payload }: PoolEvent): Promise<FoldedEvent> {
    this.folds += 1;
    const { playerId, rating } = payload as { playerId: string; rating: number };
    const before = await transaction.query<{ playerId: string; rating: number }>(
      'SELECT player_id AS "playerId", rating FROM ratings WHERE pool_uid = $1 ORDER BY player_id',
      [pool.uid],
    );
    return {
      outcome: { before, ratedPosition: pool.ratedPosition },
      newcomers: 0,
      changed: [],
      store: async (sql) => {
        await sql.query('UPDATE ratings SET rating = $3 WHERE pool_uid = $1 AND player_id = $2', [
          pool.uid,
          playerId,
          rating,
        ]);
      },
    };
  }
}

const LEAVE_SOME = `
  INSERT INTO untold_ratings SELECT $1, n, 'ada', '{"type":"rating-changed"}' FROM generate_series(1, $2::int) AS n`;

describe('events of a pool', () => {
  let testDatabase: TestDatabase;
  let node: PoolNode;
  let other: PoolNode;
  let fold: SetRating;
  let pool: Pool;
  let made = 0;

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    node = new PoolNode(testDatabase.url);
    await node.start();
    other = new PoolNode(testDatabase.url);
    await other.start();
  });
  beforeEach(async () => {
    pool = await node.makePool(`p${(made += 1)}`);
    fold = new SetRating();
    for (const { folds } of [node, other]) folds.splice(0, folds.length, fold);
  });
  afterAll(async () => {
    await other.stop();
    await node.stop();
    await testDatabase.drop();
  });

  const adaWins = (gameId: string): Promise<unknown> => node.games.record(gameOf(pool.id, gameId, { ada: 1, bob: 2 }));
  const recordEvent = (type = 'set-rating'): Promise<number> => {
    const lane = node.lanes.of(pool.id);
    return node.work.holding(pool.id, (transaction) =>
      recordPoolEvent(transaction, { poolUid: pool.uid, lane }, { type, payload: { playerId: 'ada', rating: 2000 } }),
    );
  };
  const outcomeOf = (position: number): Promise<object | null> => outcomeOfPoolEvent(node.database, pool.uid, position);

  it('have a place among the games: those before are rated without them, those after with them', async () => {
    await adaWins('g1');
    const position = await recordEvent();
    await adaWins('g2');
    expect(await outcomeOf(position)).toBeNull();
    await node.rater.rate(pool.uid);
    expect(await outcomeOf(position)).toMatchObject({
      before: [
        { playerId: 'ada', rating: 1516 },
        { playerId: 'bob', rating: 1484 },
      ],
    });
    // 2000 against 1484: expected 0.951…
    const expected = 1 / (1 + 10 ** ((1484 - 2000) / 400));
    expect(await node.ratingOf(pool, 'ada')).toBeCloseTo(2000 + 32 * (1 - expected), 9);
    const { pending, games, ratedPosition } = await node.pools.get(pool.id);
    expect({ pending, games }).toEqual({ pending: 0, games: 2 });
    expect(ratedPosition).toBeGreaterThan(position);
  });

  it('are folded in a pool without games, and one after the other', async () => {
    const first = await recordEvent();
    const second = await recordEvent();
    await node.rater.rate(pool.uid);
    expect(await outcomeOf(first)).toEqual({ before: [], ratedPosition: 0 });
    expect(await outcomeOf(second)).toEqual({ before: [], ratedPosition: first });
    expect(fold.folds).toBe(2);
  });

  it('ring for whoever rates', async () => {
    const position = await recordEvent();
    const bells = await node.database.query<{ position: number }>(
      `SELECT (payload::json ->> 'position')::bigint AS position FROM outbox WHERE topic = 'game-recorded' AND key = $1`,
      [String(pool.uid)],
    );
    expect(bells).toEqual([{ position }]);
    await node.rater.sweep(new AbortController().signal);
    await node.rater.settled();
    expect(await outcomeOf(position)).not.toBeNull();
  });

  it('are stored once, however many try at the same time', async () => {
    await adaWins('g1');
    const positions = [await recordEvent(), await recordEvent()];
    await adaWins('g2');
    await Promise.all([node, other, node, other].map(({ rater }) => rater.rate(pool.uid)));
    await node.rater.rate(pool.uid);
    expect(await Promise.all(positions.map(outcomeOf))).not.toContain(null);
    expect(fold.folds).toBe(2);
    expect((await node.pools.get(pool.id)).pending).toBe(0);
  });

  it('are all or nothing: one that fails halfway is folded again as if for the first time', async () => {
    await adaWins('g1');
    const position = await recordEvent();
    const { fold: folding } = fold;
    fold.fold = async (...args): Promise<FoldedEvent> => {
      const folded = await folding.apply(fold, args);
      return {
        ...folded,
        store: async (sql): Promise<void> => {
          await folded.store!(sql);
          throw new Error('the process died');
        },
      };
    };
    await expect(node.rater.rate(pool.uid)).rejects.toThrow('the process died');
    expect([await outcomeOf(position), await node.ratingOf(pool, 'ada')]).toEqual([null, 1516]);
    fold.fold = folding;
    await node.rater.rate(pool.uid);
    expect(await node.ratingOf(pool, 'ada')).toBe(2000);
  });

  it('may have statements of a minute: some go over all that players have ever played', async () => {
    const limits: string[] = [];
    const { fold: folding } = fold;
    fold.fold = async (transaction, ...given): Promise<FoldedEvent> => {
      const [row] = await transaction.query<{ limit: string }>(
        `SELECT current_setting('statement_timeout') AS limit FROM pg_sleep(6)`,
      );
      limits.push(row!.limit);
      return folding.call(fold, transaction, ...given);
    };
    const position = await recordEvent();
    await node.rater.rate(pool.uid);
    expect(await outcomeOf(position)).not.toBeNull();
    expect(limits).toEqual(['1min']);
  });

  it('of a type that this release does not know hold up their pool, and no other', async () => {
    await adaWins('g1');
    await recordEvent('from-the-future');
    await adaWins('g2');
    const free = await node.makePool(`p${(made += 1)}`);
    await node.games.record(gameOf(free.id, 'g1', { ada: 1, bob: 2 }));
    await node.rater.sweep(new AbortController().signal);
    await node.rater.settled();
    expect([await node.ratingOf(pool, 'ada'), await node.ratingOf(free, 'ada')]).toEqual([1516, 1516]);
    expect((await node.pools.get(pool.id)).pending).toBe(1);
    await expect(node.rater.rate(pool.uid)).rejects.toThrow('"from-the-future"');
  });

  it('cost games no statement', async () => {
    const { transaction } = node.database;
    const counts: number[] = [];
    node.database.transaction = (work) =>
      transaction.call(node.database, async (runner) => {
        let statements = 0;
        const result = await work({ query: (...args) => ((statements += 1), runner.query(...args)) });
        counts.push(statements);
        return result;
      }) as never;
    try {
      await adaWins('g1');
      counts.length = 0;
      await node.rater.rate(pool.uid);
    } finally {
      node.database.transaction = transaction;
    }
    // The turn, what to rate, the lane, the step, positions, the rows.
    expect(counts).toEqual([6]);
  });

  describe('of many players', () => {
    let many: TellMany;
    let position: number;
    beforeEach(async () => {
      many = new TellMany();
      for (const { folds } of [node, other]) folds.push(many);
      position = await recordEvent(many.type);
    });

    interface Told {
      key: string;
      payload: string;
      transaction: string;
    }
    const told = (): Promise<Told[]> =>
      node.database.query<Told>(
        `SELECT key, payload, xmin::text AS transaction FROM outbox
        WHERE topic = 'rating-changed' AND (payload::json ->> 'poolUid')::int = $1 ORDER BY position`,
        [pool.uid],
      );
    const expectAllToldOnce = async (): Promise<void> => {
      const rows = (await told()).slice(0, MANY);
      expect(rows.map(({ key }) => key)).toEqual(Array.from({ length: MANY }, (_, at) => playerAt(at)));
      expect(rows.map(({ payload }) => payload)).toEqual(
        Array.from({ length: MANY }, (_, at) =>
          JSON.stringify({
            ...{ type: 'rating-changed', poolUid: pool.uid, ratedPosition: position, playerId: playerAt(at) },
            ...{ rating: ratingWith(at), playedAtMs: [at, at + 1] },
          }),
        ),
      );
      // Nobody waits for the lane for as long as all of them take.
      expect(new Set(rows.map(({ transaction }) => transaction)).size).toBe(2);
      expect(await outcomeOf(position)).toEqual({ told: MANY });
    };

    it('tell them in their order, a part at a time', async () => {
      await node.rater.rate(pool.uid);
      await expectAllToldOnce();
      expect(await told()).toHaveLength(MANY);
    });

    // PostgreSQL ends a transaction that asks nothing for ten seconds.
    it('are worded and kept before the lane is taken, a part at a time', async () => {
      const done: (string | number)[] = [];
      many.onWords = (): void => void (done.at(-1) !== 'worded' && done.push('worded'));
      const { longTransaction } = node.database;
      node.database.longTransaction = (timeoutMs, work, signal) =>
        longTransaction.call(
          node.database,
          timeoutMs,
          (runner) =>
            work({
              query: (sql, parameters) => {
                if (sql === 'SELECT') done.push('alive');
                if (sql.includes('ladder_take_lane')) done.push('lane');
                if (sql.includes('INTO untold_ratings')) done.push(elementsOf(parameters!.at(-1) as Buffer));
                return runner.query(sql, parameters);
              },
            }),
          signal,
        ) as never;
      try {
        await node.rater.rate(pool.uid);
      } finally {
        node.database.longTransaction = longTransaction;
      }
      expect(done).toEqual(['worded', 5000, 'alive', 'worded', 1000, 'lane']);
    });

    it('tell nobody where the last of them cannot be told, and all when they are folded again', async () => {
      many.spoilt = MANY - 1;
      await expect(node.rater.rate(pool.uid)).rejects.toThrow('invalid byte sequence');
      expect([await told(), await outcomeOf(position)]).toEqual([[], null]);
      many.spoilt = null;
      await other.rater.rate(pool.uid);
      await expectAllToldOnce();
    });

    it('are told before anything else of the pool, though a process dies before it could', async () => {
      await node.database.query(`
        CREATE FUNCTION die() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'it died'; END $$;
        CREATE TRIGGER dies BEFORE DELETE ON untold_ratings EXECUTE FUNCTION die()`);
      await adaWins('later');
      await expect(node.rater.rate(pool.uid)).rejects.toThrow('it died');
      await node.database.query('DROP FUNCTION die CASCADE');
      expect([await told(), await outcomeOf(position)]).toEqual([[], { told: MANY }]);
      await other.rater.sweep(new AbortController().signal);
      await other.rater.settled();
      await expectAllToldOnce();
      expect((await told()).slice(MANY).map(({ key }) => key)).toEqual(['ada', 'bob']);
      expect(await node.database.query('SELECT FROM untold_ratings')).toEqual([]);
    });

    it('hold up nobody who rings for the pool', async () => {
      const { database } = node;
      const { transaction } = database;
      let goOn!: () => void;
      const open = new Promise<void>((resolve) => (goOn = resolve));
      let told = 0;
      database.transaction = async (work) => {
        if (told > 0) await open;
        return transaction.call(database, (runner) =>
          work({
            query: (sql, parameters) => {
              if (sql.includes('DELETE FROM untold_ratings')) told += 1;
              return runner.query(sql, parameters);
            },
          }),
        ) as never;
      };
      await other.database.query(LEAVE_SOME, [pool.uid, 2 * 5000]);
      await node.rater.ring(pool.uid);
      expect(told).toBe(1);
      goOn();
      await node.rater.settled();
      database.transaction = transaction;
      // Two before, and those of the event behind them.
      expect(told).toBe(4);
    });

    it('are found behind those of a pool that is gone', async () => {
      const gone = await node.makePool(`gone${made}`);
      const later = await node.makePool(`later${made}`);
      for (const { uid } of [gone, later]) await node.database.query(LEAVE_SOME, [uid, 1]);
      await node.pools.delete(gone.id, null, 'test');
      await other.rater.sweep(new AbortController().signal);
      await other.rater.settled();
      const left = await node.database.query('SELECT pool_uid AS uid FROM untold_ratings');
      expect(left).toEqual([{ uid: gone.uid }]);
      await node.pools.purge(new AbortController().signal);
      expect(await node.database.query('SELECT FROM untold_ratings')).toEqual([]);
    });

    it('are told by the next sweep where nothing else is left to do', async () => {
      const { database } = other;
      await node.rater.rate(pool.uid);
      await database.query(
        `WITH back AS (DELETE FROM outbox WHERE topic = 'rating-changed' AND (payload::json ->> 'poolUid')::int = $1 RETURNING *)
         INSERT INTO untold_ratings SELECT $1, position, key, payload FROM back`,
        [pool.uid],
      );
      await other.rater.sweep(new AbortController().signal);
      await other.rater.settled();
      await expectAllToldOnce();
    });

    it('tell nobody where another process was first', async () => {
      // As if the lock of the turn had gone with a connection.
      many.onFolded = async (): Promise<void> => {
        await other.database.query('UPDATE pools SET rated_position = $2 WHERE pool_uid = $1', [pool.uid, position]);
      };
      await node.rater.rate(pool.uid);
      expect([await told(), await outcomeOf(position)]).toEqual([[], null]);
    });
  });

  it('go with their pool', async () => {
    await recordEvent();
    await node.pools.delete(pool.id, null, 'test');
    await node.pools.purge(new AbortController().signal);
    const left = await node.database.query('SELECT 1 FROM pool_events WHERE pool_uid = $1', [pool.uid]);
    expect(left).toEqual([]);
  });
});
