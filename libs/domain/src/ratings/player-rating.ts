import type { GameSide } from './game.js';
import type { RatingPool } from './pool.js';
import type { RatingState } from './rating-algorithm.js';

export type Outcome = 'win' | 'draw' | 'loss';

/** The best rating after a game. */
export interface Peak {
  readonly rating: number;
  /** When the game was played. */
  readonly atMs: number;
  readonly gameId: string;
}

/** All that is kept of a player in a pool. The counts come from the games alone; no algorithm reads them. */
export interface PlayerRating {
  readonly state: RatingState;
  readonly games: number;
  readonly wins: number;
  readonly draws: number;
  readonly losses: number;
  /** null before the first game: the rating at the start is no peak. */
  readonly peak: Peak | null;
  /** The latest time at which a rated game was played; null before the first. */
  readonly lastPlayedAtMs: number | null;
  /** Of the last game, or other event of the pool, that changed the rating; 0 before the first. */
  readonly position: number;
}

/** A game as a player's counts see it. */
export interface CountedGame {
  readonly gameId: string;
  readonly position: number;
  readonly playedAtMs: number;
  readonly outcome: Outcome;
  readonly after: RatingState;
}

/** A player without games in the pool. */
export function newcomer({ algorithm, parameters }: RatingPool): PlayerRating {
  const state = algorithm.newcomer(parameters);
  return { state, games: 0, wins: 0, draws: 0, losses: 0, peak: null, lastPlayedAtMs: null, position: 0 };
}

/** The player after one more rated game. */
export function withGame(player: PlayerRating, game: CountedGame): PlayerRating {
  const { after, outcome, playedAtMs, position } = game;
  return {
    state: after,
    games: player.games + 1,
    wins: player.wins + (outcome === 'win' ? 1 : 0),
    draws: player.draws + (outcome === 'draw' ? 1 : 0),
    losses: player.losses + (outcome === 'loss' ? 1 : 0),
    peak: higherPeak(player.peak, { rating: after.rating, atMs: playedAtMs, gameId: game.gameId }),
    lastPlayedAtMs: Math.max(player.lastPlayedAtMs ?? playedAtMs, playedAtMs),
    position,
  };
}

/** Of two equal ones the first. */
const higherPeak = (known: Peak | null, next: Peak): Peak =>
  known !== null && known.rating >= next.rating ? known : next;

/** What each side made of the game: a first place wins, shared or not; only two sides can draw. */
export function outcomesOf(sides: readonly Pick<GameSide, 'place'>[]): Outcome[] {
  const isDraw = sides.length === 2 && sides[0]!.place === sides[1]!.place;
  return sides.map(({ place }) => (isDraw ? 'draw' : place === 1 ? 'win' : 'loss'));
}
