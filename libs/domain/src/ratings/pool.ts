import { LadderError, validationFailed, type Fault } from '../errors.js';
import { namedSides, type GamePlayer, type ResultRules } from './game.js';
import { checkedParameters, faultsOfNumber } from './parameters.js';
import { faultsOfPeriods, withPeriodDefaults, type PeriodRules } from './period-calendar.js';
import type { RatingAlgorithm } from './rating-algorithm.js';

/** The most players of one game. */
export const GAME_PLAYERS_MAX = 500;

/** What a game may weigh. */
export const GAME_WEIGHT = { min: 0, isMinExcluded: true, max: 100 } as const;

/** When ratings move: with each game, or at the end of each period. */
export type PoolUpdate = 'per-game' | 'per-period';

/** How many sides the games of a pool have, and how many members a side. */
export interface SideBounds {
  readonly min: number;
  readonly max: number;
  readonly teamMax: number;
}

/** Who is provisional: with fewer games than this, or a deviation above it. It changes no number. */
export interface ProvisionalRules {
  readonly games: number | null;
  readonly deviationAbove: number | null;
}

/** Who stands on the boards of a pool; a rule that is null asks nothing. */
export interface RankableRules {
  readonly gamesMin: number | null;
  readonly deviationMax: number | null;
  readonly inactiveDaysMax: number | null;
}

/** What ratings are computed from: a pool's definition, as far as a fold looks at it. */
export interface RatingPool {
  readonly algorithm: RatingAlgorithm;
  /** As {@link ratingPoolOf} checked them: those of the algorithm, complete. */
  readonly parameters: object;
  readonly update: PoolUpdate;
  /** null: ratings move with each game. */
  readonly periods: PeriodRules | null;
  readonly sides: SideBounds;
  readonly results: ResultRules;
  readonly provisional: ProvisionalRules | null;
  readonly rankable: RankableRules | null;
}

/** The same as a client may say it; what is left out gets its default. */
export interface RatingPoolDefinition {
  algorithm: string;
  parameters?: Record<string, unknown>;
  update?: PoolUpdate;
  periods?: Partial<PeriodRules> | null;
  sides?: Partial<SideBounds>;
  results?: Partial<ResultRules>;
  provisional?: Partial<ProvisionalRules> | null;
  rankable?: Partial<RankableRules> | null;
}

/** Algorithms that others offer and we do not, with the reason. */
const NOT_OFFERED: ReadonlyMap<string, string> = new Map([
  ['trueskill', 'TrueSkill is a name of Microsoft, and patented; weng-lin does the same job'],
]);

const SIDES_MAX = 500;

/**
 * A pool with all defaults filled in and checked.
 * @throws ALGORITHM_UNKNOWN naming the known
 * @throws NOT_SUPPORTED for what others offer and we do not
 * @throws VALIDATION_FAILED for parameters and rules that are wrong
 */
export function ratingPoolOf(definition: RatingPoolDefinition, algorithms: readonly RatingAlgorithm[]): RatingPool {
  const algorithm = algorithmNamed(definition.algorithm, algorithms);
  const updates = updatesOf(algorithm);
  const update = definition.update ?? updates[0]!;
  const periods = update === 'per-period' ? withPeriodDefaults(definition.periods) : null;
  const sides = { min: 2, max: 100, teamMax: 10, ...definition.sides };
  const provisional = definition.provisional && { games: null, deviationAbove: null, ...definition.provisional };
  const rankable = definition.rankable && {
    gamesMin: null,
    deviationMax: null,
    inactiveDaysMax: null,
    ...definition.rankable,
  };
  const faults = [
    ...(updates.includes(update)
      ? []
      : [{ pointer: '/update', message: `must be ${updates.join(' or ')} with ${algorithm.name}` }]),
    ...(periods === null ? faultsOfNoPeriods(definition, update) : faultsOfPeriods(periods)),
    ...faultsOfSides(sides),
    ...faultsOfRules(algorithm, provisional ?? null, rankable ?? null),
  ];
  if (faults.length > 0) throw validationFailed(faults);
  return {
    algorithm,
    parameters: checkedParameters(algorithm.parameterRules, definition.parameters ?? {}, (parameters) =>
      algorithm.faultsBetween ? algorithm.faultsBetween(parameters) : [],
    ),
    update,
    periods,
    sides,
    results: { disqualified: 'last', absent: 'unrated', ...definition.results },
    provisional: provisional ?? null,
    rankable: rankable ?? null,
  };
}

