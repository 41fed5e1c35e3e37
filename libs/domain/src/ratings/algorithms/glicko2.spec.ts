import { poolGame, ratedPlayers, ratingPool, ratingsAfter } from '@laddercast/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { foldGames, rateGame } from '../fold.js';
import type { PeriodGame, PeriodRating, RatingState } from '../rating-algorithm.js';

const DAY_MS = 86_400_000;
const SCALE = 173.7178;
const perGame = ratingPool('glicko2');
const perPeriod = ratingPool('glicko2', {}, { update: 'per-period' });

const player = (rating: number, deviation: number, memory: Record<string, number> = {}): RatingState => ({
  rating,
  deviation,
  volatility: 0.06,
  memory,
});

const ratePeriod = (state: RatingState, games: PeriodGame[], period = 1, pool = perPeriod): PeriodRating =>
  pool.algorithm.ratePeriod!(pool.parameters, state, games, period);

const result = (rating: number, deviation: number, score: number): PeriodGame => ({
  opponent: player(rating, deviation),
  score,
  home: 0,
});

/** The three opponents of the paper's example, with the scores against them. */
const opponents = (...scores: [number, number, number]): PeriodGame[] => [
  result(1400, 30, scores[0]),
  result(1550, 100, scores[1]),
  result(1700, 300, scores[2]),
];

describe('Glicko-2 by periods', () => {
  it("agrees with the paper's example, and with more of its digits", () => {
    const { after, games } = ratePeriod(player(1500, 200), opponents(1, 0, 0));
    expect(after.rating).toBeCloseTo(1464.050671, 6);
    expect(after.deviation).toBeCloseTo(151.516524, 6);
    expect(after.volatility).toBeCloseTo(0.059996, 6);
    // Printed: 1464.06, 151.52, 0.05999, out of numbers rounded on the way.
    expect(Math.abs(after.rating - 1464.06)).toBeLessThan(0.01);
    expect(after.deviation).toBeCloseTo(151.52, 2);
    expect(Math.abs(after.volatility! - 0.05999)).toBeLessThan(1e-5);
    // Step 3 prints E: 0.639, 0.432, 0.303.
    expect(games.map(({ expected }) => Math.round(expected * 1000) / 1000)).toEqual([0.639, 0.432, 0.303]);
  });

  it('takes the deviation into the volatility, not the rating, which the example would not notice', () => {
    const { after } = ratePeriod(player(2200, 80), opponents(0, 0, 0));
    expect(after.volatility).toBeCloseTo(0.060084, 6);
    expect(after.volatility).not.toBeCloseTo(0.060015, 6);
  });

  it('lets the deviation of newcomers fall from what a period adds to it', () => {
    // As calculators of the paper's formulas have it: a newcomer beats a newcomer.
    const { after } = ratePeriod(player(1500, 350), [result(1500, 350, 1)]);
    expect(after.rating).toBeCloseTo(1662.31, 2);
    expect(after.deviation).toBeCloseTo(290.32, 2);
  });

  it('adds the periods without games first, to the player and to the opponents', () => {
    const [games, last] = [opponents(1, 0, 0), { period: 4 }];
    const idle = ratePeriod(player(1500, 200, last), games, 15);
    const grown = Math.sqrt(200 ** 2 + 10 * (0.06 * SCALE) ** 2);
    expect(idle.after.rating).toBe(ratePeriod(player(1500, grown), games).after.rating);
    expect(idle.after.memory).toEqual({ period: 15 });
    expect(ratePeriod(player(1500, 200, last), games, 5).after.rating).toBe(
      ratePeriod(player(1500, 200), games).after.rating,
    );
    const grownBy = (opponent: RatingState): number => Math.sqrt(opponent.deviation! ** 2 + 10 * (0.06 * SCALE) ** 2);
    const away = games.map((game) => ({ ...game, opponent: { ...game.opponent, memory: last } }));
    const older = games.map((game) => ({ ...game, opponent: player(game.opponent.rating, grownBy(game.opponent)) }));
    expect(ratePeriod(player(1500, 200), away, 15)).toEqual(ratePeriod(player(1500, 200), older, 15));
  });

  it('takes a player home', () => {
    const pool = ratingPool('glicko2', { homeAdvantage: 50 }, { update: 'per-period' });
    const at = (home: number): number =>
      ratePeriod(player(1500, 200), [{ ...result(1500, 200, 1), home }], 1, pool).games[0]!.expected;
    expect(at(1)).toBeGreaterThan(0.5);
    expect(at(1) + at(-1)).toBeCloseTo(1, 12);
  });
});

