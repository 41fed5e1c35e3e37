import {
  Dice,
  poolGame,
  ratedPlayers,
  ratingPool,
  ratingsAfter,
  seedOfRun,
  wengLinRated,
  type Numbers,
  type WengLinNumbers,
} from '@laddercast/testing';
import { describe, expect, it } from 'vitest';
import { foldGames } from '../fold.js';
import { refuseGameThatDoesNotFit, type RatingPool } from '../pool.js';
import { predictGame, type Prediction } from '../prediction.js';
import type { RatingState } from '../rating-algorithm.js';

const pool = ratingPool('weng-lin');
const bradleyTerry = ratingPool('weng-lin', { model: 'bradley-terry-full' });
const thurstoneMosteller = ratingPool('weng-lin', { model: 'thurstone-mosteller-full' });

/** The players of openskill's own tests, and a newcomer. */
const PLAYERS = {
  a: { rating: 29.182, deviation: 4.782 },
  b: { rating: 27.174, deviation: 4.922 },
  c: { rating: 16.672, deviation: 6.217 },
  d: {},
};

/** μ and σ of each player after one game. */
const after = (
  of: RatingPool,
  places: Record<string, number>,
  players: Record<string, Partial<RatingState>> = {},
): Record<string, [number, number]> =>
  Object.fromEntries(
    foldGames(of, ratedPlayers(of, players), [poolGame(1, places)]).games[0]!.changes.map(
      ({ playerId, after: state }) => [playerId, [state.rating, state.deviation!]],
    ),
  );

const expectNumbers = (
  given: Record<string, [number, number]>,
  expected: Record<string, [number, number]>,
  digits = 9,
): void => {
  expect(Object.keys(given).sort()).toEqual(Object.keys(expected).sort());
  for (const [id, [rating, deviation]] of Object.entries(expected)) {
    expect(given[id]![0]).toBeCloseTo(rating, digits);
    expect(given[id]![1]).toBeCloseTo(deviation, digits);
  }
};

describe('Weng-Lin by Plackett-Luce', () => {
  it('agrees with the worked numbers of a win, a draw and a game of teams', () => {
    expectNumbers(after(pool, { ada: 1, bob: 2 }), { ada: [27.635389, 8.065901], bob: [22.364611, 8.065901] }, 6);
    expectNumbers(after(pool, { ada: 1, bob: 1 }), { ada: [25, 8.065901], bob: [25, 8.065901] }, 6);
    const teams = after(pool, { 'ada+bob': 1, 'cy+di': 2 });
    const [red, blue] = [[26.964295, 8.177963] as [number, number], [23.035705, 8.177963] as [number, number]];
    expectNumbers(teams, { ada: red, bob: red, cy: blue, di: blue }, 6);
    const conservative = ([rating, deviation]: [number, number]): number =>
      pool.algorithm.conservative({ rating, deviation, volatility: null, memory: {} });
    expect(conservative(teams['ada']!)).toBeCloseTo(2.430407, 6);
    expect(conservative(teams['cy']!)).toBeCloseTo(-1.498182, 6);
  });

  // The expected numbers are those of openskill.js 5.0.1, src/__tests__/rate.test.ts, which its Python twin makes, too.
  it('agrees with the values that openskill tests itself by', () => {
    expectNumbers(after(pool, { a: 1, b: 2, c: 3, d: 4 }, PLAYERS), {
      a: [30.210227447000438, 4.765617924939384],
      b: [27.644725221915632, 4.883479590134575],
      c: [17.4036218889969, 6.101259408259549],
      d: [19.21460876538932, 7.854669920480409],
    });
    expectNumbers(after(pool, { 'a+b': 1, 'c+d': 2 }, PLAYERS), {
      a: [29.607340941337068, 4.755311788972862],
      b: [27.624602782532037, 4.892807828777459],
      c: [15.953170429143093, 6.125902065139878],
      d: [23.70858117648013, 8.111707446126035],
    });
    const surer = ratingPool('weng-lin', { tau: 0.01, limitSigma: true });
    expectNumbers(after(surer, { a: 1, b: 2 }, { a: { rating: 6.672, deviation: 0.0001 }, b: PLAYERS.a }), {
      a: [6.672012533190158, 0.0001],
      b: [26.316243774876106, 4.7540633621019],
    });
  });

  it('puts the places in order before openskill sees them', () => {
    expectNumbers(
      after(pool, { d: 4, b: 2, a: 1, c: 3 }, PLAYERS),
      after(pool, { a: 1, b: 2, c: 3, d: 4 }, PLAYERS),
      15,
    );
    expectNumbers(
      after(pool, { a: 10, b: 9 }),
      { a: after(pool, { b: 1, a: 2 })['a']!, b: after(pool, { b: 1, a: 2 })['b']! },
      15,
    );
  });

  it.each([
    { a: 1, b: 1, c: 3, d: 4 },
    { a: 1, b: 2, c: 2, d: 4 },
    { a: 1, b: 2, c: 3, d: 3 },
    { a: 2, b: 1, c: 1, d: 1 },
  ])('gives equals on equal places the same: %j', (places: Record<string, number>) => {
    const states = after(pool, places);
    for (const [id, place] of Object.entries(places)) {
      const tied = Object.keys(places).filter((other) => places[other] === place);
      for (const other of tied) {
        expect(states[id]![0]).toBeCloseTo(states[other]![0], 12);
        expect(states[id]![1]).toBeCloseTo(states[other]![1], 12);
      }
    }
  });

  it('lets the stronger lose points to the weaker with a draw', () => {
    const drawn = after(pool, { a: 1, c: 1 }, PLAYERS);
    expect(drawn['a']![0]).toBeLessThan(PLAYERS.a.rating);
    expect(drawn['c']![0]).toBeGreaterThan(PLAYERS.c.rating);
  });

  it.each([3, 20, 100])('rewards the better place of %i equals', (count) => {
    const ids = Array.from({ length: count }, (_, at) => `p${String(at).padStart(3, '0')}`);
    const ratings = Object.values(after(pool, Object.fromEntries(ids.map((id, at) => [id, at + 1])))).map(
      ([rating]) => rating,
    );
    for (const [at, rating] of ratings.entries()) if (at > 0) expect(rating).toBeLessThan(ratings[at - 1]!);
  });

  it('refuses ratings so far apart that its exponentials overflow, and goes on', () => {
    const far = { ada: { rating: 40_000 }, bob: { rating: 0 } };
    const { games, players } = foldGames(pool, ratedPlayers(pool, far), [
      poolGame(1, { ada: 1, bob: 2 }),
      poolGame(2, { bob: 1, cy: 2 }),
    ]);
    expect(games.map(({ unrated }) => unrated)).toEqual(['NUMERIC', null]);
    expect([...players.keys()]).toEqual(['bob', 'cy']);
  });
});

