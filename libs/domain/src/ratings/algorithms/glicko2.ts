import type { Fault } from '../../errors.js';
import { pointerTo, type ParameterRules } from '../parameters.js';
import { scoreOf } from '../pairs.js';
import type {
  GameToRate,
  IdleEnd,
  MemberRating,
  Moment,
  PeriodGame,
  PeriodRating,
  RatedSide,
  RatingAlgorithm,
  RatingState,
} from '../rating-algorithm.js';
import { nextVolatility } from './glicko2-volatility.js';

export interface Glicko2Parameters {
  readonly initial: number;
  readonly deviation: number;
  readonly volatility: number;
  readonly tau: number;
  readonly deviationMin: number;
  readonly deviationMax: number;
  readonly volatilityMax: number;
  readonly homeAdvantage: number;
  readonly periodDays: number;
}

/** Steps 2 and 8: points of the paper's own scale. */
const SCALE = 173.7178;
const DAY_MS = 86_400_000;

const parameterRules = {
  initial: { kind: 'number', default: 1500, min: -1_000_000, max: 1_000_000 },
  deviation: { kind: 'number', default: 350, min: 0, isMinExcluded: true, max: 100_000 },
  volatility: { kind: 'number', default: 0.06, min: 0, isMinExcluded: true, max: 10 },
  tau: { kind: 'number', default: 0.5, min: 0.3, max: 1.2 },
  deviationMin: { kind: 'number', default: 0, min: 0, max: 100_000 },
  deviationMax: { kind: 'number', default: 350, min: 0, isMinExcluded: true, max: 100_000 },
  volatilityMax: { kind: 'number', default: 0.1, min: 0, isMinExcluded: true, max: 10 },
  homeAdvantage: { kind: 'number', default: 0, min: -1_000_000, max: 1_000_000 },
  periodDays: { kind: 'number', default: 7, min: 0, isMinExcluded: true, max: 36_500 },
} as const satisfies ParameterRules;

/**
 * Glicko-2 for two players, with each game or by periods.
 *
 * M. E. Glickman, Example of the Glicko-2 system (2022), http://www.glicko.net/glicko/glicko2.pdf, whose steps are named
 * below. By periods it is the paper. With each game, the deviation first grows by the time since the player's last game,
 * a fraction of a period (step 6, with what was the volatility), and the game itself adds none: a period of one game
 * would let the deviation grow with each of them. By default an idle player grows no more uncertain than a newcomer is.
 *
 * Remembered: when the player last played, or the last period in which it did.
 */
export const glicko2: RatingAlgorithm<Glicko2Parameters> = {
  name: 'glicko2',
  engine: 'glicko2@1',
  parameterRules,
  takesWeight: false,
  hasDeviation: true,

  faultsBetween: (parameters) => [
    ...faultUnless(parameters.deviationMin <= parameters.deviation, 'deviationMin', 'must not be above deviation'),
    ...faultUnless(parameters.deviationMax >= parameters.deviation, 'deviationMax', 'must not be below deviation'),
    ...faultUnless(parameters.volatilityMax >= parameters.volatility, 'volatilityMax', 'must not be below volatility'),
  ],

  limits: () => ({ sides: 2, members: 1 }),

  // Neither time nor period: nothing ages who has not played. The names come with the first game.
  newcomer: ({ initial, deviation, volatility }) => ({ rating: initial, deviation, volatility, memory: {} }),

  rate(parameters: Glicko2Parameters, { playedAtMs, sides: [first, second] }: GameToRate): MemberRating[] {
    const rateAgainst = (side: RatedSide, other: RatedSide): MemberRating => {
      const now = { atMs: playedAtMs, period: null };
      const { playerId, state } = side.members[0]!;
      const result = {
        opponent: aged(parameters, other.members[0]!.state, now),
        score: scoreOf(side.place, other.place),
        home: Number(side.isHome) - Number(other.isHome),
      };
      const player = aged(parameters, state, now);
      const { after, expected } = rateResults(parameters, player, [result], 0);
      // A game reported late must not make the player idle for longer.
      const lastMs = Math.max(state.memory['playedAtMs'] ?? playedAtMs, playedAtMs);
      return { playerId, after: { ...after, memory: { playedAtMs: lastMs } }, expected: expected[0]!, k: null };
    };
    return [rateAgainst(first!, second!), rateAgainst(second!, first!)];
  },

  ratePeriod(parameters, player, games, period): PeriodRating {
    const now = { atMs: 0, period };
    const results = games.map((game) => ({ ...game, opponent: aged(parameters, game.opponent, now) }));
    const { after, expected } = rateResults(parameters, aged(parameters, player, now), results, 1);
    return { after: { ...after, memory: { period } }, games: expected.map((one) => ({ expected: one, k: null })) };
  },

  winChance(_parameters, [player], [opponent]) {
    // Glickman, Parameter estimation in large dynamic paired comparison experiments (1999), (16): the uncertainty of both.
    const together = Math.sqrt(player!.deviation! ** 2 + opponent!.deviation! ** 2) / SCALE;
    return expectedScore(g(together), (player!.rating - opponent!.rating) / SCALE);
  },

  conservative: ({ rating, deviation }) => rating - 2 * deviation!,

  aged,

  idleUntil({ deviation: start, periodDays }, state, deviation): IdleEnd | null {
    const { playedAtMs, period } = state.memory;
    if (deviation >= start || (playedAtMs === undefined && period === undefined)) return null;
    // Step 6 for n periods without games, φ² + n·σ² = bound², solved for n.
    const periods = Math.max(0, deviation ** 2 - state.deviation! ** 2) / (state.volatility! * SCALE) ** 2;
    if (period !== undefined) return { period: period + 2 + Math.floor(periods) };
    const atMs = Math.ceil(playedAtMs! + periods * periodDays * DAY_MS);
    return Number.isSafeInteger(atMs) ? { atMs } : null;
  },
};