describe('Glicko-2 with each game', () => {
  const first = poolGame(1, { ada: 1, bob: 2 }, { playedAtMs: 0 });
  const later = poolGame(2, { ada: 1, bob: 1 }, { playedAtMs: 30 * DAY_MS });

  it('agrees with the worked numbers of a win, and of a draw 30 days later', () => {
    const { games } = foldGames(perGame, new Map(), [first, later]);
    const [won, lost] = games[0]!.changes;
    expect(won!.after.rating).toBeCloseTo(1662.212001, 6);
    expect(won!.after.deviation).toBeCloseTo(290.230508, 6);
    expect(lost!.after.rating).toBeCloseTo(1337.787999, 6);
    const [ada, bob] = games[1]!.changes;
    expect(ada!.after.rating).toBeCloseTo(1576.534007, 6);
    expect(ada!.after.deviation).toBeCloseTo(260.888793, 6);
    expect(ada!.after.volatility).toBeCloseTo(0.059999, 6);
    expect(bob!.after.rating).toBeCloseTo(1423.465993, 6);
    expect(ada!.after.memory).toEqual({ playedAtMs: 30 * DAY_MS });
  });

  it('lets the deviation grow with the time since the last game once, and not with the game', () => {
    const settled = ratedPlayers(perGame, {
      ada: player(1500, 60, { playedAtMs: 0 }),
      bob: player(1500, 60, { playedAtMs: 0 }),
    });
    const games = Array.from({ length: 200 }, (_, at) => poolGame(at + 1, { ada: 1, bob: 1 }, { playedAtMs: 0 }));
    const at = foldGames(perGame, settled, games).games.map(({ changes }) => changes[0]!.after.deviation!);
    for (const [index, deviation] of at.entries()) if (index > 0) expect(deviation).toBeLessThan(at[index - 1]!);
    expect(at.at(-1)).toBeLessThan(25);
  });

  it('counts no inactivity backwards: a game reported late', () => {
    const late = poolGame(3, { ada: 1, bob: 2 }, { playedAtMs: 10 * DAY_MS });
    const { players, games } = foldGames(perGame, new Map(), [first, later, late]);
    expect(games[2]!.changes[0]!.after.memory).toEqual({ playedAtMs: 30 * DAY_MS });
    const onTime = foldGames(perGame, new Map(), [first, later, { ...late, playedAtMs: 30 * DAY_MS }]);
    expect(players.get('ada')!.state).toEqual(onTime.players.get('ada')!.state);
  });

  it('keeps deviation and volatility within their bounds', () => {
    const bounded = ratingPool('glicko2', { deviationMin: 250, volatilityMax: 0.06 });
    const { games } = foldGames(bounded, new Map(), [first, later, { ...first, position: 3 }]);
    for (const { changes } of games)
      for (const { after } of changes) expect(after.deviation).toBeGreaterThanOrEqual(250);
    expect(games[2]!.changes[0]!.after.deviation).toBe(250);
    // An upset of somebody well known raises the volatility.
    const upset = (pool: typeof perGame): number | null =>
      rateGame(pool, first, (id) => player(id === 'ada' ? 1000 : 2500, 40)).changes[0]!.after.volatility;
    expect(upset(perGame)).toBeGreaterThan(0.06);
    expect(upset(bounded)).toBe(0.06);
  });

  it('stays finite where a surprise is all but impossible', () => {
    const upset = rateGame(perGame, first, (id) => player(id === 'ada' ? -5000 : 15_000, 350));
    expect(upset.unrated).toBeNull();
    expect(upset.changes[0]!.after.rating).toBeGreaterThan(-5000);
    const expected = rateGame(perGame, first, (id) => player(id === 'bob' ? -5000 : 15_000, 350));
    expect(expected.changes[0]!.after.rating).toBeCloseTo(15_000, 6);
    const absurd = rateGame(perGame, first, (id) => player(id === 'ada' ? -1e6 : 1e6, 30));
    expect(absurd).toMatchObject({ unrated: 'NUMERIC', changes: [] });
  });

  it('raises nobody who loses and lowers nobody who wins, whatever lies between their games', () => {
    const anyPlayer = fc.record({
      rating: fc.double({ min: 0, max: 3500, noNaN: true }),
      deviation: fc.double({ min: 20, max: 350, noNaN: true }),
      volatility: fc.double({ min: 0.02, max: 0.1, noNaN: true }),
      days: fc.integer({ min: 0, max: 1000 }),
    });
    fc.assert(
      fc.property(anyPlayer, anyPlayer, (ada, bob) => {
        const state = ({ days, ...rest }: typeof ada): RatingState => ({
          ...rest,
          memory: { playedAtMs: -days * DAY_MS },
        });
        const [won, lost] = rateGame(perGame, first, (id) => state(id === 'ada' ? ada : bob)).changes;
        expect(won!.after.rating).toBeGreaterThanOrEqual(ada.rating);
        expect(lost!.after.rating).toBeLessThanOrEqual(bob.rating);
        expect(won!.after.deviation!).toBeLessThanOrEqual(350);
      }),
    );
  });
});

