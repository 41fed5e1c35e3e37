import { periodNumbered } from './period-calendar.js';
import type { PlayerRating } from './player-rating.js';
import type { RankableRules, RatingPool } from './pool.js';
import { stateAt } from './prediction.js';
import type { IdleEnd, Moment, RatingState } from './rating-algorithm.js';

const DAY_MS = 86_400_000;

/** How many deviations to each side hold 95 of 100 players: Glickman, The Glicko system (1995), step 1. */
const DEVIATIONS_OF_95 = 1.96;

/** Whether a player stands on the boards of the pool, and until when, should it stay idle. */
export interface Rankability {
  readonly isRankable: boolean;
  /** The rules that fail. */
  readonly missing: readonly (keyof RankableRules)[];
  /** From this time on the player is not rankable any more; null: never, or not now. */
  readonly untilMs: number | null;
}

/** What a player's rating says at a moment. */
export interface RatingReading extends Rankability {
  readonly rating: number;
  /** As of now. */
  readonly deviation: number | null;
  /** As of the last game. */
  readonly storedDeviation: number | null;
  readonly volatility: number | null;
  readonly conservative: number;
  readonly interval95: readonly [low: number, high: number] | null;
  readonly isProvisional: boolean;
}

/** All that is said of a player's rating at a moment. */
export function readRating(pool: RatingPool, player: PlayerRating, now: Moment): RatingReading {
  const state = stateAt(pool, player.state, now);
  return {
    rating: state.rating,
    deviation: state.deviation,
    storedDeviation: player.state.deviation,
    volatility: state.volatility,
    conservative: pool.algorithm.conservative(state),
    interval95: interval95(state),
    isProvisional: isProvisional(pool, player.games, state),
    ...rankabilityOf(pool, player, now),
  };
}

/** Where the player's strength is found with 95 % likelihood; null where the algorithm knows no deviation. */
export function interval95({ rating, deviation }: RatingState): readonly [low: number, high: number] | null {
  if (deviation === null) return null;
  return [rating - DEVIATIONS_OF_95 * deviation, rating + DEVIATIONS_OF_95 * deviation];
}

/** Whether a rating after so many games is provisional by the rules of the pool: either of them is enough. */
export function isProvisional({ provisional }: RatingPool, games: number, { deviation }: RatingState): boolean {
  if (provisional === null) return false;
  const { games: gamesMin, deviationAbove } = provisional;
  return (gamesMin !== null && games < gamesMin) || (deviationAbove !== null && (deviation ?? 0) > deviationAbove);
}

/** Who is rankable: everybody with a game, or with what the rules of the pool ask for. */
export function rankabilityOf(
  pool: RatingPool,
  player: Pick<PlayerRating, 'state' | 'games' | 'lastPlayedAtMs'>,
  now: Moment,
): Rankability {
  const { gamesMin = null, deviationMax = null, inactiveDaysMax = null } = pool.rankable ?? {};
  const { state, games, lastPlayedAtMs } = player;
  const idleEnd = deviationMax === null ? null : idleEndOf(pool, state, deviationMax);
  const inactiveFromMs =
    inactiveDaysMax === null || lastPlayedAtMs === null ? null : Math.ceil(lastPlayedAtMs + inactiveDaysMax * DAY_MS);
  const isUncertain = deviationMax !== null && ((state.deviation ?? 0) > deviationMax || hasCome(idleEnd, now));
  const missing: (keyof RankableRules)[] = [];
  if (gamesMin !== null && games < gamesMin) missing.push('gamesMin');
  if (isUncertain) missing.push('deviationMax');
  if (inactiveFromMs !== null && now.atMs >= inactiveFromMs) missing.push('inactiveDaysMax');
  const isRankable = games > 0 && missing.length === 0;
  if (!isRankable) return { isRankable, missing, untilMs: null };
  const ends = [inactiveFromMs, timeOf(pool, idleEnd)].filter((end) => end !== null);
  return { isRankable, missing, untilMs: ends.length === 0 ? null : Math.min(...ends) };
}

const idleEndOf = ({ algorithm, parameters }: RatingPool, state: RatingState, deviation: number): IdleEnd | null =>
  algorithm.idleUntil?.(parameters, state, deviation) ?? null;

/** A period is the running one from the close of the one before it on. */
function timeOf({ periods }: RatingPool, end: IdleEnd | null): number | null {
  if (end === null) return null;
  if ('atMs' in end) return end.atMs;
  return (periods && periodNumbered(periods, end.period - 1)?.closesAtMs) ?? null;
}

const hasCome = (end: IdleEnd | null, now: Moment): boolean =>
  end !== null && ('atMs' in end ? now.atMs >= end.atMs : now.period !== null && now.period >= end.period);
