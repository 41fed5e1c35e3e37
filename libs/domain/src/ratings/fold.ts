import { ratedSides, type GameSide, type PoolGame } from './game.js';
import { newcomer, outcomesOf, withGame, type Outcome, type PlayerRating } from './player-rating.js';
import type { RatingPool } from './pool.js';
import { isFiniteState, type MemberRating, type RatingState } from './rating-algorithm.js';

/** Why a recorded game moves nobody: too few sides played, its numbers would not be finite, or it is void. */
export type UnratedReason = 'TOO_FEW_SIDES' | 'NUMERIC' | 'VOID';

/** What one game does to one player, as it is kept and explained. */
export interface RatingChange {
  readonly playerId: string;
  readonly before: RatingState;
  readonly after: RatingState;
  /** The score that was expected of the player's side, from 0 to 1. */
  readonly expected: number;
  readonly k: number | null;
  readonly outcome: Outcome;
}

/** A game with what it did: either it has changes, in the order of the players' ids by side, or a reason for none. */
export interface RatedGame {
  readonly game: PoolGame;
  readonly engine: string;
  readonly unrated: UnratedReason | null;
  readonly changes: readonly RatingChange[];
}

/** What a fold of games makes of a pool. */
export interface FoldedGames {
  /** Of the players of these games, the others left out. */
  readonly players: ReadonlyMap<string, PlayerRating>;
  readonly games: readonly RatedGame[];
}

/** What one game makes of the states of its players, and of nobody else. */
export function rateGame(pool: RatingPool, game: PoolGame, stateOf: (playerId: string) => RatingState): RatedGame {
  const { algorithm, parameters } = pool;
  if (!algorithm.rate) throw new Error(`${algorithm.name} rates by periods alone`);
  const rated = { game, engine: algorithm.engine };
  const sides = ratedSides(game);
  if (sides === null) return { ...rated, unrated: 'TOO_FEW_SIDES', changes: [] };
  const states = new Map(
    sides.flatMap(({ members }) => members.map((playerId) => [playerId, stateOf(playerId)] as const)),
  );
  const ratings = algorithm.rate(parameters, {
    playedAtMs: game.playedAtMs,
    weight: game.weight,
    sides: sides.map(({ members, place, isHome }) => ({
      place,
      isHome,
      members: members.map((playerId) => ({ playerId, state: states.get(playerId)! })),
    })),
  });
  if (!ratings.every(isFiniteRating)) return { ...rated, unrated: 'NUMERIC', changes: [] };
  return { ...rated, unrated: null, changes: changesOf(sides, states, ratings, algorithm.engine) };
}

/** @throws Error where an algorithm leaves out a player, or names another: no such answer may reach a table */
function changesOf(
  sides: readonly GameSide[],
  states: ReadonlyMap<string, RatingState>,
  ratings: readonly MemberRating[],
  engine: string,
): RatingChange[] {
  const byPlayer = new Map(ratings.map((rating) => [rating.playerId, rating]));
  if (byPlayer.size !== states.size || ratings.length !== states.size) {
    throw new Error(`${engine} answered ${ratings.length} ratings for ${states.size} players`);
  }
  const outcomes = outcomesOf(sides);
  return sides.flatMap(({ members }, side) =>
    members.map((playerId) => {
      const rating = byPlayer.get(playerId);
      if (!rating) throw new Error(`${engine} answered no rating for ${playerId}`);
      const { after, expected, k } = rating;
      return {
        playerId,
        before: states.get(playerId)!,
        after: withoutMinusZero(after),
        expected,
        k,
        outcome: outcomes[side]!,
      };
    }),
  );
}

/** Whether nothing in the answer is infinite or no number. */
export const isFiniteRating = ({ after, expected, k }: Omit<MemberRating, 'playerId'>): boolean =>
  isFiniteState(after) && Number.isFinite(expected) && (k === null || Number.isFinite(k));

/** JSON forgets the sign of a zero: what comes back from a table must have the bits that went in. */
export const withoutMinusZero = (state: RatingState): RatingState => ({
  rating: state.rating + 0,
  deviation: state.deviation,
  volatility: state.volatility === null ? null : state.volatility + 0,
  memory: Object.fromEntries(Object.entries(state.memory).map(([name, value]) => [name, value + 0])),
});

/**
 * The games of a pool that rates with each of them, one after the other in the order of their positions. Each reads and
 * writes its own players only; who is not among `players` is a newcomer.
 */
export function foldGames(
  pool: RatingPool,
  players: ReadonlyMap<string, PlayerRating>,
  games: readonly PoolGame[],
): FoldedGames {
  const folded = new Map<string, PlayerRating>();
  const playerOf = (playerId: string): PlayerRating => folded.get(playerId) ?? players.get(playerId) ?? newcomer(pool);
  const inOrder = [...games].sort((a, b) => a.position - b.position);
  const rated = inOrder.map((game) => {
    const one = rateGame(pool, game, (playerId) => playerOf(playerId).state);
    const { gameId, position, playedAtMs } = game;
    for (const { playerId, after, outcome } of one.changes) {
      folded.set(playerId, withGame(playerOf(playerId), { gameId, position, playedAtMs, outcome, after }));
    }
    return one;
  });
  return { players: folded, games: rated };
}
