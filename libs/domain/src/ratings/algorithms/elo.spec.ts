import { poolGame, ratedPlayers, ratingPool, ratingsAfter } from '@laddercast/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { foldGames, rateGame } from '../fold.js';
import type { PoolGame } from '../game.js';
import type { RatingState } from '../rating-algorithm.js';

const elo = ratingPool('elo');

/** The numbers as a contract prints them: six decimals. */
const printed = (ratings: Record<string, number>): Record<string, number> =>
  Object.fromEntries(Object.entries(ratings).map(([id, rating]) => [id, Math.round(rating * 1e6) / 1e6]));

describe('Elo of two players', () => {
  it('gives the winner of equals half of K', () => {
    expect(ratingsAfter(elo, [poolGame(1, { ada: 1, bob: 2 })])).toEqual({ ada: 1516, bob: 1484 });
  });

  it('leaves equals who draw where they are, whoever is named first', () => {
    expect(ratingsAfter(elo, [poolGame(1, { ada: 1, bob: 1 })])).toEqual({ ada: 1500, bob: 1500 });
    expect(ratingsAfter(elo, [poolGame(1, { bob: 1, ada: 1 })])).toEqual({ ada: 1500, bob: 1500 });
  });

  const three = [poolGame(1, { ada: 1, bob: 2 }), poolGame(2, { bob: 1, cy: 2 }), poolGame(3, { ada: 1, bob: 1 })];

  it('carries ratings from game to game, in the order of positions', () => {
    const expected = { ada: 1515.297533, bob: 1501.438774, cy: 1483.263693 };
    expect(printed(ratingsAfter(elo, three))).toEqual(expected);
    expect(printed(ratingsAfter(elo, three.toReversed()))).toEqual(expected);
    expect(printed(ratingsAfter(elo, three.slice(1)))).toEqual({ ada: 1500.736307, bob: 1515.263693, cy: 1484 });
  });

  it('keeps with each change what it was, what it became, what was expected and the K', () => {
    const [, , third] = foldGames(elo, new Map(), three).games;
    expect(third!.unrated).toBeNull();
    expect(third!.engine).toBe('elo@1');
    const [ada, bob] = third!.changes;
    expect(ada).toMatchObject({ playerId: 'ada', k: 32, outcome: 'draw', before: { rating: 1516 } });
    // 1516 against 1500.736307.
    expect(ada!.expected).toBeCloseTo(1 / (1 + 10 ** (-15.263693 / 400)), 9);
    expect(ada!.expected + bob!.expected).toBeCloseTo(1, 12);
    const { expected } = foldGames(elo, ratedPlayers(elo, { ada: 1515.297533, bob: 1501.438774 }), [three[0]!])
      .games[0]!.changes[0]!;
    expect(expected).toBeCloseTo(0.519934, 6);
  });

  it('agrees with the printed example of a 1613 player who meets five others in one event', () => {
    // Wikipedia, "Elo rating system", Mathematical details: 0.51, 0.69, 0.79, 0.54, 0.35 are expected, 2.88 in all.
    const chances = [1609, 1477, 1388, 1586, 1720].map((rating) =>
      elo.algorithm.winChance(elo.parameters, [stateOf(1613)], [stateOf(rating)], 2),
    );
    expect(chances.map((chance) => Math.round(chance * 100) / 100)).toEqual([0.51, 0.69, 0.79, 0.54, 0.35]);
  });
});

const stateOf = (rating: number): RatingState => ({ ...elo.algorithm.newcomer(elo.parameters), rating });

