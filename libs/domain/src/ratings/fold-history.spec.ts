import {
  Dice,
  expectAsOracle,
  randomGames,
  ratingPool,
  ratingsOracle,
  ratingsOracleByPeriod,
  seedOfRun,
} from '@laddercast/testing';
import { describe, it } from 'vitest';
import { foldGames } from './fold.js';
import type { PoolGame } from './game.js';
import { foldPeriod } from './period.js';
import type { PlayerRating } from './player-rating.js';
import type { RatingPool } from './pool.js';

const DAY_MS = 86_400_000;

/** Random games, folded in batches as a saga takes them. */
const foldInBatches = (dice: Dice, pool: RatingPool, games: readonly PoolGame[]): Map<string, PlayerRating> => {
  const players = new Map<string, PlayerRating>();
  for (let at = 0; at < games.length;) {
    const batch = games.slice(at, at + dice.from(1, 40));
    at += batch.length;
    const present = new Map(
      [...players].filter(([id]) => batch.some((game) => game.players.some((one) => one.playerId === id))),
    );
    for (const [id, player] of foldGames(pool, present, batch).players) players.set(id, player);
  }
  return players;
};

describe('random games of a pool, folded in batches', () => {
  const seed = seedOfRun();

  it.each<[string, Record<string, unknown>]>([
    ['elo', {}],
    ['elo', { k: 'fide', initial: 2390 }],
    ['elo', { k: [{ gamesBelow: 7, ratingBelow: 1520, k: 60 }, { ratingBelow: 1480, k: 40 }, { k: 10 }] }],
    ['elo', { scale: 200, differenceMax: 90, homeAdvantage: 65, floor: 1450, k: 48 }],
    ['glicko2', {}],
    [
      'glicko2',
      { tau: 1.2, deviationMin: 60, deviationMax: 300, deviation: 250, volatilityMax: 0.0605, homeAdvantage: 40 },
    ],
    ['glicko2', { periodDays: 0.5, tau: 0.3 }],
    ['weng-lin', {}],
    ['weng-lin', { tau: 0.5, beta: 3, kappa: 0.01, limitSigma: true, initial: 1000, deviation: 10 }],
    ['weng-lin', { model: 'bradley-terry-full' }],
  ])(`are what the formulas of the papers make of all of them: %s %j, seed ${seed}`, (algorithm, parameters) => {
    const dice = new Dice(seed);
    const pool = ratingPool(algorithm, parameters);
    const games = randomGames(dice, pool, { games: 150, players: 15, stepMs: 2 * DAY_MS });
    const oracle = ratingsOracle({ algorithm, parameters: pool.parameters }, games);
    expectAsOracle(foldInBatches(dice, pool, games), oracle);
  });

  it.each<[string, Record<string, unknown>]>([
    ['fide', {}],
    ['fide', { initial: 2395, floor: 2390 }],
    ['fide', { initial: 2652 }],
    ['glicko2', {}],
    ['glicko2', { homeAdvantage: 35, deviationMin: 70, tau: 0.9 }],
  ])(`are what the formulas make of each period: %s %j, seed ${seed}`, (algorithm, parameters) => {
    const dice = new Dice(seed);
    const pool = ratingPool(algorithm, parameters, { update: 'per-period' });
    const games = randomGames(dice, pool, { games: 250, players: 12, stepMs: DAY_MS });
    const players = new Map<string, PlayerRating>();
    const periods: { period: number; games: PoolGame[] }[] = [];
    for (let at = 0, period = 1; at < games.length; period += dice.from(1, 3)) {
      const some = games.slice(at, at + dice.from(1, 60));
      at += some.length;
      periods.push({ period, games: some });
      const folded = foldPeriod(pool, players, some, { period, position: some.at(-1)!.position });
      for (const [id, player] of folded.players) players.set(id, player);
    }
    expectAsOracle(players, ratingsOracleByPeriod({ algorithm, parameters: pool.parameters }, periods));
  });
});
