// Real: PostgreSQL and the ledger of two processes; only an algorithm that spoils its numbers is the test's own.
import { RATING_ALGORITHMS, type RatingAlgorithm } from '@laddercast/domain';
import {
  gamesById,
  gamesOfPool,
  type GameReceipt,
  type Pool,
  type RecordedGame,
  type SqlRunner,
} from '@laddercast/ledger';
import { createTestDatabase, type TestDatabase } from '@laddercast/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { gameOf, PoolNode } from '../nodes/pool-node.js';

type Places = Record<string, number>;

/** Elo of two players, as anybody would write it down. */
class PlainElo {
  readonly ratings = new Map<string, number>();

  play(players: RecordedGame['players'], k = 32): void {
    const [a, b] = players as [RecordedGame['players'][number], RecordedGame['players'][number]];
    const [ratingOfA, ratingOfB] = [this.of(a.playerId), this.of(b.playerId)];
    const expected = 1 / (1 + 10 ** ((ratingOfB - ratingOfA) / 400));
    const score = a.place! < b.place! ? 1 : a.place === b.place ? 0.5 : 0;
    this.ratings.set(a.playerId, ratingOfA + k * (score - expected));
    this.ratings.set(b.playerId, ratingOfB - k * (score - expected));
  }

  of(playerId: string): number {
    return this.ratings.get(playerId) ?? 1500;
  }
}

/** Lets a test come between the statements of a process. */
class Interrupted {
  private readonly transaction;

  constructor(private readonly node: PoolNode) {
    this.transaction = node.database.transaction.bind(node.database);
  }

  /** Does something before the first statement of each transaction that matches. */
  before(matches: (sql: string, values: unknown[]) => boolean, act: () => Promise<unknown>): void {
    let isDone = false;
    this.replace((work) =>
      this.transaction((runner) =>
        work({
          query: async <Row>(sql: string, values: unknown[] = []): Promise<Row[]> => {
            if (!isDone && matches(sql, values)) {
              isDone = true;
              await act();
            }
            return runner.query<Row>(sql, values);
          },
        }),
      ),
    );
  }

  /** Does something once, when all is done and before the first commit. */
  beforeCommit(act: () => Promise<unknown>): void {
    let isDone = false;
    this.replace((work) =>
      this.transaction(async (runner) => {
        const result = await work(runner);
        if (!isDone) {
          isDone = true;
          await act();
        }
        return result;
      }),
    );
  }

  undo(): void {
    this.node.database.transaction = this.transaction;
  }

  private replace(transaction: <T>(work: (sql: SqlRunner) => Promise<T>) => Promise<T>): void {
    this.node.database.transaction = transaction;
  }
}

const takesLane = (sql: string): boolean => sql.includes('ladder_take_lane');

