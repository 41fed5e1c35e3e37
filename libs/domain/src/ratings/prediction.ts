import { LadderError, validationFailed } from '../errors.js';
import { compareIds } from './game.js';
import { chancesByPairs } from './pairs.js';
import { refuseSides, type RatingPool } from './pool.js';
import type { Moment, RatingState, SideMember } from './rating-algorithm.js';

/** What ratings let expect of a game that was not played. */
export interface Prediction {
  /** How likely each side is the first, a draw shared out; they add up to 1. */
  readonly win: readonly number[];
  /** null where the algorithm has no draws. */
  readonly draw: number | null;
  /** nⁿ·∏win: 1 where all sides are equally likely to win, 0 where it is decided. */
  readonly quality: number;
}

/** The most players among whom the fairest split is looked for: 15,400 ways at most. */
export const SPLIT_PLAYERS_MAX = 12;

/** The most sides of a game that is predicted: 4,950 pairs. */
export const PREDICTION_SIDES_MAX = 100;

/** Work in steps, each of them short, so that who does it can let others go first in between. */
export type Steps<Result> = Generator<void, Result>;

/** Does all the steps in one go. */
export function allSteps<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** The state with what the time without games adds to it. */
export const stateAt = ({ algorithm, parameters }: RatingPool, state: RatingState, now: Moment): RatingState =>
  algorithm.aged ? algorithm.aged(parameters, state, now) : state;

/** As {@link predictionSteps}, in one go. */
export const predictGame = (...asked: Parameters<typeof predictionSteps>): Prediction =>
  allSteps(predictionSteps(...asked));

/**
 * What to expect of a game of these sides; nobody is at home. Of two sides `win` is the expected score, of more its mean
 * over the pairs, made to add up to 1.
 * @throws VALIDATION_FAILED for fewer than two sides, or a side of nobody
 * @throws GAME_TOO_LARGE for more than {@link PREDICTION_SIDES_MAX} sides, or more than the pool takes
 * @throws PLAYERS_NOT_SUPPORTED for a game that the algorithm does not take
 */
export function* predictionSteps(
  pool: RatingPool,
  sides: readonly (readonly RatingState[])[],
  now: Moment,
): Steps<Prediction> {
  if (sides.length < 2) throw validationFailed([{ pointer: '/sides', message: 'must be two or more' }]);
  const empty = sides.findIndex((side) => side.length === 0);
  if (empty !== -1) throw validationFailed([{ pointer: `/sides/${empty}`, message: 'must have a player' }]);
  if (sides.length > PREDICTION_SIDES_MAX) {
    throw new LadderError('GAME_TOO_LARGE', `Games of ${PREDICTION_SIDES_MAX} sides at most are predicted.`);
  }
  const { algorithm, parameters } = pool;
  refuseSides(pool, sides.length, Math.max(...sides.map((side) => side.length)));
  const aged = sides.map((side) => side.map((state) => stateAt(pool, state, now)));
  const win = yield* chancesByPairs(aged.length, (index, other) =>
    algorithm.winChance(parameters, aged[index]!, aged[other]!, aged.length),
  );
  return { win, draw: algorithm.drawChance?.(parameters, aged) ?? null, quality: qualityOf(win) };
}

/** A split of players into sides, and what it lets expect. */
export interface Split extends Prediction {
  readonly sides: readonly (readonly string[])[];
}

/** As {@link splitSteps}, in one go. */
export const fairestSplit = (...asked: Parameters<typeof splitSteps>): Split => allSteps(splitSteps(...asked));

/**
 * The split into sides of this many players that has the best quality, of all there are; of several the first in the
 * order of ids, whatever order the players were named in.
 * @throws PLAYERS_NOT_SUPPORTED for more than {@link SPLIT_PLAYERS_MAX} players, or sides that the algorithm does not take
 * @throws GAME_TOO_LARGE for sides that the pool does not take
 * @throws VALIDATION_FAILED where the players do not make two sides or more of this size, or one is named twice
 */
