import type { Fault } from '../../errors.js';
import { faultsOfNumber } from '../parameters.js';
import type { RatingState } from '../rating-algorithm.js';

/** A K for the players that it fits: with fewer games, rated below; both, where both are said; everybody where neither is. */
export interface FactorRule {
  readonly gamesBelow?: number;
  readonly ratingBelow?: number;
  readonly k: number;
}

/** How K is chosen: one for all, FIDE's 40, 20 and 10, or the first rule that fits. */
export type FactorChoice = number | 'fide' | readonly FactorRule[];

/** The most rules of a pool. */
const FACTOR_RULES_MAX = 20;

const K_BOUNDS = { min: 0, isMinExcluded: true, max: 10_000 };
const GAMES_BOUNDS = { min: 1, max: 1_000_000, isInteger: true };
const RATING_BOUNDS = { min: -1_000_000, max: 1_000_000 };

/** FIDE Rating Regulations, 8.3.3: until 30 games are completed; once 2400 was reached, and ever after. */
const FIDE_NEW_GAMES = 30;
const FIDE_TOP_RATING = 2400;

/** What is remembered of a player to choose K: games, as far as a rule looks at them; 1 once FIDE's 2400 was reached. */
export interface FactorMemory {
  readonly games?: number;
  readonly reachedTop?: number;
}

/**
 * K 40 before the thirtieth game, 10 from 2400 on and ever after, else 20 (FIDE Rating Regulations, 8.3.3). The rule for
 * those under 18 is left out: nobody here knows a birthday.
 */
export function fideFactor(rating: number, { games = 0, reachedTop = 0 }: FactorMemory): number {
  if (games < FIDE_NEW_GAMES) return 40;
  return reachedTop === 1 || rating >= FIDE_TOP_RATING ? 10 : 20;
}

/** What {@link fideFactor} must know after these games more, which made this rating. */
export function fideMemory(
  { games = 0, reachedTop = 0 }: FactorMemory,
  rating: number,
  gamesMore: number,
): Required<FactorMemory> {
  const reached = reachedTop === 1 || rating >= FIDE_TOP_RATING;
  return { games: Math.min(FIDE_NEW_GAMES, games + gamesMore), reachedTop: reached ? 1 : 0 };
}

/** The player's K, before its game. */
export function factorOf(choice: FactorChoice, { rating, memory }: RatingState): number {
  if (typeof choice === 'number') return choice;
  if (choice === 'fide') return fideFactor(rating, memory);
  const fits = ({ gamesBelow, ratingBelow }: FactorRule): boolean =>
    (gamesBelow === undefined || (memory['games'] ?? 0) < gamesBelow) &&
    (ratingBelow === undefined || rating < ratingBelow);
  return choice.find(fits)!.k;
}

/** What {@link factorOf} must know of a player after one more game, which made this rating. */
export function factorMemory(choice: FactorChoice, before: FactorMemory, rating: number): Record<string, number> {
  if (typeof choice === 'number') return {};
  if (choice === 'fide') return { ...fideMemory(before, rating, 1) };
  const gamesMax = gamesLookedAt(choice);
  return gamesMax === 0 ? {} : { games: Math.min(gamesMax, (before.games ?? 0) + 1) };
}

/** What {@link factorOf} knows of a newcomer. */
export function newcomerMemory(choice: FactorChoice): Record<string, number> {
  if (typeof choice === 'number') return {};
  if (choice === 'fide') return { games: 0, reachedTop: 0 };
  return gamesLookedAt(choice) === 0 ? {} : { games: 0 };
}

// Games beyond the last rule that counts them change nothing: remembered, they would keep every recompute going for ever.
const gamesLookedAt = (rules: readonly FactorRule[]): number =>
  Math.max(0, ...rules.map(({ gamesBelow }) => gamesBelow ?? 0));

/** What is wrong with the `k` of a pool, as faults of a request. */
export function faultsOfFactor(value: unknown, pointer: string): Fault[] {
  if (value === 'fide') return [];
  if (!Array.isArray(value)) {
    const isNumber = faultsOfNumber(K_BOUNDS, value, pointer).length === 0;
    return isNumber
      ? []
      : [{ pointer, message: 'must be a number above 0 and at most 10000, "fide", or a list of rules' }];
  }
  if (value.length === 0 || value.length > FACTOR_RULES_MAX) {
    return [{ pointer, message: `must be of 1 to ${FACTOR_RULES_MAX} rules` }];
  }
  const faults = value.flatMap((rule: unknown, index) => faultsOfRule(rule, `${pointer}/${index}`));
  if (faults.length > 0) return faults;
  const last = value.at(-1) as FactorRule;
  return last.gamesBelow === undefined && last.ratingBelow === undefined
    ? []
    : [{ pointer: `${pointer}/${value.length - 1}`, message: 'must fit everybody: the last rule has a k alone' }];
}

function faultsOfRule(rule: unknown, pointer: string): Fault[] {
  if (typeof rule !== 'object' || rule === null || Array.isArray(rule))
    return [{ pointer, message: 'must be a rule: { "k": … }' }];
  const { k, gamesBelow, ratingBelow, ...others } = rule as Record<string, unknown>;
  return [
    ...faultsOfNumber(K_BOUNDS, k, `${pointer}/k`),
    ...(gamesBelow === undefined ? [] : faultsOfNumber(GAMES_BOUNDS, gamesBelow, `${pointer}/gamesBelow`)),
    ...(ratingBelow === undefined ? [] : faultsOfNumber(RATING_BOUNDS, ratingBelow, `${pointer}/ratingBelow`)),
    ...Object.keys(others).map((name) => ({
      pointer,
      message: `must hold k, gamesBelow and ratingBelow alone, not ${JSON.stringify(name)}`,
    })),
  ];
}
