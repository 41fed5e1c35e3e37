import { poolGame, ratedPlayers, ratingPool } from '@laddercast/testing';
import { describe, expect, it } from 'vitest';
import { foldGames } from './fold.js';
import { newcomer } from './player-rating.js';
import type { RatingPool } from './pool.js';
import { fairestSplit, predictGame, splitSteps, type Split } from './prediction.js';
import type { RatingState, SideMember } from './rating-algorithm.js';

const elo = ratingPool('elo');
const wengLin = ratingPool('weng-lin');
const NOW = { atMs: 0, period: null };

const state = (pool: RatingPool, changes: Partial<RatingState> = {}): RatingState => ({
  ...newcomer(pool).state,
  ...changes,
});
const refused = (code: string): unknown => expect.objectContaining({ code });

describe('the prediction of a game', () => {
  it("is the algorithm's expected score for two sides, and says how even they are", () => {
    const games = [poolGame(1, { ada: 1, bob: 2 }), poolGame(2, { bob: 1, cy: 2 }), poolGame(3, { ada: 1, bob: 1 })];
    const { players } = foldGames(elo, new Map(), games);
    const [ada, bob] = ['ada', 'bob'].map((id) => [players.get(id)!.state]) as [RatingState[], RatingState[]];
    const { win, draw, quality } = predictGame(elo, [ada, bob], NOW);
    expect(win[0]).toBeCloseTo(0.519934, 6);
    expect(quality).toBeCloseTo(0.998411, 6);
    expect(draw).toBeNull();
  });

  it.each(['beta', 'deviation'])('is a number for whatever %s a pool of weng-lin may have', (name) => {
    expect(() => ratingPool('weng-lin', { [name]: 1e-200 })).toThrow(refused('VALIDATION_FAILED'));
    for (const least of [{ [name]: 1e-100 }, { beta: 1e-100, deviation: 1e-100 }]) {
      for (const initial of [-1_000_000, 0, 1_000_000]) {
        const pool = ratingPool('weng-lin', { ...least, initial, tau: 0 });
        const [even, other] = [state(pool), state(pool, { rating: initial + 1, deviation: 1e-200 })];
        expect(predictGame(pool, [[even], [even]], NOW).win).toEqual([0.5, 0.5]);
        const { win, draw, quality } = predictGame(pool, [[even], [other], [other, even]], NOW);
        expect([...win, draw, quality].every(Number.isFinite), JSON.stringify({ win, draw, quality })).toBe(true);
      }
    }
  });

  it('adds up to 1 for several sides, by the mean over their pairs', () => {
    const { win, quality } = predictGame(elo, [[state(elo, { rating: 1900 })], [state(elo)], [state(elo)]], NOW);
    const chance = 1 / (1 + 10 ** (-400 / 400));
    expect(win[0]).toBeCloseTo((2 * chance) / 3, 12);
    expect(win[1]).toBeCloseTo((1 - chance + 0.5) / 3, 12);
    expect(win.reduce((sum, one) => sum + one)).toBeCloseTo(1, 12);
    expect(quality).toBeCloseTo(27 * win[0]! * win[1]! * win[2]!, 12);
  });

  it.each([2, 3, 20, 100])('has the quality 1 for %i equals, and 0 where it is decided', (count) => {
    const sides = Array.from({ length: count }, () => [state(elo)]);
    expect(predictGame(elo, sides, NOW).quality).toBeCloseTo(1, 9);
    expect(predictGame(elo, [[state(elo, { rating: 1e6 })], ...sides.slice(1)], NOW).quality).toBeLessThan(1);
    expect(predictGame(elo, [[state(elo, { rating: 1e6 })], [state(elo)]], NOW).quality).toBe(0);
  });

  it('knows how likely a draw is where the model does', () => {
    const { draw } = predictGame(wengLin, [[state(wengLin)], [state(wengLin)]], NOW);
    expect(draw).toBeGreaterThan(0);
    expect(draw).toBeLessThan(1);
  });

  it('takes players as uncertain as they are by now', () => {
    const glicko2 = ratingPool('glicko2');
    const [strong, weak] = [1800, 1500].map((rating) => [
      state(glicko2, { rating, deviation: 50, memory: { playedAtMs: 0 } }),
    ]);
    const chanceAt = (atMs: number): number => predictGame(glicko2, [strong!, weak!], { atMs, period: null }).win[0]!;
    expect(chanceAt(365 * 86_400_000)).toBeLessThan(chanceAt(0));
  });

  it('is refused for sides that no game has', () => {
    const glicko2 = ratingPool('glicko2');
    const one = [state(glicko2)];
    expect(() => predictGame(glicko2, [one], NOW)).toThrow(refused('VALIDATION_FAILED'));
    expect(() => predictGame(glicko2, [one, []], NOW)).toThrow(refused('VALIDATION_FAILED'));
    expect(() => predictGame(glicko2, [one, one, one], NOW)).toThrow(refused('PLAYERS_NOT_SUPPORTED'));
    expect(() => predictGame(glicko2, [one, [...one, ...one]], NOW)).toThrow(refused('PLAYERS_NOT_SUPPORTED'));
    const duels = ratingPool('elo', {}, { sides: { max: 2, teamMax: 1 } });
    expect(() => predictGame(duels, [one, one, one], NOW)).toThrow(refused('GAME_TOO_LARGE'));
    expect(() => predictGame(duels, [one, [...one, ...one]], NOW)).toThrow(refused('GAME_TOO_LARGE'));
    const large = ratingPool('elo', {}, { sides: { max: 500 } });
    const sides = Array.from({ length: 101 }, () => one);
    expect(() => predictGame(large, sides, NOW)).toThrow(refused('GAME_TOO_LARGE'));
    expect(predictGame(large, sides.slice(1), NOW).win).toHaveLength(100);
  });
});