describe('the full models of Weng-Lin', () => {
  const seed = seedOfRun();

  // openskill.js 5.0.1, src/models/__tests__, which know no tau.
  const alone = { tau: 0 };

  it('agree with the values that openskill tests Bradley-Terry by', () => {
    const full = ratingPool('weng-lin', { model: 'bradley-terry-full', ...alone });
    expectNumbers(after(full, { a: 1, b: 2, c: 3 }), {
      a: [30.2704627669473, 7.788474807872566],
      b: [25, 7.788474807872566],
      c: [19.7295372330527, 7.788474807872566],
    });
    expectNumbers(after(full, { 'a+b+c': 1, d: 2, 'e+f': 3 }), {
      a: [25.992743915179297, 8.19709997489984],
      b: [25.992743915179297, 8.19709997489984],
      c: [25.992743915179297, 8.19709997489984],
      d: [28.48909130001799, 8.220848339985736],
      e: [20.518164784802714, 8.127515465304823],
      f: [20.518164784802714, 8.127515465304823],
    });
  });

  it('agree with a series of three games that openskill tests Bradley-Terry by, ties included', () => {
    const games = [
      poolGame(1, { p0: 1, p1: 2, p2: 2, p3: 4, p4: 4 }),
      poolGame(2, { p4: 1, p2: 2, p1: 2 }),
      poolGame(3, { p3: 1, p1: 1, p2: 3, p0: 3 }),
    ];
    const { players } = foldGames(bradleyTerry, new Map(), games);
    // Numbers of rank-1.02, by the authors of the paper; openskill, too, looks at two digits of them.
    const printed = { p0: 27.643471362, p1: 28.84497938, p2: 20.705805441, p3: 24.387640207, p4: 23.354955778 };
    for (const [id, rating] of Object.entries(printed)) expect(players.get(id)!.state.rating).toBeCloseTo(rating, 2);
  });

  it('agree with the values that openskill tests Thurstone-Mosteller by', () => {
    const full = ratingPool('weng-lin', { model: 'thurstone-mosteller-full', ...alone });
    expectNumbers(after(full, { a: 1, b: 2 }), {
      a: [29.230718708993216, 7.630934718709003],
      b: [20.769281291006784, 7.630934718709003],
    });
    expectNumbers(after(full, { a: 1, b: 2, c: 3, d: 4 }), {
      a: [37.69215612697965, 5.983694941648218],
      b: [29.230718708993216, 5.983694941648218],
      c: [20.769281291006784, 5.983694941648218],
      d: [12.307843873020353, 5.983694941648218],
    });
  });

  const sidesOf = (count: number): Record<string, number> =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`p${at}`, at + 1]));

  it.each([
    [bradleyTerry, 8],
    [thurstoneMosteller, 4],
  ])('take no more sides than they stand', (of, sidesMax) => {
    const fits = (count: number): void => refuseGameThatDoesNotFit(of, poolGame(1, sidesOf(count)).players, 1);
    fits(sidesMax);
    expect(() => fits(sidesMax + 1)).toThrow(expect.objectContaining({ code: 'PLAYERS_NOT_SUPPORTED' }));
    refuseGameThatDoesNotFit(pool, poolGame(1, sidesOf(100)).players, 1);
  });

  it(`agree with the formulas of the paper, where no side is so far ahead that openskill approximates, seed ${seed}`, () => {
    const dice = new Dice(seed);
    const number = (): Numbers => ({ rating: 20 + 10 * dice.next(), deviation: 2 + 6 * dice.next(), volatility: 0 });
    for (let round = 0; round < 100; round++) {
      const size = dice.from(1, 2);
      const sides = Array.from({ length: dice.from(2, 4) }, () => ({
        place: dice.from(1, 4),
        isHome: false,
        members: Array.from({ length: size }, number),
      }));
      const ids = sides.map(({ members }, side) => members.map((_, at) => `p-${side}-${at}`));
      const states = Object.fromEntries(
        sides.flatMap(({ members }, side) =>
          members.map((numbers, at) => [ids[side]![at]!, { ...numbers, volatility: null }]),
        ),
      );
      for (const tested of [thurstoneMosteller, bradleyTerry, pool]) {
        const { model, ...numbers } = tested.parameters as WengLinNumbers & { model: string };
        const game = poolGame(1, Object.fromEntries(sides.map(({ place }, side) => [ids[side]!.join('+'), place])));
        const { changes } = foldGames(tested, ratedPlayers(tested, states), [game]).games[0]!;
        const expected = wengLinRated(sides, model, numbers);
        for (const [side, members] of expected.entries()) {
          for (const [at, { rating, deviation }] of members.entries()) {
            const { after: state } = changes.find(({ playerId }) => playerId === ids[side]![at])!;
            expect(state.rating).toBeCloseTo(rating, 9);
            expect(state.deviation).toBeCloseTo(deviation, 9);
          }
        }
      }
    }
  });

  // By how much is said in docs/ratings.md. c of two newcomers is 13.2.
  it.each([
    [8.333, { ada: 1, bob: 1 }, { near: 47, far: [50, 60, 70, 80], off: [0.035, 0.045] }],
    [2, { ada: 1, bob: 1 }, { near: 22, far: [25, 30, 35, 40], off: [0.008, 0.01] }],
    [8.333, { ada: 1, bob: 2 }, { near: 70, far: [105, 107, 110, 120, 150], off: [0.4, 1.5] }],
    [2, { ada: 1, bob: 2 }, { near: 40, far: [55, 60, 70, 150], off: [0.02, 0.08] }],
  ])(
    'approximate Thurstone-Mosteller far apart, at a deviation of %d after %j',
    (deviation, places, { near, far, off }) => {
      const byPaper = (gap: number): number => {
        const members = [0, gap].map((rating) => [{ rating, deviation, volatility: 0 }]);
        const sides = Object.values(places).map((place, at) => ({ place, isHome: false, members: members[at]! }));
        const numbers = thurstoneMosteller.parameters as WengLinNumbers;
        return wengLinRated(sides, 'thurstone-mosteller-full', numbers)[0]![0]!.rating;
      };
      const made = (gap: number): number => {
        const players = { ada: { rating: 0, deviation }, bob: { rating: gap, deviation } };
        return after(thurstoneMosteller, places, players)['ada']![0];
      };
      expect(made(near)).toBeCloseTo(byPaper(near), 6);
      for (const gap of far) {
        expect(byPaper(gap) - made(gap), `${gap} apart`).toBeGreaterThan(off[0]!);
        expect(byPaper(gap) - made(gap), `${gap} apart`).toBeLessThan(off[1]!);
      }
    },
  );

  /** A season of races: the same drivers, now and then a newcomer for one of them, the last ones not placed. */
  const race = (of: RatingPool, racers: number, races: number): number => {
    const dice = new Dice(7);
    const drivers = Array.from({ length: racers }, (_, at) => `p${at}`);
    const placed = Math.max(2, racers - 8);
    const games = Array.from({ length: races }, (_, at) => {
      const keys = new Map(drivers.map((driver, strength) => [driver, strength + 3 * dice.next()]));
      const order = [...drivers].sort((a, b) => keys.get(a)! - keys.get(b)!);
      if (at % 20 === 19) drivers[dice.below(racers)] = `new-${at}`;
      return poolGame(at + 1, Object.fromEntries(order.map((driver, index) => [driver, Math.min(index + 1, placed)])));
    });
    const { players } = foldGames(of, new Map(), games);
    return Math.max(...[...players.values()].map(({ state }) => Math.abs(state.rating)));
  };

  it('would throw ratings far beyond all others with more sides', () => {
    expect(race(thurstoneMosteller, 20, 1)).toBeGreaterThan(100);
    expect(race(thurstoneMosteller, 20, 280)).toBeGreaterThan(1000);
    expect(race(bradleyTerry, 20, 1)).toBeGreaterThan(70);
    expect(race(thurstoneMosteller, 4, 1)).toBeLessThan(40);
    expect(race(bradleyTerry, 8, 1)).toBeLessThan(45);
    expect(race(pool, 20, 1)).toBeLessThan(30);
  });
});