/** The state after the time without games, in periods or a fraction of them (step 6). */
function aged(parameters: Glicko2Parameters, state: RatingState, now: Moment): RatingState {
  const periods = idlePeriods(parameters, state, now);
  if (periods === 0) return state;
  const grown = Math.sqrt(state.deviation! ** 2 + periods * (state.volatility! * SCALE) ** 2);
  return { ...state, deviation: Math.max(state.deviation!, Math.min(grown, parameters.deviation)) };
}

function idlePeriods({ periodDays }: Glicko2Parameters, { memory }: RatingState, now: Moment): number {
  const { period, playedAtMs } = memory;
  if (period !== undefined) return Math.max(0, (now.period ?? period) - period - 1);
  return playedAtMs === undefined ? 0 : Math.max(0, now.atMs - playedAtMs) / (periodDays * DAY_MS);
}

/** Steps 3 to 8; `growth` says how many times the new volatility widens the deviation before the results narrow it. */
function rateResults(
  parameters: Glicko2Parameters,
  player: RatingState,
  results: readonly PeriodGame[],
  growth: 0 | 1,
): { after: Omit<RatingState, 'memory'>; expected: number[] } {
  const { tau, deviationMin, deviationMax, volatilityMax, homeAdvantage } = parameters;
  const phi = player.deviation! / SCALE;
  let information = 0;
  let surprise = 0;
  const expected = results.map(({ opponent, score, home }) => {
    const weight = g(opponent.deviation! / SCALE);
    const difference = (player.rating - opponent.rating + home * homeAdvantage) / SCALE;
    const chance = expectedScore(weight, difference);
    // Not 1 − chance, which is 0 long before a surprise is impossible: the variance would be infinite.
    information += weight ** 2 * chance * expectedScore(weight, -difference);
    surprise += weight * (score - chance);
    return chance;
  });
  const variance = 1 / information;
  const improvement = variance * surprise;
  const unbounded = nextVolatility({ volatility: player.volatility!, deviation: phi, variance, improvement, tau });
  const volatility = Math.min(unbounded, volatilityMax);
  // Steps 6 and 7.
  const before = Math.sqrt(phi ** 2 + growth * volatility ** 2);
  const after = 1 / Math.sqrt(1 / before ** 2 + information);
  const rating = player.rating + SCALE * after ** 2 * surprise;
  const deviation = Math.min(deviationMax, Math.max(deviationMin, SCALE * after));
  return { after: { rating, deviation, volatility }, expected };
}

/** Step 3: how much a result against so uncertain an opponent tells. */
const g = (phi: number): number => 1 / Math.sqrt(1 + (3 * phi ** 2) / Math.PI ** 2);

/** Step 3: E. */
const expectedScore = (weight: number, difference: number): number => 1 / (1 + Math.exp(-weight * difference));

const faultUnless = (isRight: boolean, name: string, message: string): Fault[] =>
  isRight ? [] : [{ pointer: pointerTo(name), message }];