describe('the fairest split', () => {
  const players = (pool: RatingPool, ratings: Record<string, number>): SideMember[] =>
    [...ratedPlayers(pool, ratings)].map(([playerId, player]) => ({ playerId, state: player.state }));
  const split = (pool: RatingPool, ratings: Record<string, number>, sidesOf: number): Split =>
    fairestSplit(pool, players(pool, ratings), sidesOf, NOW);

  it('is the one of all splits that is most even', () => {
    const { sides, win, quality } = split(elo, { a: 1600, b: 1500, c: 1400, d: 1700, e: 1300, f: 1500 }, 3);
    const strength = (side: readonly string[]): number =>
      side.reduce((sum, id) => sum + { a: 1600, b: 1500, c: 1400, d: 1700, e: 1300, f: 1500 }[id]!, 0);
    expect(sides.map(strength)).toEqual([4500, 4500]);
    expect(win).toEqual([0.5, 0.5]);
    expect(quality).toBe(1);
  });

  /** All splits, said another way: every order of the players, cut into pieces. */
  const everySplit = (ids: string[], sidesOf: number): string[][][] => {
    const orders = (rest: string[]): string[][] =>
      rest.length === 0
        ? [[]]
        : rest.flatMap((id) => orders(rest.filter((one) => one !== id)).map((tail) => [id, ...tail]));
    const cut = (order: string[]): string[][] =>
      Array.from({ length: order.length / sidesOf }, (_, at) => order.slice(at * sidesOf, (at + 1) * sidesOf).sort());
    return orders(ids).map(cut);
  };

  it.each([
    ['elo', 2],
    ['elo', 3],
    ['weng-lin', 2],
    ['weng-lin', 3],
    ['weng-lin', 1],
  ])('finds no worse one than a search of all orders does: %s, sides of %i', (algorithm, sidesOf) => {
    const pool = ratingPool(algorithm);
    const { initial } = pool.parameters as { initial: number };
    const ratings = Object.fromEntries(
      [3, -11, 40, 7, 19, -30].map((part, at) => [`p${at}`, initial * (1 + part / 100)]),
    );
    const states = new Map(players(pool, ratings).map(({ playerId, state: one }) => [playerId, one]));
    const best = Math.max(
      ...everySplit(Object.keys(ratings), sidesOf).map(
        (sides) =>
          predictGame(
            pool,
            sides.map((side) => side.map((id) => states.get(id)!)),
            NOW,
          ).quality,
      ),
    );
    expect(split(pool, ratings, sidesOf).quality).toBeCloseTo(best, 12);
  });

  it('does not depend on the order of naming', () => {
    const named = players(elo, { a: 1600, b: 1500, c: 1400, d: 1500 });
    const expected = fairestSplit(elo, named, 2, NOW);
    expect(expected.sides).toEqual([
      ['a', 'c'],
      ['b', 'd'],
    ]);
    expect(fairestSplit(elo, named.toReversed(), 2, NOW)).toEqual(expected);
  });

  it.each([2, 3, 4, 6])('is found among twelve, in sides of %i', (sidesOf) => {
    const ratings = Object.fromEntries(
      Array.from({ length: 12 }, (_, at) => [`p${String(at).padStart(2, '0')}`, 1000 + 17 * at * at]),
    );
    const { sides } = split(wengLin, ratings, sidesOf);
    expect(sides.flat().sort()).toEqual(Object.keys(ratings));
    expect(sides.every((side) => side.length === sidesOf)).toBe(true);
  });

  it('is looked for in short steps: of each at most as many pairs as the split has', () => {
    let pairs = 0;
    const counted = {
      ...elo,
      algorithm: {
        ...elo.algorithm,
        winChance: (...asked: Parameters<typeof elo.algorithm.winChance>) => {
          pairs += 1;
          return elo.algorithm.winChance(...asked);
        },
      },
    };
    const named = players(elo, Object.fromEntries(Array.from({ length: 8 }, (_, at) => [`p${at}`, 1500 + at])));
    const steps = splitSteps(counted, named, 2, NOW);
    let most = 0;
    let count = 0;
    for (let before = 0; !steps.next().done; before = pairs, count += 1) most = Math.max(most, pairs - before);
    expect(most).toBeLessThanOrEqual(6);
    // 105 splits of four sides, and the prediction of the best one.
    expect(count).toBe(105 * 4 + 4);
  });

  it('is refused where there is none, or too many to look at', () => {
    const many = (count: number): Record<string, number> =>
      Object.fromEntries(Array.from({ length: count }, (_, at) => [`p${at}`, 1500]));
    expect(() => split(elo, many(13), 1)).toThrow(refused('PLAYERS_NOT_SUPPORTED'));
    expect(() => split(elo, many(5), 2)).toThrow(refused('VALIDATION_FAILED'));
    expect(() => split(elo, many(2), 2)).toThrow(refused('VALIDATION_FAILED'));
    expect(() => split(elo, many(2), 0)).toThrow(refused('VALIDATION_FAILED'));
    expect(() => split(elo, many(3), 1.5)).toThrow(refused('VALIDATION_FAILED'));
    expect(() => split(ratingPool('glicko2'), many(4), 2)).toThrow(refused('PLAYERS_NOT_SUPPORTED'));
    const [ada] = players(elo, { ada: 1500 });
    expect(() => fairestSplit(elo, [ada!, ada!], 1, NOW)).toThrow(refused('VALIDATION_FAILED'));
  });
});