describe('an idle player', () => {
  const deviationAfter = (state: RatingState, days: number, pool = perGame): number =>
    pool.algorithm.aged!(pool.parameters, state, { atMs: days * DAY_MS, period: null }).deviation!;

  it('grows uncertain by √(φ² + n·σ²): from 60 to 110 in a year of 0.21436 periods a day', () => {
    const lichess = ratingPool('glicko2', { periodDays: 1 / 0.21436 });
    expect(deviationAfter(player(1500, 60, { playedAtMs: 0 }), 365, lichess)).toBeCloseTo(110, 1);
  });

  it('is no more uncertain than a newcomer, ever', () => {
    expect(deviationAfter(player(1500, 60, { playedAtMs: 0 }), 100_000)).toBe(350);
    const surer = ratingPool('glicko2', { deviation: 200 });
    expect(deviationAfter(player(1500, 60, { playedAtMs: 0 }), 100_000, surer)).toBe(200);
    expect(deviationAfter(player(1500, 60, { playedAtMs: 5 * DAY_MS }), 2)).toBe(60);
  });

  const idleUntil = (state: RatingState, deviation: number, pool = perGame): unknown =>
    pool.algorithm.idleUntil!(pool.parameters, state, deviation);

  it('passes a bound when the closed form says so: from 45 to 75 in 231.958 days', () => {
    const state = player(1500, 45, { playedAtMs: 0 });
    const { atMs } = idleUntil(state, 75) as { atMs: number };
    expect(atMs / DAY_MS).toBeCloseTo(231.958, 3);
    expect(deviationAfter(state, (atMs - 1) / DAY_MS)).toBeLessThan(75);
    expect(deviationAfter(state, atMs / DAY_MS)).toBeGreaterThanOrEqual(75);
    expect(idleUntil(player(1500, 80, { playedAtMs: 7 }), 75)).toEqual({ atMs: 7 });
  });

  it('never passes a bound that no newcomer passes, nor one before the first game', () => {
    expect(idleUntil(player(1500, 45, { playedAtMs: 0 }), 350)).toBeNull();
    expect(idleUntil(player(1500, 45), 75)).toBeNull();
    expect(idleUntil({ ...player(1500, 45, { playedAtMs: 0 }), volatility: 1e-12 }, 75)).toBeNull();
  });

  it('passes it by periods as the first period that is the running one', () => {
    const { aged } = perPeriod.algorithm;
    const state = player(1500, 45, { period: 10 });
    const deviationIn = (period: number): number => aged!(perPeriod.parameters, state, { atMs: 0, period }).deviation!;
    const { period } = idleUntil(state, 75, perPeriod) as { period: number };
    expect(deviationIn(10)).toBe(45);
    expect(deviationIn(11)).toBe(45);
    expect(deviationIn(12)).toBeCloseTo(Math.sqrt(45 ** 2 + (0.06 * SCALE) ** 2), 10);
    expect(deviationIn(period)).toBeGreaterThan(75);
    expect(deviationIn(period - 1)).toBeLessThanOrEqual(75);
  });
});

describe('the parameters of Glicko-2', () => {
  it.each([
    [{ tau: 0.2 }, '/parameters/tau'],
    [{ tau: 1.3 }, '/parameters/tau'],
    [{ deviationMin: 351 }, '/parameters/deviationMin'],
    [{ deviation: 400 }, '/parameters/deviationMax'],
    [{ volatility: 0.2 }, '/parameters/volatilityMax'],
    [{ periodDays: 0 }, '/parameters/periodDays'],
  ])('are refused where they are wrong: %j', (parameters, pointer) => {
    expect(() => ratingPool('glicko2', parameters)).toThrow(
      expect.objectContaining({ extensions: { errors: [expect.objectContaining({ pointer })] } }),
    );
  });

  it('expect of two what both deviations let expect, and rate nobody who is new any higher for it', () => {
    const chance = (deviation: number): number =>
      perGame.algorithm.winChance(perGame.parameters, [player(1700, 50)], [player(1500, deviation)], 2);
    expect(chance(350)).toBeGreaterThan(0.5);
    expect(chance(350)).toBeLessThan(chance(50));
    expect(ratingsAfter(perGame, [poolGame(1, { ada: 1, bob: 1 })])).toEqual({ ada: 1500, bob: 1500 });
  });
});