/** What an algorithm can do; the first is the default. */
export const updatesOf = ({ rate, ratePeriod }: RatingAlgorithm): PoolUpdate[] => [
  ...(rate ? (['per-game'] as const) : []),
  ...(ratePeriod ? (['per-period'] as const) : []),
];

/** @throws ALGORITHM_UNKNOWN naming the known, NOT_SUPPORTED where we know it and do not offer it */
export function algorithmNamed(name: string, algorithms: readonly RatingAlgorithm[]): RatingAlgorithm {
  const found = algorithms.find((one) => one.name === name);
  if (found) return found;
  const reason = NOT_OFFERED.get(name.toLowerCase());
  if (reason) throw new LadderError('NOT_SUPPORTED', reason);
  const known = algorithms.map((one) => one.name);
  throw new LadderError('ALGORITHM_UNKNOWN', `There is no algorithm "${name}"; known: ${known.join(', ')}.`, { known });
}

/**
 * Refuses a game that the pool cannot take.
 * @throws VALIDATION_FAILED for what contradicts itself: a player twice, a team with two places, a place missing
 * @throws GAME_TOO_LARGE for more sides or members than the pool takes
 * @throws PLAYERS_NOT_SUPPORTED for more than the algorithm takes
 * @throws NOT_SUPPORTED for a weight that would not count
 */
export function refuseGameThatDoesNotFit(pool: RatingPool, players: readonly GamePlayer[], weight: number): void {
  const { algorithm, sides: bounds } = pool;
  if (players.length > GAME_PLAYERS_MAX) {
    throw new LadderError('GAME_TOO_LARGE', `A game has at most ${GAME_PLAYERS_MAX} players.`);
  }
  const sides = namedSides(players);
  const faults = [...faultsOfPlayers(players), ...faultsOfNumber(GAME_WEIGHT, weight, '/weight')];
  if (sides.length < bounds.min) faults.push({ pointer: '/players', message: `must make ${bounds.min} sides or more` });
  if (faults.length > 0) throw validationFailed(faults);
  refuseSides(pool, sides.length, Math.max(...sides.map((side) => side.length)));
  if (weight !== 1 && !algorithm.takesWeight) {
    throw new LadderError('NOT_SUPPORTED', `/weight: ${algorithm.name} weighs no games; leave it out.`);
  }
}

/**
 * Refuses a game of so many sides, of at most so many members.
 * @throws GAME_TOO_LARGE where they are more than the pool takes
 * @throws PLAYERS_NOT_SUPPORTED where they are more than the algorithm takes
 */
export function refuseSides(
  { algorithm, parameters, sides: bounds }: RatingPool,
  sides: number,
  members: number,
): void {
  if (sides > bounds.max || members > bounds.teamMax) {
    throw new LadderError(
      'GAME_TOO_LARGE',
      `The pool takes ${bounds.max} sides of ${bounds.teamMax} players at most, not ${sides} of up to ${members}.`,
    );
  }
  const limits = algorithm.limits(parameters);
  if (sides > (limits.sides ?? Infinity)) {
    throw new LadderError(
      'PLAYERS_NOT_SUPPORTED',
      `${algorithm.name} takes ${limits.sides} sides at most, not ${sides}.`,
    );
  }
  if (members > (limits.members ?? Infinity)) {
    throw new LadderError(
      'PLAYERS_NOT_SUPPORTED',
      `${algorithm.name} takes ${limits.members} players a side at most, not ${members}.`,
    );
  }
}

