import { poolGame, ratingPool } from '@laddercast/testing';
import { describe, expect, it } from 'vitest';
import { foldGames } from './fold.js';
import { momentOf, periodNumbered } from './period-calendar.js';
import { newcomer, type PlayerRating } from './player-rating.js';
import type { RatingPool } from './pool.js';
import type { RatingState } from './rating-algorithm.js';
import { interval95, isProvisional, rankabilityOf, readRating } from './rating-reading.js';

const DAY_MS = 86_400_000;

const at = (days: number, period: number | null = null): { atMs: number; period: number | null } => ({
  atMs: days * DAY_MS,
  period,
});

const player = (pool: RatingPool, state: Partial<RatingState>, counts: Partial<PlayerRating> = {}): PlayerRating => ({
  ...newcomer(pool),
  games: 10,
  lastPlayedAtMs: 0,
  ...counts,
  state: { ...newcomer(pool).state, ...state },
});

describe('what a rating says', () => {
  const pool = ratingPool(
    'glicko2',
    {},
    {
      provisional: { games: 10, deviationAbove: 110 },
      rankable: { gamesMin: 10, deviationMax: 75, inactiveDaysMax: 30 },
    },
  );
  const games = [
    poolGame(1, { ada: 1, bob: 2 }, { playedAtMs: 0 }),
    poolGame(2, { ada: 1, bob: 1 }, { playedAtMs: 30 * DAY_MS }),
  ];
  const ada = foldGames(pool, new Map(), games).players.get('ada')!;

  it('is as the worked example has it, after two games', () => {
    const reading = readRating(pool, ada, at(30));
    expect(reading).toMatchObject({
      isProvisional: true,
      isRankable: false,
      missing: ['gamesMin', 'deviationMax'],
      untilMs: null,
    });
    expect(reading.rating).toBeCloseTo(1576.534007, 6);
    expect(reading.deviation).toBeCloseTo(260.888793, 6);
    expect(reading.conservative).toBeCloseTo(1054.76, 2);
    expect(reading.interval95!.map((end) => Math.round(end * 10) / 10)).toEqual([1065.2, 2087.9]);
    expect(ada).toMatchObject({ games: 2, wins: 1, draws: 1, losses: 0 });
    expect(ada.peak!.rating).toBeCloseTo(1662.212001, 6);
    expect(ada.peak!.gameId).toBe('g-1');
  });

  it('grows less certain while the player is idle, and the stored deviation stays', () => {
    const later = readRating(pool, ada, at(1000));
    expect(later.deviation).toBeGreaterThan(ada.state.deviation!);
    expect(later.storedDeviation).toBe(ada.state.deviation);
    expect(later.conservative).toBe(later.rating - 2 * later.deviation!);
    expect(later.interval95![0]).toBe(later.rating - 1.96 * later.deviation!);
  });

  it('has no interval where the algorithm knows no deviation', () => {
    const elo = ratingPool('elo');
    expect(interval95(newcomer(elo).state)).toBeNull();
    expect(readRating(elo, player(elo, {}), at(0))).toMatchObject({
      deviation: null,
      interval95: null,
      conservative: 1500,
    });
  });
});

describe('a provisional rating', () => {
  const state = (deviation: number | null): RatingState => ({ rating: 1500, deviation, volatility: null, memory: {} });

  it.each([
    [{ games: 10 }, 9, 50, true],
    [{ games: 10 }, 10, 500, false],
    [{ deviationAbove: 110 }, 2000, 110.1, true],
    [{ deviationAbove: 110 }, 0, 110, false],
    [{ games: 10, deviationAbove: 110 }, 9, 50, true],
    [{ games: 10, deviationAbove: 110 }, 10, 111, true],
    [{ games: 10, deviationAbove: 110 }, 10, 110, false],
    [null, 0, 350, false],
  ])(
    'is one by either rule: %j after %i games with a deviation of %d: %s',
    (provisional, games, deviation, expected) => {
      expect(isProvisional(ratingPool('glicko2', {}, { provisional }), games, state(deviation))).toBe(expected);
    },
  );
});