describe('Elo of several sides', () => {
  it('rates each pair of sides, weighing 1/(n − 1)', () => {
    expect(ratingsAfter(elo, [poolGame(1, { ada: 1, bob: 2, cy: 2, di: 4 })])).toEqual({
      ada: 1516,
      bob: 1500,
      cy: 1500,
      di: 1484,
    });
  });

  it('agrees with the README of multielo, whose K 32 for four is our 48', () => {
    const pool = ratingPool('elo', { k: 48 });
    const players = ratedPlayers(pool, { a: 1200, b: 1000, c: 1100, d: 900 });
    expect(printed(ratingsAfter(pool, [poolGame(1, { a: 1, b: 2, c: 3, d: 4 })], players))).toEqual({
      a: 1212.018682,
      b: 1012.155951,
      c: 1087.844049,
      d: 887.981318,
    });
  });

  it.each([3, 12, 20, 100])('rewards each better place among %i equals', (count) => {
    const places = Object.fromEntries(
      Array.from({ length: count }, (_, at) => [`p${String(at).padStart(3, '0')}`, at + 1]),
    );
    const ratings = Object.values(ratingsAfter(elo, [poolGame(1, places)]));
    expect(ratings).toHaveLength(count);
    expect(ratings[0]).toBeCloseTo(1516, 9);
    expect(ratings.at(-1)).toBeCloseTo(1484, 9);
    for (const [at, rating] of ratings.entries()) if (at > 0) expect(rating).toBeLessThan(ratings[at - 1]!);
  });

  it('takes a team for the mean of its members, and moves each of them', () => {
    const players = ratedPlayers(elo, { ada: 1700, bob: 1300, cy: 1500 });
    expect(ratingsAfter(elo, [poolGame(1, { 'ada+bob': 1, cy: 2 })], players)).toEqual({
      ada: 1716,
      bob: 1316,
      cy: 1484,
    });
  });
});

describe('the parameters of Elo', () => {
  it('count a difference as the greatest one that is allowed', () => {
    const pool = ratingPool('elo', { differenceMax: 400 });
    const players = (rating: number): ReturnType<typeof ratedPlayers> => ratedPlayers(pool, { ada: rating, bob: 1000 });
    const gain = (rating: number): number =>
      ratingsAfter(pool, [poolGame(1, { ada: 1, bob: 2 })], players(rating))['ada']! - rating;
    expect(gain(2000)).toBe(gain(1400));
    expect(gain(1400)).toBeLessThan(gain(1399));
    expect(gain(1400)).toBeCloseTo(32 / 11, 10);
  });

  it('add the home advantage to the expectation, and not to the rating', () => {
    const pool = ratingPool('elo', { homeAdvantage: 100, k: 20 });
    const game = poolGame(1, { ada: 1, bob: 1 });
    const atHome: PoolGame = {
      ...game,
      players: game.players.map((one) => ({ ...one, isHome: one.playerId === 'ada' })),
    };
    const change = rateGame(pool, atHome, () => stateOf(1500)).changes[0]!;
    // World Football Elo: a home side is expected to score as if it were rated 100 points higher.
    expect(change.expected).toBeCloseTo(0.6400649998, 9);
    expect(change.after.rating).toBeCloseTo(1500 + 20 * (0.5 - 0.6400649998), 7);
  });

  it('multiply K by the weight of the game, and tell K without it', () => {
    const pool = ratingPool('elo', { k: 20 });
    const change = rateGame(pool, poolGame(1, { ada: 1, bob: 2 }, { weight: 10.5 }), () => stateOf(1500)).changes[0]!;
    expect(change.after.rating).toBe(1605);
    expect(change.k).toBe(20);
  });

  it('let nobody fall below the floor', () => {
    const pool = ratingPool('elo', { initial: 1000, floor: 990 });
    expect(ratingsAfter(pool, [poolGame(1, { ada: 1, bob: 2 })])).toEqual({ ada: 1016, bob: 990 });
  });

  const kOfGames = (pool: ReturnType<typeof ratingPool>, start: number, count: number): (number | null)[] =>
    foldGames(
      pool,
      ratedPlayers(pool, { ada: start }),
      Array.from({ length: count }, (_, at) => poolGame(at + 1, { ada: 1, [`newcomer-${at}`]: 1 })),
    ).games.map(({ changes }) => changes.find(({ playerId }) => playerId === 'ada')!.k);

  it("choose FIDE's K: 40 for the first 30 games, not for the thirty-first", () => {
    expect(kOfGames(ratingPool('elo', { k: 'fide' }), 1500, 31)).toEqual([...Array<number>(30).fill(40), 20]);
  });

  it("keep FIDE's K of 10 once 2400 was reached", () => {
    const pool = ratingPool('elo', { k: 'fide' });
    const state = { rating: 2401, memory: { games: 30, reachedTop: 0 } };
    const games = [poolGame(1, { ada: 2, bob: 1 }), poolGame(2, { ada: 2, bob: 1 })];
    const folded = foldGames(
      pool,
      ratedPlayers(pool, { ada: state, bob: { rating: 2399, memory: { games: 30, reachedTop: 0 } } }),
      games,
    );
    const factors = folded.games.map(({ changes }) => changes.map(({ k, after }) => [k, after.rating >= 2400]));
    expect(factors).toEqual([
      [
        [10, false],
        [20, true],
      ],
      [
        [20, false],
        [10, true],
      ],
    ]);
    const reached = { rating: 2390, memory: { games: 30, reachedTop: 1 } };
    expect(kOfGames(pool, 2390, 1)).toEqual([40]);
    expect(rateGame(pool, games[0]!, () => ({ deviation: null, volatility: null, ...reached })).changes[0]!.k).toBe(10);
  });

  it('choose the first rule of K that fits', () => {
    const k = [{ gamesBelow: 2, k: 40 }, { ratingBelow: 1600, k: 20 }, { k: 10 }];
    expect(kOfGames(ratingPool('elo', { k }), 1500, 4)).toEqual([40, 40, 20, 20]);
    expect(kOfGames(ratingPool('elo', { k }), 2400, 4)).toEqual([40, 40, 10, 10]);
    expect(
      kOfGames(ratingPool('elo', { k: [{ gamesBelow: 2, ratingBelow: 1600, k: 40 }, { k: 10 }] }), 2400, 2),
    ).toEqual([10, 10]);
  });

  it('remember no more of a player than the rules look at', () => {
    const pool = ratingPool('elo', { k: [{ gamesBelow: 2, k: 40 }, { k: 10 }] });
    const games = Array.from({ length: 3 }, (_, at) => poolGame(at + 1, { ada: 1, bob: 1 }));
    const memories = foldGames(pool, new Map(), games).games.map(({ changes }) => changes[0]!.after.memory);
    expect(memories).toEqual([{ games: 1 }, { games: 2 }, { games: 2 }]);
    expect(foldGames(elo, new Map(), games).games[2]!.changes[0]!.after.memory).toEqual({});
  });

  it.each([
    [{ k: 0 }, '/parameters/k'],
    [{ k: 'uscf' }, '/parameters/k'],
    [{ k: [] }, '/parameters/k'],
    [{ k: [{ gamesBelow: 30, k: 40 }] }, '/parameters/k/0'],
    [{ k: [{ gamesBelow: 0.5, k: 40 }, { k: 1 }] }, '/parameters/k/0/gamesBelow'],
    [{ k: [{ below: 3, k: 40 }, { k: 1 }] }, '/parameters/k/0'],
    [{ k: [7, { k: 1 }] }, '/parameters/k/0'],
    [{ scale: 0 }, '/parameters/scale'],
    [{ initial: Number.NaN }, '/parameters/initial'],
    [{ floor: 1501 }, '/parameters/floor'],
    [{ tau: 0.5 }, '/parameters/tau'],
    [{ constructor: 1 }, '/parameters/constructor'],
  ])('are refused where they are wrong: %j', (parameters, pointer) => {
    expect(() => ratingPool('elo', parameters as Record<string, unknown>)).toThrow(
      expect.objectContaining({
        code: 'VALIDATION_FAILED',
        extensions: { errors: [expect.objectContaining({ pointer })] },
      }),
    );
  });
});

