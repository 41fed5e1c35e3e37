import { validationFailed } from '../errors.js';
import { isFiniteRating } from './fold.js';
import type { RatingPool } from './pool.js';
import type { MemberRating } from './rating-algorithm.js';

/**
 * Refuses parameters by which a first game of two newcomers has no finite numbers, so that no game of the pool ever would:
 * a deviation whose square is 0, say.
 * @throws VALIDATION_FAILED
 */
export function refuseWithoutNumbers(pool: RatingPool): void {
  const { algorithm, parameters } = pool;
  const newcomer = algorithm.newcomer(parameters);
  const chance = algorithm.winChance(parameters, [newcomer], [newcomer], 2);
  if (Number.isFinite(chance) && firstRatings(pool).every(isFiniteRating)) return;
  const message = 'must let the first game of two newcomers be rated: with these its numbers are not finite';
  throw validationFailed([{ pointer: '/parameters', message }]);
}

/** What the first game makes of its players; by periods of its winner alone. */
function firstRatings({ algorithm, parameters, update }: RatingPool): Omit<MemberRating, 'playerId'>[] {
  const state = algorithm.newcomer(parameters);
  if (update === 'per-period') {
    const { after, games } = algorithm.ratePeriod!(parameters, state, [{ opponent: state, score: 1, home: 0 }], 0);
    return games.map((game) => ({ ...game, after }));
  }
  const sides = ['a', 'b'].map((playerId, at) => ({
    members: [{ playerId, state }],
    place: at + 1,
    isHome: false,
  }));
  return [...algorithm.rate!(parameters, { playedAtMs: 0, weight: 1, sides })];
}