/** The pool as it takes another result of a game: what was accepted once is never too large or too small for it. */
export function poolOfRecorded(pool: RatingPool, players: readonly GamePlayer[]): RatingPool {
  const sides = namedSides(players);
  const { min, max, teamMax } = pool.sides;
  const bounds = {
    min: Math.min(min, sides.length),
    max: Math.max(max, sides.length),
    teamMax: Math.max(teamMax, ...sides.map((side) => side.length)),
  };
  return { ...pool, sides: bounds };
}

function faultsOfPlayers(players: readonly GamePlayer[]): Fault[] {
  const faults: Fault[] = [];
  const seen = new Set<string>();
  const placesOfTeams = new Map<string, number>();
  for (const [index, { playerId, status, place, team }] of players.entries()) {
    const pointer = `/players/${index}`;
    if (seen.has(playerId)) faults.push({ pointer: `${pointer}/playerId`, message: 'must not be named twice' });
    seen.add(playerId);
    if (status !== 'played') {
      if (place !== null)
        faults.push({ pointer: `${pointer}/place`, message: `must not be there: the player was ${status}` });
      continue;
    }
    if (place === null || !Number.isSafeInteger(place) || place < 1) {
      faults.push({ pointer: `${pointer}/place`, message: 'must be a whole number from 1 on' });
      continue;
    }
    if (team === null) continue;
    const placeOfTeam = placesOfTeams.get(team) ?? place;
    placesOfTeams.set(team, placeOfTeam);
    if (placeOfTeam !== place)
      faults.push({ pointer: `${pointer}/place`, message: `must be ${placeOfTeam}, as its team's` });
  }
  return faults;
}

const faultsOfNoPeriods = ({ periods }: RatingPoolDefinition, update: PoolUpdate): Fault[] =>
  periods == null
    ? []
    : [{ pointer: '/periods', message: `must not be there: with the update ${update} each game moves ratings` }];

function faultsOfSides({ min, max, teamMax }: SideBounds): Fault[] {
  return [
    ...faultsOfNumber({ min: 2, max: SIDES_MAX, isInteger: true }, min, '/sides/min'),
    ...faultsOfNumber({ min: Math.max(2, min), max: SIDES_MAX, isInteger: true }, max, '/sides/max'),
    ...faultsOfNumber({ min: 1, max: GAME_PLAYERS_MAX, isInteger: true }, teamMax, '/sides/teamMax'),
  ];
}

function faultsOfRules(
  { hasDeviation, name }: RatingAlgorithm,
  provisional: ProvisionalRules | null,
  rankable: RankableRules | null,
): Fault[] {
  const count = { min: 1, max: 1_000_000, isInteger: true, isNullable: true };
  const amount = { min: 0, isMinExcluded: true, max: 1_000_000, isNullable: true };
  const ofDeviation = (value: number | null, pointer: string): Fault[] =>
    value !== null && !hasDeviation
      ? [{ pointer, message: `must not be there: ${name} knows no deviation` }]
      : faultsOfNumber(amount, value, pointer);
  return [
    ...(provisional === null
      ? []
      : [
          ...faultsOfNumber(count, provisional.games, '/provisional/games'),
          ...ofDeviation(provisional.deviationAbove, '/provisional/deviationAbove'),
        ]),
    ...(rankable === null
      ? []
      : [
          ...faultsOfNumber(count, rankable.gamesMin, '/rankable/gamesMin'),
          ...ofDeviation(rankable.deviationMax, '/rankable/deviationMax'),
          ...faultsOfNumber({ ...amount, max: 36_500 }, rankable.inactiveDaysMax, '/rankable/inactiveDaysMax'),
        ]),
  ];
}