describe('Elo with one K, sides of equal size and no floor', () => {
  const anyRating = fc.double({ min: -3000, max: 6000, noNaN: true });
  const anySides = fc.integer({ min: 1, max: 4 }).chain((size) =>
    fc.array(
      fc.record({
        place: fc.integer({ min: 1, max: 5 }),
        ratings: fc.array(anyRating, { minLength: size, maxLength: size }),
      }),
      {
        minLength: 2,
        maxLength: 12,
      },
    ),
  );

  it("keeps the sum of the players' ratings", () => {
    fc.assert(
      fc.property(anySides, (sides) => {
        const ids = sides.map(({ ratings }, side) => ratings.map((_, member) => `p-${side}-${member}`));
        const players = ratedPlayers(
          elo,
          Object.fromEntries(
            sides.flatMap(({ ratings }, side) => ratings.map((rating, at) => [ids[side]![at]!, rating])),
          ),
        );
        const game = poolGame(1, Object.fromEntries(sides.map(({ place }, side) => [ids[side]!.join('+'), place])));
        const { changes } = foldGames(elo, players, [game]).games[0]!;
        const moved = changes.reduce((sum, { before, after }) => sum + after.rating - before.rating, 0);
        expect(Math.abs(moved)).toBeLessThan(1e-9 * changes.length);
      }),
    );
  });
});
