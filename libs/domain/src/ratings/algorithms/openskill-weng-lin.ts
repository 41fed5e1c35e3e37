import { predictDraw, predictWin, rate, type Options, type Rating } from 'openskill';
import { bradleyTerryFull, plackettLuce, thurstoneMostellerFull } from 'openskill/models';
import type { ParameterRules } from '../parameters.js';
import type { GameToRate, MemberRating, RatedSide, RatingAlgorithm, RatingState } from '../rating-algorithm.js';

export interface WengLinParameters {
  readonly model: keyof typeof MODELS;
  readonly initial: number;
  readonly deviation: number;
  readonly beta: number;
  readonly tau: number;
  readonly kappa: number;
  readonly epsilon: number;
  readonly limitSigma: boolean;
}

/**
 * The models of openskill that are offered, with the most sides that each stands: the full models add up a step for each
 * pair, so that one large game throws ratings far beyond all others.
 */
const MODELS = {
  'plackett-luce': { model: plackettLuce, sidesMax: null },
  'bradley-terry-full': { model: bradleyTerryFull, sidesMax: 8 },
  'thurstone-mosteller-full': { model: thurstoneMostellerFull, sidesMax: 4 },
} as const;

const PARTIAL = 'openskill for Python and for JavaScript disagree about it from three sides on';

/** The square of less may be 0, and openskill divides by it: no chance and no rating would be a number. */
const SQUARED_MIN = 1e-100;

const parameterRules = {
  model: {
    kind: 'choice',
    default: 'plackett-luce',
    oneOf: Object.keys(MODELS),
    refused: { 'bradley-terry-part': PARTIAL, 'thurstone-mosteller-part': PARTIAL },
  },
  initial: { kind: 'number', default: 25, min: -1_000_000, max: 1_000_000 },
  deviation: { kind: 'number', default: 25 / 3, min: SQUARED_MIN, max: 100_000 },
  beta: { kind: 'number', default: 25 / 6, min: SQUARED_MIN, max: 100_000 },
  tau: { kind: 'number', default: 25 / 300, min: 0, max: 100_000 },
  kappa: { kind: 'number', default: 0.0001, min: 0, isMinExcluded: true, max: 1 },
  epsilon: { kind: 'number', default: 0.1, min: 0, isMinExcluded: true, max: 100_000 },
  limitSigma: { kind: 'flag', default: false },
  margin: { kind: 'refused', reason: 'openskill for Python and for JavaScript disagree about score margins' },
  gamma: { kind: 'refused', reason: 'the gamma of the paper is the only one' },
  balance: { kind: 'refused', reason: 'it divides by a number that may be 0' },
} as const satisfies ParameterRules;

/**
 * Weng-Lin ratings of teams and of any number of sides, as openskill computes them. Time does nothing to them.
 *
 * R. C. Weng, C.-J. Lin, A Bayesian Approximation Method for Online Ranking (2011): algorithms 1 (Bradley-Terry, full),
 * 3 (Thurstone-Mosteller, full) and 4 (Plackett-Luce).
 */
export const wengLin: RatingAlgorithm<WengLinParameters> = {
  name: 'weng-lin',
  engine: 'openskill@5.0.1',
  parameterRules,
  takesWeight: false,
  hasDeviation: true,

  limits: ({ model }) => ({ sides: MODELS[model].sidesMax, members: null }),

  newcomer: ({ initial, deviation }) => ({ rating: initial, deviation, volatility: null, memory: {} }),

  rate(parameters: WengLinParameters, { sides }: GameToRate): MemberRating[] {
    // Given in the order of places, openskill need not sort, and its sums do not depend on how it would.
    const inOrder = [...sides].sort((a, b) => a.place - b.place);
    const teams = inOrder.map(({ members }) => members.map(({ state }) => ratingOf(state)));
    const options = optionsOf(parameters);
    const rated = rate(teams, { ...options, rank: inOrder.map(({ place }) => place) });
    // Its chances add up to 1 over n(n − 1)/2 pairs, of which n − 1 are a side's own.
    const chances = predictWin(teams, options).map((chance) => (chance * teams.length) / 2);
    return inOrder.flatMap((side, at) => membersOf(side, rated[at]!, chances[at]!));
  },

  // openskill adds β² once for each side of the game, and is asked for two of them here.
  winChance: (parameters, side, other, sides) =>
    predictWin(
      [teamOf(side), teamOf(other)],
      optionsOf({ ...parameters, beta: parameters.beta * Math.sqrt(sides / 2) }),
    )[0]!,

  drawChance: (parameters, sides) => predictDraw(sides.map(teamOf), optionsOf(parameters)),

  conservative: ({ rating, deviation }) => rating - 3 * deviation!,
};

// All that its arithmetic looks at: what is left out would be openskill's own default, which another release may change.
const optionsOf = ({ model, initial, deviation, ...numbers }: WengLinParameters): Options => ({
  ...numbers,
  balance: false,
  model: MODELS[model].model,
  mu: initial,
  sigma: deviation,
});

const ratingOf = ({ rating, deviation }: RatingState): Rating => ({ mu: rating, sigma: deviation! });

const teamOf = (side: readonly RatingState[]): Rating[] => side.map(ratingOf);

const membersOf = ({ members }: RatedSide, ratings: readonly Rating[], expected: number): MemberRating[] =>
  members.map(({ playerId }, member) => {
    const { mu, sigma } = ratings[member]!;
    return { playerId, expected, k: null, after: { rating: mu, deviation: sigma, volatility: null, memory: {} } };
  });
