import { poolGame, ratedPlayers, ratingPool } from '@laddercast/testing';
import { describe, expect, it } from 'vitest';
import { foldPeriod } from '../period.js';
import type { PeriodRating, RatingState } from '../rating-algorithm.js';
import { fidePercent } from './fide-table.js';

/** FIDE Rating Regulations, table 8.1.2, row by row: the differences, and what the higher rated player is expected to score. */
const TABLE = `
  0-3 0.50, 4-10 0.51, 11-17 0.52, 18-25 0.53, 26-32 0.54, 33-39 0.55, 40-46 0.56, 47-53 0.57,
  54-61 0.58, 62-68 0.59, 69-76 0.60, 77-83 0.61, 84-91 0.62, 92-98 0.63, 99-106 0.64, 107-113 0.65,
  114-121 0.66, 122-129 0.67, 130-137 0.68, 138-145 0.69, 146-153 0.70, 154-162 0.71, 163-170 0.72, 171-179 0.73,
  180-188 0.74, 189-197 0.75, 198-206 0.76, 207-215 0.77, 216-225 0.78, 226-235 0.79, 236-245 0.80, 246-256 0.81,
  257-267 0.82, 268-278 0.83, 279-290 0.84, 291-302 0.85, 303-315 0.86, 316-328 0.87, 329-344 0.88, 345-357 0.89,
  358-374 0.90, 375-391 0.91, 392-411 0.92, 412-432 0.93, 433-456 0.94, 457-484 0.95, 485-517 0.96, 518-559 0.97,
  560-619 0.98, 620-735 0.99, 736- 1.00
`;

const pool = ratingPool('fide');

const player = (rating: number, games = 30, reachedTop = 0): RatingState => ({
  rating,
  deviation: null,
  volatility: null,
  memory: { games, reachedTop },
});

/** What games against opponents of these ratings make of a player. */
const rated = (state: RatingState, ...results: [rating: number, score: number][]): PeriodRating =>
  pool.algorithm.ratePeriod!(
    pool.parameters,
    state,
    results.map(([rating, score]) => ({ opponent: player(rating), score, home: 0 })),
    1,
  );

const gain = (state: RatingState, ...results: [rating: number, score: number][]): number =>
  rated(state, ...results).after.rating - state.rating;

const games = (count: number, rating: number, score: number): [number, number][] =>
  Array.from({ length: count }, () => [rating, score]);

describe('the table of FIDE', () => {
  const rows = [...TABLE.matchAll(/(\d+)-(\d*) (\d\.\d\d)/g)];

  it('is what the regulations print, for both players', () => {
    expect(rows).toHaveLength(51);
    for (const [, from, to, higher] of rows) {
      const percent = Math.round(Number(higher) * 100);
      for (const difference of [Number(from), to === '' ? 4000 : Number(to)]) {
        expect(fidePercent(difference)).toBe(percent);
        expect(fidePercent(-difference)).toBe(100 - percent);
      }
    }
  });
});

describe('a period of FIDE', () => {
  it.each([
    ['1500 beats 1500', player(1500, 0), 1500, 1, 20],
    ['1500 beats 1900', player(1500, 0), 1900, 1, 37],
    ['1500 beats 2900, counted as 1900', player(1500, 0), 2900, 1, 37],
    ['1500 draws with 1600', player(1500, 0), 1600, 0.5, 6],
    ['2000 loses to 1000, counted as 1600', player(2000, 0), 1000, 0, -37],
  ] as const)('%s', (_what, state, opponent, score, expected) => {
    expect(gain(state, [opponent, score])).toBe(expected);
  });

  it('rounds halves away from zero, both ways', () => {
    // 10 × 0.05 points.
    expect(gain(player(2700, 30), [2240, 1])).toBe(1);
    expect(gain(player(2700, 30), [3160, 0])).toBe(-1);
    expect(gain(player(2700, 30), [2700, 0.5])).toBe(0);
  });

  it('is rounded once, not with each game', () => {
    // 11 × 10 × (1 − 0.92) = 8.8, where each alone would be 0.8 and so 1.
    expect(gain(player(2649), ...games(11, 1800, 1))).toBe(9);
    expect(gain(player(2649), [1800, 1])).toBe(1);
  });

  it('counts a difference in full from 2650 on, as since October 2025', () => {
    expect(gain(player(2800), ...games(11, 1800, 1))).toBe(0);
    expect(gain(player(2650), ...games(11, 1800, 1))).toBe(0);
    // The exception is the higher rated player's own: 1800 beats 2800 as if it were 2200.
    expect(gain(player(1800), [2800, 1])).toBe(18);
    expect(rated(player(1800), [2800, 1]).games).toEqual([{ expected: 0.08, k: 20 }]);
  });

  it('chooses K by what was before the period: 40 until 30 games are completed, 10 once 2400 was reached', () => {
    const kOf = (state: RatingState): number | null => rated(state, [1500, 1]).games[0]!.k;
    expect([0, 29, 30, 31].map((count) => kOf(player(1500, count)))).toEqual([40, 40, 20, 20]);
    expect([2399, 2400].map((rating) => kOf(player(rating)))).toEqual([20, 10]);
    expect(kOf(player(2300, 30, 1))).toBe(10);
    expect(rated(player(1500, 29), ...games(5, 1500, 1)).after.memory).toEqual({ games: 30, reachedTop: 0 });
    expect(rated(player(2399), [2399, 1]).after.memory).toEqual({ games: 30, reachedTop: 1 });
  });

  it.each([
    [17, 40],
    [18, 38],
    [20, 35],
    [700, 1],
    [701, 0],
  ])('lowers K of %i games to %i, so that their product is 700 at most', (count, k) => {
    expect(rated(player(1500, 0), ...games(count, 1500, 1)).games[0]!.k).toBe(k);
  });

  it('lets nobody fall below the floor', () => {
    const floored = ratingPool('fide', { initial: 1400, floor: 1400 });
    const { players } = foldPeriod(floored, new Map(), [poolGame(1, { ada: 1, bob: 2 })], { period: 1, position: 9 });
    expect([...players].map(([id, { state }]) => [id, state.rating])).toEqual([
      ['ada', 1420],
      ['bob', 1400],
    ]);
  });

  it('takes all ratings from its start, whatever order its games come in', () => {
    const given = [poolGame(1, { ada: 1, bob: 2 }), poolGame(2, { ada: 2, bob: 1 }), poolGame(3, { ada: 1, cy: 2 })];
    const fold = (order: typeof given): [string, number][] =>
      [...foldPeriod(pool, ratedPlayers(pool, { cy: 1900 }), order, { period: 1, position: 9 }).players].map(
        ([id, { state }]) => [id, state.rating],
      );
    expect(fold(given)).toEqual([
      ['ada', 1537],
      ['bob', 1500],
      ['cy', 1863],
    ]);
    expect(fold(given.toReversed())).toEqual(fold(given));
  });

  it('rates two players, and whole points', () => {
    expect(pool.update).toBe('per-period');
    expect(() => ratingPool('fide', {}, { update: 'per-game' })).toThrow(/must be per-period/);
    expect(() => ratingPool('fide', { initial: 1500.5 })).toThrow(/whole number/);
    expect(pool.algorithm.limits(pool.parameters)).toEqual({ sides: 2, members: 1 });
  });
});