describe('the games of a pool', () => {
  let testDatabase: TestDatabase;
  let node: PoolNode;
  let other: PoolNode;
  let interrupted: Interrupted;
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
    interrupted = new Interrupted(node);
    pool = await node.makePool(`p${(made += 1)}`);
  });
  afterEach(() => interrupted.undo());
  afterAll(async () => {
    await other.stop();
    await node.stop();
    await testDatabase.drop();
  });

  const record = (id: string, places: Places, by = node): Promise<GameReceipt> =>
    by.games.record(gameOf(pool.id, id, places));
  const play = async (...games: Places[]): Promise<void> => {
    await Promise.all(games.map((places, index) => record(`g${index + 1}`, places)));
    await node.rater.rate(pool.uid);
  };
  const ratingsOf = async (...players: string[]): Promise<(number | null)[]> =>
    Promise.all(players.map((playerId) => node.ratingOf(pool, playerId)));
  /** All that rating wrote of the pool, to be compared. */
  const written = async (): Promise<unknown[]> =>
    Promise.all([
      node.database.query('SELECT * FROM pools WHERE pool_uid = $1', [pool.uid]),
      node.database.query('SELECT * FROM ratings WHERE pool_uid = $1 ORDER BY player_id', [pool.uid]),
      node.database.query('SELECT * FROM rating_changes WHERE pool_uid = $1 ORDER BY position, player_id', [pool.uid]),
      node.database.query(
        `SELECT position, payload FROM outbox WHERE topic = 'rating-changed' AND (payload::jsonb ->> 'poolUid')::int = $1
         ORDER BY position`,
        [pool.uid],
      ),
    ]);
  const allGames = async (): Promise<RecordedGame[]> =>
    (await gamesOfPool(node.database, pool.uid, { playerId: null, beforePosition: null, limit: 10_000 })).reverse();
  const expectLikePlainElo = async (): Promise<void> => {
    const games = await allGames();
    const model = new PlainElo();
    for (const { players, isRated, changes } of games) {
      const before = players.map(({ playerId }) => model.of(playerId));
      model.play(players);
      expect([isRated, changes.map(({ playerId }) => playerId)]).toEqual([true, players.map((one) => one.playerId)]);
      changes.forEach((change, index) => {
        expect(change.before).toBeCloseTo(before[index]!, 8);
        expect(change.after).toBeCloseTo(model.of(change.playerId), 8);
      });
    }
    for (const [playerId, rating] of model.ratings) expect(await node.ratingOf(pool, playerId)).toBeCloseTo(rating, 8);
    const state = { games: games.length, pending: 0, players: model.ratings.size };
    expect(await node.pools.get(pool.id)).toMatchObject({ ...state, ratedPosition: games.at(-1)!.position });
  };

  it('give the ratings of the worked examples', async () => {
    await play({ ada: 1, bob: 2 });
    expect(await ratingsOf('ada', 'bob', 'cy')).toEqual([1516, 1484, null]);
    pool = await node.makePool(`p${(made += 1)}`);
    await play({ ada: 1, bob: 2, cy: 2, di: 4 });
    expect(await ratingsOf('ada', 'bob', 'cy', 'di')).toEqual([1516, 1500, 1500, 1484]);
    pool = await node.makePool(`p${(made += 1)}`);
    await play({ ada: 1, bob: 2 }, { bob: 1, cy: 2 }, { ada: 1, bob: 1 });
    const [ada, bob, cy] = await ratingsOf('ada', 'bob', 'cy');
    expect([ada!.toFixed(6), bob!.toFixed(6), cy!.toFixed(6)]).toEqual(['1515.297533', '1501.438774', '1483.263693']);
    const [third] = await gamesById(node.database, pool.uid, ['g3']);
    expect(third).toMatchObject({ isRated: true, unrated: null });
    expect(third!.changes[0]).toMatchObject({ playerId: 'ada', before: 1516, k: 32 });
    const [, second] = await node.ratingsOf(pool, 'bob');
    expect(third!.changes[1]!.before).toBe(second);
  });

  it('are rated in the order of their positions, whoever records and whoever rates', async () => {
    const names = Array.from({ length: 12 }, (_, index) => `player ${index}`);
    const nameAt = (index: number): string => names[index % names.length]!;
    let isOver = false;
    const rating = [node, other].map(async (by) => {
      while (!isOver) await by.rater.rate(pool.uid);
    });
    await Promise.all(
      [node, other].flatMap((by, process) =>
        Array.from({ length: 250 }, async (_, index) => {
          await new Promise((resolve) => setTimeout(resolve, index));
          const [a, b] = [nameAt(index * 7 + process), nameAt(index * 7 + process + 1 + (index % 5))];
          await record(`g${process}-${index}`, { [a]: 1 + (index % 3 === 0 ? 1 : 0), [b]: 1 + (index % 2) }, by);
        }),
      ),
    );
    isOver = true;
    await Promise.all(rating);
    await node.rater.rate(pool.uid);
    await expectLikePlainElo();
  });

  it('are rated in as many turns as they need', async () => {
    const places = (index: number): Places => ({ [`p${index % 9}`]: 1, [`p${9 + (index % 4)}`]: 2 });
    await Promise.all(Array.from({ length: 1201 }, (_, index) => record(`g${index}`, places(index))));
    expect(await node.rater.rate(pool.uid)).toBe(false);
    await expectLikePlainElo();
  });

  it('are rated once, however often it rings', async () => {
    await play({ ada: 1, bob: 2 }, { ada: 1, bob: 2 });
    const before = await written();
    expect((before[3] as unknown[]).length).toBe(2);
    for (const by of [node, other, node]) await by.rater.rate(pool.uid);
    await Promise.all([node, other, node, other].map((by) => by.rater.rate(pool.uid)));
    expect(await written()).toEqual(before);
  });

  it('tell of each player once for the games that were rated together', async () => {
    await play({ ada: 1, bob: 2 }, { ada: 1, bob: 2 }, { cy: 1, bob: 2 });
    const [, , changes, events] = (await written()) as [unknown, unknown, unknown[], { payload: string }[]];
    expect(changes).toHaveLength(6);
    const { ratedPosition } = await node.pools.get(pool.id);
    const told = events.map(({ payload }) => JSON.parse(payload) as { playerId: string });
    expect(told.map(({ playerId }) => playerId).sort()).toEqual(['ada', 'bob', 'cy']);
    expect(told.find(({ playerId }) => playerId === 'ada')).toMatchObject({
      ...{ type: 'rating-changed', poolUid: pool.uid, ratedPosition },
      rating: { games: 2, wins: 2, state: { rating: (await node.ratingOf(pool, 'ada'))! } },
    });
  });

  it('leave nothing behind when the process ends before the commit, and are rated by the next', async () => {
    await record('g1', { ada: 1, bob: 2 });
    const before = await written();
    interrupted.beforeCommit(() => Promise.reject(new Error('killed')));
    await expect(node.rater.rate(pool.uid)).rejects.toThrow('killed');
    expect(await written()).toEqual(before);
    await other.rater.rate(pool.uid);
    await expectLikePlainElo();
  });

  it('are left to who has the turn, who looks once more when it is done', async () => {
    await record('g1', { ada: 1, bob: 2 });
    let passedBy = false;
    interrupted.before(takesLane, async () => {
      // Recorded after the turn has read what there is, and rung for while it still lasts.
      await record('g2', { ada: 1, bob: 2 }, other);
      await other.rater.rate(pool.uid);
      passedBy = (await other.pools.get(pool.id)).ratedPosition === 0;
    });
    await node.rater.rate(pool.uid);
    expect(passedBy).toBe(true);
    await expectLikePlainElo();
  });

  it('are not rated by one whom another was faster than, though it does not know', async () => {
    await record('g1', { ada: 1, bob: 2 });
    let byOther: unknown[] = [];
    interrupted.before(takesLane, async () => {
      // As if the lock of the turn had gone with a connection: the other rates the same game.
      const [{ position } = { position: 0 }] = await gamesById(other.database, pool.uid, ['g1']);
      await other.database.query('UPDATE pools SET rated_position = $2, games_rated = 1 WHERE pool_uid = $1', [
        pool.uid,
        position,
      ]);
      byOther = await written();
    });
    await node.rater.rate(pool.uid);
    expect(byOther).toHaveLength(4);
    expect(await written()).toEqual(byOther);
  });

  it('are rated by the sweep where nobody rang', async () => {
    await record('g1', { ada: 1, bob: 2 });
    await node.rater.sweep(new AbortController().signal);
    await expectLikePlainElo();
  });

  it('whose numbers would not be finite are put aside, and the others go on', async () => {
    const elo = RATING_ALGORITHMS.find(({ name }) => name === 'elo')!;
    const spoiled: RatingAlgorithm = {
      ...elo,
      name: 'spoiled',
      rate: (parameters, game) =>
        elo.rate!(parameters, game).map((one, _index, all) => ({
          ...one,
          expected: all.some(({ playerId }) => playerId === 'mallory') ? NaN : one.expected,
        })),
    };
    node.ofTeams.push(spoiled);
    try {
      pool = await node.makePool(`p${(made += 1)}`, { algorithm: 'spoiled' });
      await play({ ada: 1, bob: 2 }, { ada: 1, mallory: 2 }, { bob: 1, ada: 2 });
      const games = await allGames();
      expect(games.map(({ unrated, isRated, changes }) => [unrated, isRated, changes.length])).toEqual([
        [null, true, 2],
        ['NUMERIC', true, 0],
        [null, true, 2],
      ]);
      expect(await node.ratingOf(pool, 'mallory')).toBeNull();
      expect(await node.pools.get(pool.id)).toMatchObject({ games: 3, pending: 0, players: 2 });
    } finally {
      node.ofTeams.pop();
    }
  });

  it('of a pool that is gone are not rated', async () => {
    await record('g1', { ada: 1, bob: 2 });
    await node.pools.delete(pool.id, null, 'test');
    expect(await node.rater.rate(pool.uid)).toBe(false);
    expect(await node.ratingOf(pool, 'ada')).toBeNull();
  });
});
