import type { Fault } from '../../errors.js';
import { pointerTo, type ParameterRules } from '../parameters.js';
import { scoreOf } from '../pairs.js';
import type { GameToRate, MemberRating, RatingAlgorithm, RatingState, SideMember } from '../rating-algorithm.js';
import { factorMemory, factorOf, faultsOfFactor, newcomerMemory, type FactorChoice } from './elo-factor.js';

export interface EloParameters {
  readonly initial: number;
  readonly k: FactorChoice;
  /** The difference at which the stronger side is expected to score ten times as much. */
  readonly scale: number;
  /** A greater difference counts as this one; null: each counts as it is. */
  readonly differenceMax: number | null;
  readonly homeAdvantage: number;
  /** No rating falls below it. */
  readonly floor: number | null;
}

const parameterRules = {
  initial: { kind: 'number', default: 1500, min: -1_000_000, max: 1_000_000 },
  k: { kind: 'own', default: 32, says: 'a number, "fide", or rules', faultsOf: faultsOfFactor },
  scale: { kind: 'number', default: 400, min: 0, isMinExcluded: true, max: 1_000_000 },
  differenceMax: { kind: 'number', default: null, min: 0, isMinExcluded: true, max: 1_000_000, isNullable: true },
  homeAdvantage: { kind: 'number', default: 0, min: -1_000_000, max: 1_000_000 },
  floor: { kind: 'number', default: null, min: -1_000_000, max: 1_000_000, isNullable: true },
} as const satisfies ParameterRules;

/**
 * Elo for any number of sides: each pair of them is a game that weighs 1/(n − 1), a team is the mean of its members, and
 * each member moves by its own K.
 *
 * A. E. Elo, The Rating of Chessplayers (1978), 1.5: R' = R + K (W − We), We = 1 / (10^(−d/400) + 1). Sides as pairs, as
 * multielo does it; its K for n sides is ours times 2/n.
 */
export const elo: RatingAlgorithm<EloParameters> = {
  name: 'elo',
  engine: 'elo@1',
  parameterRules,
  takesWeight: true,
  hasDeviation: false,

  faultsBetween: ({ initial, floor }) => faultsOfFloor(initial, floor),

  limits: () => ({ sides: null, members: null }),

  newcomer: ({ initial, k }) => ({ rating: initial, deviation: null, volatility: null, memory: newcomerMemory(k) }),

  rate(parameters: EloParameters, { sides, weight }: GameToRate): MemberRating[] {
    const pairs = sides.length - 1;
    const strengths = sides.map(
      ({ members, isHome }) => meanRating(members.map(({ state }) => state)) + (isHome ? parameters.homeAdvantage : 0),
    );
    return sides.flatMap(({ members, place }, own) => {
      let score = 0;
      let expected = 0;
      for (const [other, opponent] of sides.entries()) {
        if (other === own) continue;
        score += scoreOf(place, opponent.place);
        expected += expectedScore(parameters, strengths[own]! - strengths[other]!);
      }
      const surprise = (weight * (score - expected)) / pairs;
      return members.map((member) => rateMember(parameters, member, surprise, expected / pairs));
    });
  },

  winChance: (parameters, side, other) => expectedScore(parameters, meanRating(side) - meanRating(other)),

  conservative: ({ rating }) => rating,
};

function rateMember(parameters: EloParameters, member: SideMember, surprise: number, expected: number): MemberRating {
  const { playerId, state } = member;
  const k = factorOf(parameters.k, state);
  const rating = Math.max(parameters.floor ?? -Infinity, state.rating + k * surprise);
  const memory = factorMemory(parameters.k, state.memory, rating);
  return { playerId, expected, k, after: { ...state, rating, memory } };
}

function expectedScore({ scale, differenceMax }: EloParameters, difference: number): number {
  const bound = differenceMax ?? Infinity;
  const counted = Math.min(bound, Math.max(-bound, difference));
  return 1 / (1 + 10 ** (-counted / scale));
}

const meanRating = (members: readonly RatingState[]): number =>
  members.reduce((sum, { rating }) => sum + rating, 0) / members.length;

/** A floor above the first rating would lift everybody with the first game. */
export const faultsOfFloor = (initial: number, floor: number | null): Fault[] =>
  floor !== null && floor > initial ? [{ pointer: pointerTo('floor'), message: 'must not be above initial' }] : [];
