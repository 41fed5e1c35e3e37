import type { GamePlayer, PlayerStatus, PoolGame, RatingPool } from '@laddercast/domain';
import type { Dice } from './dice.js';

export interface RandomGamesOptions {
  games: number;
  /** Players are `p-0`, `p-1` …; the fewer, the more their games hang together. */
  players: number;
  /** How far apart games are played at most; now and then one is reported late. */
  stepMs: number;
  firstPosition?: number;
}

const RESULTS = ['last', 'unrated'] as const;

/**
 * Games such as a pool takes, by dice: ties, gaps in places, teams with members who did not play, home sides, weights,
 * games reported late. Some have too few sides left.
 */
export function randomGames(dice: Dice, pool: RatingPool, options: RandomGamesOptions): PoolGame[] {
  const { games, players, stepMs, firstPosition = 1 } = options;
  let nowMs = 0;
  let position = firstPosition;
  return Array.from({ length: games }, () => {
    nowMs += dice.below(stepMs + 1);
    const game: PoolGame = {
      gameId: `g-${position}`,
      position,
      playedAtMs: dice.isUnder(0.1) ? Math.max(0, nowMs - dice.below(5 * stepMs + 1)) : nowMs,
      weight: pool.algorithm.takesWeight && dice.isUnder(0.3) ? dice.oneOf([0.25, 2, 10.5]) : 1,
      players: randomPlayers(dice, pool, players),
      results: { disqualified: dice.oneOf(RESULTS), absent: dice.oneOf(RESULTS) },
    };
    position += dice.from(1, 3);
    return game;
  });
}

function randomPlayers(
  dice: Dice,
  { algorithm, parameters, sides: bounds }: RatingPool,
  players: number,
): GamePlayer[] {
  const limits = algorithm.limits(parameters);
  const teamMax = Math.min(bounds.teamMax, limits.members ?? Infinity, 3);
  const sidesMax = Math.min(bounds.max, limits.sides ?? Infinity, 6);
  const ids = shuffled(
    dice,
    Array.from({ length: players }, (_, at) => `p-${at}`),
  );
  const sides = dice.from(2, Math.min(sidesMax, players));
  const named: GamePlayer[] = [];
  for (let side = 0; side < sides; side++) {
    const place = dice.from(1, sides + 2);
    const size = Math.min(dice.from(1, teamMax), ids.length - (sides - side - 1));
    const isHome = dice.isUnder(0.2);
    for (const playerId of ids.splice(0, size)) {
      const status: PlayerStatus = dice.isUnder(0.9) ? 'played' : dice.oneOf(['disqualified', 'absent']);
      const team = size > 1 ? `t-${side}` : null;
      named.push({ playerId, status, place: status === 'played' ? place : null, team, isHome });
    }
  }
  return shuffled(dice, named);
}

/** The items in an order that the dice choose. */
export function shuffled<T>(dice: Dice, items: readonly T[]): T[] {
  const rest = [...items];
  return items.map(() => rest.splice(dice.below(rest.length), 1)[0]!);
}