describe('a rankable player', () => {
  it('is everybody with a game where the pool asks nothing', () => {
    const pool = ratingPool('elo');
    expect(rankabilityOf(pool, player(pool, {}), at(10_000))).toEqual({
      isRankable: true,
      missing: [],
      untilMs: null,
    });
    expect(rankabilityOf(pool, newcomer(pool), at(0)).isRankable).toBe(false);
  });

  it('has played enough games, and not too long ago', () => {
    const pool = ratingPool('elo', {}, { rankable: { gamesMin: 10, inactiveDaysMax: 30 } });
    expect(rankabilityOf(pool, player(pool, {}, { games: 9 }), at(0)).missing).toEqual(['gamesMin']);
    const ready = player(pool, {}, { lastPlayedAtMs: 5 * DAY_MS });
    expect(rankabilityOf(pool, ready, at(34.99))).toEqual({
      isRankable: true,
      missing: [],
      untilMs: 35 * DAY_MS,
    });
    expect(rankabilityOf(pool, ready, at(35))).toEqual({
      isRankable: false,
      missing: ['inactiveDaysMax'],
      untilMs: null,
    });
  });

  const uncertain = ratingPool('glicko2', {}, { rankable: { deviationMax: 75 } });
  const settled = { deviation: 45, memory: { playedAtMs: 0 } };

  it('is certain enough until the moment that the closed form says', () => {
    const ada = player(uncertain, settled);
    const { isRankable, untilMs } = rankabilityOf(uncertain, ada, at(0));
    expect(isRankable).toBe(true);
    expect(untilMs! / DAY_MS).toBeCloseTo(231.958, 3);
    const before = { atMs: untilMs! - 1, period: null };
    const then = { atMs: untilMs!, period: null };
    expect(rankabilityOf(uncertain, ada, before)).toMatchObject({ isRankable: true, untilMs });
    expect(rankabilityOf(uncertain, ada, then)).toMatchObject({ isRankable: false, missing: ['deviationMax'] });
    expect(readRating(uncertain, ada, before).deviation).toBeLessThan(75);
    expect(readRating(uncertain, ada, then).deviation).toBeGreaterThanOrEqual(75);
  });

  it('leaves with the first rule that fails', () => {
    const both = ratingPool('glicko2', {}, { rankable: { deviationMax: 75, inactiveDaysMax: 30 } });
    expect(rankabilityOf(both, player(both, settled), at(0)).untilMs).toBe(30 * DAY_MS);
    const patient = ratingPool('glicko2', {}, { rankable: { deviationMax: 75, inactiveDaysMax: 300 } });
    expect(rankabilityOf(patient, player(patient, settled), at(0)).untilMs! / DAY_MS).toBeCloseTo(231.958, 3);
  });

  it('leaves by periods in the first period that is too many', () => {
    const pool = ratingPool('glicko2', {}, { update: 'per-period', rankable: { deviationMax: 75 } });
    const ada = player(pool, { deviation: 45, memory: { period: 4 } });
    const { untilMs } = rankabilityOf(pool, ada, at(0, 5));
    // 33.1 periods of 7 days make 231.958 days: who played in period 4 may miss 5 to 37.
    expect(untilMs).toBe(periodNumbered(pool.periods!, 4 + 1 + 33)!.closesAtMs);
    expect(rankabilityOf(pool, ada, momentOf(pool, untilMs! - 1)).isRankable).toBe(true);
    expect(rankabilityOf(pool, ada, momentOf(pool, untilMs!)).isRankable).toBe(false);
  });

  it('is judged by the last game where time does nothing', () => {
    const pool = ratingPool('weng-lin', {}, { rankable: { deviationMax: 3, inactiveDaysMax: 365 } });
    expect(rankabilityOf(pool, player(pool, { deviation: 2 }), at(1))).toMatchObject({
      isRankable: true,
      untilMs: 365 * DAY_MS,
    });
    expect(rankabilityOf(pool, player(pool, { deviation: 3.1 }), at(1)).missing).toEqual(['deviationMax']);
    // Who retired long ago is on no board, however sure its rating is.
    expect(rankabilityOf(pool, player(pool, { rating: 40, deviation: 1 }), at(3653)).missing).toEqual([
      'inactiveDaysMax',
    ]);
  });
});
