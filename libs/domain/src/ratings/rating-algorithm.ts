import type { Fault } from '../errors.js';
import type { ParameterRules } from './parameters.js';

/**
 * What an algorithm knows of a player: all that its next answer depends on, and nothing else. A recompute ends where a
 * player's state comes out with the bits it had before.
 */
export interface RatingState {
  readonly rating: number;
  /** How uncertain the rating is, as of the last game; null where the algorithm has no such number. */
  readonly deviation: number | null;
  readonly volatility: number | null;
  /** Whatever else the algorithm must remember, as numbers under names of its own. */
  readonly memory: Readonly<Record<string, number>>;
}

export interface SideMember {
  readonly playerId: string;
  readonly state: RatingState;
}

/** Those who win or lose together: a team, or one player. */
export interface RatedSide {
  /** In the order of their ids; at least one. */
  readonly members: readonly SideMember[];
  /** 1 is best; equal places are a draw; without gaps. */
  readonly place: number;
  readonly isHome: boolean;
}

/** A game as an algorithm sees it: at least two sides, in the order of their first member's id. */
export interface GameToRate {
  readonly playedAtMs: number;
  readonly weight: number;
  readonly sides: readonly RatedSide[];
}

/** What a game makes of one player. */
export interface MemberRating {
  readonly playerId: string;
  readonly after: RatingState;
  /** The score expected of the player's side, from 0 to 1; of more than two sides the mean over its pairs. */
  readonly expected: number;
  /** How many points a whole surprise is worth, without the game's weight; null where the algorithm has no such factor. */
  readonly k: number | null;
}

/** One game of a period, as one of its two players sees it. */
export interface PeriodGame {
  readonly opponent: RatingState;
  /** 1 won, ½ drawn, 0 lost. */
  readonly score: number;
  /** 1 where the player was at home, −1 where the opponent was, else 0. */
  readonly home: number;
}

/** What a period makes of one player; `games` in the order in which they were given. */
export interface PeriodRating {
  readonly after: RatingState;
  readonly games: readonly Pick<MemberRating, 'expected' | 'k'>[];
}

/** When something is asked: the time, and in pools that rate by periods the number of the running one. */
export interface Moment {
  readonly atMs: number;
  readonly period: number | null;
}

/** When an idle player's deviation passes a bound: at a time, or as soon as a period is the running one. */
export type IdleEnd = { readonly atMs: number } | { readonly period: number };

/** What the sides of a game may be; null: as many as the pool allows. */
export interface SideLimits {
  readonly sides: number | null;
  readonly members: number | null;
}

/**
 * Says what a game makes of its players' ratings. Pure: the same parameters and states give the same bits, in whatever
 * order the players were named; it reads no clock and nothing of other players. Numbers that are not finite are an
 * answer: the game is then refused, and moves nobody.
 */
export interface RatingAlgorithm<Parameters extends object = object> {
  /** What pools call it. */
  readonly name: string;
  /** Name and version of the arithmetic, kept with each change: another one where the same game may give other bits. */
  readonly engine: string;
  readonly parameterRules: ParameterRules;
  /** Whether a game's weight counts; else only 1 is taken. */
  readonly takesWeight: boolean;
  readonly hasDeviation: boolean;

  /** What is wrong between parameters that are each fine. */
  faultsBetween?(parameters: Parameters): Fault[];

  limits(parameters: Parameters): SideLimits;

  /** The state of a player before the first game. */
  newcomer(parameters: Parameters): RatingState;

  /** One answer for each player of the game; left out where games are rated by periods alone. */
  rate?(parameters: Parameters, game: GameToRate): readonly MemberRating[];

  /**
   * As {@link rate}, for one player and all of its games of a period; all states are those of the period's start. Left
   * out where games are rated one by one alone.
   */
  ratePeriod?(parameters: Parameters, player: RatingState, games: readonly PeriodGame[], period: number): PeriodRating;

  /** The score that a side is expected to make against another one, from the states as of now, in a game of so many sides. */
  winChance(parameters: Parameters, side: readonly RatingState[], other: readonly RatingState[], sides: number): number;

  /** How likely a draw is; left out where the model has none. */
  drawChance?(parameters: Parameters, sides: readonly (readonly RatingState[])[]): number;

  /** The rating that the player has at least, with great likelihood. */
  conservative(state: RatingState): number;

  /** The state with what the time without games adds to it; left out where time does nothing. */
  aged?(parameters: Parameters, state: RatingState, now: Moment): RatingState;

  /** When a player who stays idle is as uncertain as this; null: never. Left out where time does nothing. */
  idleUntil?(parameters: Parameters, state: RatingState, deviation: number): IdleEnd | null;
}

const NUMBERS = ['rating', 'deviation', 'volatility'] as const;

/** Whether two states are the same to the last bit. */
export function isSameState(a: RatingState, b: RatingState): boolean {
  const names = Object.keys(a.memory);
  return (
    NUMBERS.every((name) => Object.is(a[name], b[name])) &&
    names.length === Object.keys(b.memory).length &&
    names.every((name) => Object.is(a.memory[name], b.memory[name]))
  );
}

/** Whether a table may hold the state: every number is finite, and a deviation is above 0. */
export function isFiniteState({ rating, deviation, volatility, memory }: RatingState): boolean {
  return (
    Number.isFinite(rating) &&
    (deviation === null || (Number.isFinite(deviation) && deviation > 0)) &&
    (volatility === null || Number.isFinite(volatility)) &&
    Object.values(memory).every(Number.isFinite)
  );
}