describe('what Weng-Lin expects', () => {
  const states = (players: Partial<RatingState>[]): RatingState[] =>
    players.map((player) => ({ ...pool.algorithm.newcomer(pool.parameters), ...player }));
  // openskill.js 5.0.1, src/__tests__/predict-win.test.ts and predict-draw.test.ts.
  const [a1, a2] = states([{}, { rating: 32.444, deviation: 5.123 }]);
  const [b1, b2] = states([
    { rating: 73.381, deviation: 1.421 },
    { rating: 25.188, deviation: 6.211 },
  ]);
  const expected = (...sides: RatingState[][]): Prediction => predictGame(pool, sides, { atMs: 0, period: null });

  it('agrees with the values that openskill tests its predictions by', () => {
    const two = expected([a1!, a2!], [b1!, b2!]).win;
    expect(two[0]).toBeCloseTo(0.0008308945674377, 9);
    const four = expected([a1!, a2!], [b1!, b2!], [a2!], [b2!]).win;
    for (const [at, chance] of [
      0.32579822053781543, 0.49965489287103865, 0.12829642754274315, 0.04625045904840272,
    ].entries()) {
      expect(four[at]).toBeCloseTo(chance, 7);
    }
    const [sure, alike] = states([
      { rating: 35, deviation: 1 },
      { rating: 35, deviation: 1.1 },
    ]);
    expect(expected([sure!], [alike!]).draw).toBeCloseTo(0.4868868769871696, 7);
  });

  it('is kept with each change: of two sides the chance, of more the mean over the pairs', () => {
    const { games } = foldGames(pool, ratedPlayers(pool, PLAYERS), [
      poolGame(1, { a: 1, b: 2 }),
      poolGame(2, { a: 1, c: 2, d: 3 }),
    ]);
    const [of2, of3] = games.map(({ changes }) => changes.map(({ expected }) => expected));
    expect(of2![0]! + of2![1]!).toBeCloseTo(1, 12);
    expect(of2![0]).toBeGreaterThan(0.5);
    expect(of3!.reduce((sum, one) => sum + one, 0)).toBeCloseTo(1.5, 12);
    expect(games[0]!.changes.every(({ k }) => k === null)).toBe(true);
  });
});

describe('the parameters of Weng-Lin', () => {
  it.each([{ model: 'bradley-terry-part' }, { model: 'thurstone-mosteller-part' }, { margin: 2 }])(
    'are refused where nobody knows what they should do: %j',
    (parameters) => {
      expect(() => ratingPool('weng-lin', parameters)).toThrow(expect.objectContaining({ code: 'NOT_SUPPORTED' }));
    },
  );

  it.each([{ model: 'glicko' }, { tau: -1 }, { limitSigma: 1 }, { sigma: 8 }])(
    'are refused where they are wrong: %j',
    (parameters) => {
      expect(() => ratingPool('weng-lin', parameters)).toThrow(expect.objectContaining({ code: 'VALIDATION_FAILED' }));
    },
  );

  it('weigh no game, and say so', () => {
    const { players } = poolGame(1, { ada: 1, bob: 2 });
    expect(() => refuseGameThatDoesNotFit(pool, players, 2)).toThrow(
      expect.objectContaining({ code: 'NOT_SUPPORTED' }),
    );
    refuseGameThatDoesNotFit(pool, players, 1);
    expect(Object.keys(ratingsAfter(pool, [poolGame(1, { ada: 1, bob: 2 })]))).toHaveLength(2);
  });
});