export function* splitSteps(
  pool: RatingPool,
  players: readonly SideMember[],
  sidesOf: number,
  now: Moment,
): Steps<Split> {
  refuseSplit(players, sidesOf);
  const { algorithm, parameters } = pool;
  const count = players.length / sidesOf;
  refuseSides(pool, count, sidesOf);
  const inOrder = [...players].sort((a, b) => compareIds(a.playerId, b.playerId));
  const states = inOrder.map(({ state }) => stateAt(pool, state, now));
  const statesOf = (side: number): RatingState[] => states.filter((_, at) => side & (1 << at));
  const chances = new Map<number, number>();
  // Many splits share a pair of sides.
  const chanceOf = (side: number, other: number): number => {
    const key = side * (1 << SPLIT_PLAYERS_MAX) + other;
    const known = chances.get(key);
    if (known !== undefined) return known;
    const chance = algorithm.winChance(parameters, statesOf(side), statesOf(other), count);
    chances.set(key, chance);
    return chance;
  };
  let best: readonly number[] = [];
  let bestQuality = -1;
  for (const sides of splitsOf(players.length, sidesOf)) {
    const quality = qualityOf(yield* chancesByPairs(count, (index, other) => chanceOf(sides[index]!, sides[other]!)));
    if (quality > bestQuality) [best, bestQuality] = [sides, quality];
  }
  const sides = best.map((side) => inOrder.filter((_, at) => side & (1 << at)));
  return {
    sides: sides.map((side) => side.map(({ playerId }) => playerId)),
    ...(yield* predictionSteps(
      pool,
      sides.map((side) => side.map(({ state }) => state)),
      now,
    )),
  };
}

/** nⁿ·∏win, without a product that leaves the doubles. */
const qualityOf = (win: readonly number[]): number => win.reduce((product, chance) => product * chance * win.length, 1);

function refuseSplit(players: readonly SideMember[], sidesOf: number): void {
  const ids = new Set(players.map(({ playerId }) => playerId));
  if (ids.size < players.length) {
    throw validationFailed([{ pointer: '/players', message: 'must name no player twice' }]);
  }
  if (players.length > SPLIT_PLAYERS_MAX) {
    throw new LadderError('PLAYERS_NOT_SUPPORTED', `A split is looked for among ${SPLIT_PLAYERS_MAX} players at most.`);
  }
  const isWhole = Number.isInteger(sidesOf) && sidesOf > 0 && players.length % sidesOf === 0;
  if (!isWhole || players.length / sidesOf < 2) {
    const message = `must make two or more whole sides of ${players.length} players`;
    throw validationFailed([{ pointer: '/sidesOf', message }]);
  }
}

/** Every way to split players 0 … count − 1 into sides of one size: each side as a set of bits, with its lowest player first. */
function* splitsOf(count: number, size: number): Generator<number[]> {
  // By their lowest player.
  const sides = Array.from({ length: count }, (_, first) =>
    combinationsOf(
      Array.from({ length: count - first - 1 }, (_other, at) => first + 1 + at),
      size - 1,
    ).map((mates) => mates | (1 << first)),
  );
  function* splitRest(free: number, taken: number[]): Generator<number[]> {
    if (free === 0) {
      yield taken;
      return;
    }
    const lowest = 31 - Math.clz32(free & -free);
    for (const side of sides[lowest]!) {
      if ((side & free) === side) yield* splitRest(free & ~side, [...taken, side]);
    }
  }
  yield* splitRest(2 ** count - 1, []);
}

/** Sets of so many of these players, as bits, in the order of the players. */
function combinationsOf(players: readonly number[], size: number): number[] {
  if (size === 0) return [0];
  return players.flatMap((player, at) =>
    combinationsOf(players.slice(at + 1), size - 1).map((rest) => rest | (1 << player)),
  );
}
