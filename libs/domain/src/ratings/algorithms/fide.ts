import type { ParameterRules } from '../parameters.js';
import type { PeriodGame, PeriodRating, RatingAlgorithm, RatingState } from '../rating-algorithm.js';
import { fideFactor, fideMemory } from './elo-factor.js';
import { faultsOfFloor } from './elo.js';
import { fidePercent } from './fide-table.js';

export interface FideParameters {
  readonly initial: number;
  readonly floor: number | null;
}

/** 8.3.1: a greater difference counts as this one, for players below the other rating. */
const DIFFERENCE_MAX = 400;
const FULL_DIFFERENCE_FROM = 2650;

/** 8.3.3: K times the number of games in a period is no more than this. */
const FACTOR_BY_GAMES_MAX = 700;

const parameterRules = {
  initial: { kind: 'number', default: 1500, min: 0, max: 10_000, isInteger: true },
  floor: { kind: 'number', default: null, min: 0, max: 10_000, isInteger: true, isNullable: true },
} as const satisfies ParameterRules;

/**
 * Ratings of chess players as FIDE computes them, for two players, by periods of a month.
 *
 * FIDE Rating Regulations, 8.3, with what is in force since 1 October 2025. Left out: K 40 for those under 18, and the
 * first rating of the unrated (8.2): here everybody begins with the pool's initial rating.
 *
 * Remembered: games, up to the thirtieth, and whether 2400 was reached.
 */
export const fide: RatingAlgorithm<FideParameters> = {
  name: 'fide',
  engine: 'fide@1',
  parameterRules,
  takesWeight: false,
  hasDeviation: false,

  faultsBetween: ({ initial, floor }) => faultsOfFloor(initial, floor),

  limits: () => ({ sides: 2, members: 1 }),

  newcomer: ({ initial }) => ({
    rating: initial,
    deviation: null,
    volatility: null,
    memory: { games: 0, reachedTop: 0 },
  }),

  ratePeriod({ floor }: FideParameters, player: RatingState, games: readonly PeriodGame[]): PeriodRating {
    const factor = fideFactor(player.rating, player.memory);
    const k = Math.min(factor, Math.floor(FACTOR_BY_GAMES_MAX / games.length));
    const percents = games.map(({ opponent }) => percentOf(player, opponent));
    // Whole numbers all the way: hundredths of points, so that a half is a half.
    const change = games.reduce((sum, { score }, at) => sum + k * (100 * score - percents[at]!), 0);
    const rating = Math.max(floor ?? -Infinity, player.rating + roundHundredths(change));
    return {
      after: { ...player, rating, memory: { ...fideMemory(player.memory, rating, games.length) } },
      games: percents.map((percent) => ({ expected: percent / 100, k })),
    };
  },

  // Before a game both are told the same: what is expected of the higher rated.
  winChance: (_parameters, [player], [opponent]) =>
    (player!.rating >= opponent!.rating ? percentOf(player!, opponent!) : 100 - percentOf(opponent!, player!)) / 100,

  conservative: ({ rating }) => rating,
};

/** 8.3.1: what is expected of the player, by its own rating: the opponent's side may be counted another way. */
function percentOf(player: RatingState, opponent: RatingState): number {
  const difference = player.rating - opponent.rating;
  const bound = player.rating >= FULL_DIFFERENCE_FROM ? Infinity : DIFFERENCE_MAX;
  return fidePercent(Math.min(bound, Math.max(-bound, difference)));
}

/** 8.3.4: to whole points, halves away from zero. */
const roundHundredths = (hundredths: number): number =>
  Math.sign(hundredths) * Math.floor((Math.abs(hundredths) + 50) / 100);
