import { LadderError, validationFailed } from '../errors.js';
import { compareIds } from './game.js';
import { chancesByPairs } from './pairs.js';
import { refuseSidesOfAlgorithm, type RatingPool } from './pool.js';
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

/** The state with what the time without games adds to it. */
export const stateAt = ({ algorithm, parameters }: RatingPool, state: RatingState, now: Moment): RatingState =>
  algorithm.aged ? algorithm.aged(parameters, state, now) : state;

/**
 * What to expect of a game of these sides; nobody is at home. Of two sides `win` is the expected score, of more its mean
 * over the pairs, made to add up to 1.
 * @throws VALIDATION_FAILED for fewer than two sides, or a side of nobody
 * @throws PLAYERS_NOT_SUPPORTED for a game that the algorithm does not take
 */
export function predictGame(pool: RatingPool, sides: readonly (readonly RatingState[])[], now: Moment): Prediction {
  if (sides.length < 2) throw validationFailed([{ pointer: '/sides', message: 'must be two or more' }]);
  const empty = sides.findIndex((side) => side.length === 0);
  if (empty !== -1) throw validationFailed([{ pointer: `/sides/${empty}`, message: 'must have a player' }]);
  const { algorithm, parameters } = pool;
  refuseSidesOfAlgorithm(algorithm, parameters, sides.length, Math.max(...sides.map((side) => side.length)));
  const aged = sides.map((side) => side.map((state) => stateAt(pool, state, now)));
  const win = chancesByPairs(aged.length, (index, other) =>
    algorithm.winChance(parameters, aged[index]!, aged[other]!, aged.length),
  );
  return { win, draw: algorithm.drawChance?.(parameters, aged) ?? null, quality: qualityOf(win) };
}

/** A split of players into sides, and what it lets expect. */
export interface Split extends Prediction {
  readonly sides: readonly (readonly string[])[];
}

/**
 * The split into sides of this many players that has the best quality, of all there are; of several the first in the
 * order of ids, whatever order the players were named in.
 * @throws PLAYERS_NOT_SUPPORTED for more than {@link SPLIT_PLAYERS_MAX} players, or sides that the algorithm does not take
 * @throws VALIDATION_FAILED where the players do not make two sides or more of this size, or one is named twice
 */
export function fairestSplit(pool: RatingPool, players: readonly SideMember[], sidesOf: number, now: Moment): Split {
  refuseSplit(players, sidesOf);
  const { algorithm, parameters } = pool;
  const count = players.length / sidesOf;
  refuseSidesOfAlgorithm(algorithm, parameters, count, sidesOf);
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
    const quality = qualityOf(chancesByPairs(count, (index, other) => chanceOf(sides[index]!, sides[other]!)));
    if (quality > bestQuality) [best, bestQuality] = [sides, quality];
  }
  const sides = best.map((side) => inOrder.filter((_, at) => side & (1 << at)));
  return {
    sides: sides.map((side) => side.map(({ playerId }) => playerId)),
    ...predictGame(
      pool,
      sides.map((side) => side.map(({ state }) => state)),
      now,
    ),
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
  function* splitRest(free: readonly number[], sides: number[]): Generator<number[]> {
    const [first, ...others] = free;
    if (first === undefined) {
      yield sides;
      return;
    }
    for (const mates of combinationsOf(others, size - 1)) {
      const rest = others.filter((player) => !mates.includes(player));
      yield* splitRest(rest, [...sides, [first, ...mates].reduce((side, player) => side | (1 << player), 0)]);
    }
  }
  yield* splitRest(
    Array.from({ length: count }, (_, at) => at),
    [],
  );
}

function* combinationsOf(items: readonly number[], size: number): Generator<number[]> {
  if (size === 0) {
    yield [];
    return;
  }
  for (const [at, item] of items.entries()) {
    for (const rest of combinationsOf(items.slice(at + 1), size - 1)) yield [item, ...rest];
  }
}
