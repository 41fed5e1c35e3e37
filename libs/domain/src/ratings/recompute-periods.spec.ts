import {
  Dice,
  foldPeriods,
  MemoryPeriodHistory,
  poolGame,
  randomGames,
  ratingPool,
  seedOfRun,
  type PointsAfterPeriod,
} from '@laddercast/testing';
import { describe, expect, it } from 'vitest';
import type { PoolGame } from './game.js';
import type { RatingPool } from './pool.js';
import { isSameState } from './rating-algorithm.js';
import { recomputePeriods, type PeriodCorrection } from './recompute-periods.js';

const DAY_MS = 86_400_000;

interface Period {
  period: number;
  games: PoolGame[];
}

const corrected = (periods: readonly Period[], corrections: readonly PeriodCorrection[]): Period[] =>
  periods.map(({ period, games }) => ({
    period,
    games: games.flatMap((game) => {
      const found = corrections.find(({ before }) => before.position === game.position);
      return found === undefined ? [game] : found.after === null ? [] : [found.after];
    }),
  }));

describe('a void game of a closed period', () => {
  const fide = ratingPool('fide');
  const periods: Period[] = [
    { period: 1, games: [poolGame(1, { ada: 1, bob: 2 }), poolGame(2, { cy: 1, di: 2 })] },
    { period: 2, games: [poolGame(3, { bob: 1, cy: 1 }), poolGame(4, { eve: 1, fay: 2 })] },
  ];
  const [first] = periods[0]!.games as [PoolGame];

  it('is taken out of its period, and whoever met its players later is rated again', async () => {
    const history = new MemoryPeriodHistory(fide, periods);
    const {
      players,
      periods: changes,
      gamesReached,
    } = await recomputePeriods(fide, history, [{ period: 1, before: first, after: null }], 100);
    expect(changes.map(({ period, playerId, after }) => [period, playerId, after === null])).toEqual([
      [1, 'ada', true],
      [1, 'bob', true],
      [2, 'bob', false],
      [2, 'cy', false],
    ]);
    expect(players.get('ada')!.after.rating).toBe(1500);
    expect(gamesReached).toBe(2);
  });

  it('is refused where too many games are reached', async () => {
    const history = new MemoryPeriodHistory(fide, periods);
    const refused = recomputePeriods(fide, history, [{ period: 1, before: first, after: null }], 1);
    await expect(refused).rejects.toMatchObject({ code: 'RECOMPUTE_TOO_LARGE', extensions: { gamesMax: 1 } });
  });

  it('counts what its opponents played as well, and is refused before any of it is rated', async () => {
    const games = [
      ...[poolGame(1, { ada: 1, bob: 2 }), poolGame(2, { ada: 1, cy: 2 })],
      ...Array.from({ length: 4 }, (_, at) => poolGame(3 + at, { cy: 1, [`p${at}`]: 2 })),
    ];
    const history = new MemoryPeriodHistory(fide, [{ period: 1, games }]);
    const correction = { period: 1, before: games[0]!, after: null };
    let rated = 0;
    const counting: RatingPool = {
      ...fide,
      algorithm: {
        ...fide.algorithm,
        ratePeriod(...given) {
          rated += 1;
          return fide.algorithm.ratePeriod!(...given);
        },
      },
    };
    const refused = recomputePeriods(counting, history, [correction], 5);
    await expect(refused).rejects.toMatchObject({ code: 'RECOMPUTE_TOO_LARGE' });
    expect(rated).toBe(0);
    const { gamesReached } = await recomputePeriods(counting, history, [correction], 6);
    expect(gamesReached).toBe(6);
  });
});

describe('a period of many players', () => {
  const fide = ratingPool('fide');
  const PLAYERS = 1000;
  let looked = 0;
  const games = Array.from({ length: 2 * PLAYERS }, (_, at) => {
    const { players, ...game } = poolGame(at + 1, { hub: 1, [`p${at % PLAYERS}`]: 2 });
    return {
      ...game,
      get players() {
        looked += 1;
        return players;
      },
    };
  });
  const history = new MemoryPeriodHistory(fide, [{ period: 1, games }]);

  it('has each game looked at for its own players only, and others have their turns meanwhile', async () => {
    let turns = 0;
    let turn = setImmediate(function next() {
      turns += 1;
      turn = setImmediate(next);
    });
    looked = 0;
    const correction = { period: 1, before: games[0]!, after: null };
    const { gamesReached } = await recomputePeriods(fide, history, [correction], 10_000);
    clearImmediate(turn);
    expect(gamesReached).toBe(games.length);
    expect(looked / games.length).toBeLessThan(30);
    expect(turns).toBeGreaterThan(4);
  });
});

/**
 * Changes name their games by position, as they are stored: a result that changes nobody's rating writes no change anew.
 * Sorted, so that they can be compared.
 */
function withPresentGames<Change extends { games: readonly { game: PoolGame }[] }>(
  changes: ReadonlyMap<string, Change>,
  periods: readonly Period[],
): Map<string, unknown> {
  const games = new Map(periods.flatMap((one) => one.games.map((game) => [game.position, game])));
  const presentIn = ({ game, ...more }: Change['games'][number]): object => ({
    ...more,
    game: games.get(game.position),
  });
  return new Map([...changes].sort().map(([key, change]) => [key, { ...change, games: change.games.map(presentIn) }]));
}

/** For some who played, after their period or a later one. */
function randomPoints(
  dice: Dice,
  pool: RatingPool,
  periods: readonly Period[],
): (PointsAfterPeriod & { gamePosition: number })[] {
  return [...foldPeriods(pool, periods).changes.values()]
    .filter(() => dice.isUnder(0.1))
    .map(({ playerId, games }, at) => {
      const { position } = games[0]!.game;
      const from = periods.findIndex((one) => one.games.some((game) => game.position === position));
      const { period: follows } = dice.oneOf(periods.slice(from));
      return { playerId, position: 1000 + at, gamePosition: position, points: dice.from(1, 40), follows };
    });
}

describe('random corrections of random periods', () => {
  const seed = seedOfRun();

  it.each<[string, Record<string, unknown>]>([
    ['fide', { initial: 2395 }],
    ['glicko2', {}],
    ['glicko2', { homeAdvantage: 60, deviationMin: 90 }],
  ])(`come to the bits of a replay with them: %s %j, seed ${seed}`, async (algorithm, parameters) => {
    const dice = new Dice(seed);
    const pool = ratingPool(algorithm, parameters, { update: 'per-period' });
    for (let round = 0; round < 4; round++) {
      const games = randomGames(dice, pool, { games: 120, players: dice.from(8, 50), stepMs: DAY_MS });
      let periods: Period[] = [];
      for (let at = 0, period = 1; at < games.length; period += dice.from(1, 2)) {
        const some = games.slice(at, at + dice.from(1, 30));
        at += some.length;
        periods.push({ period, games: some });
      }
      const given = randomPoints(dice, pool, periods);
      const history = new MemoryPeriodHistory(pool, periods, given);
      const kept = new Set(given.map(({ gamePosition }) => gamePosition));
      for (let step = 0; step < 4; step++) {
        const corrections = Array.from({ length: dice.from(1, 3) }, (): PeriodCorrection => {
          const open = periods.flatMap(({ period, games: ofPeriod }) => ofPeriod.map((before) => ({ period, before })));
          const { period, before } = dice.oneOf(open.filter((one) => !kept.has(one.before.position)));
          const [other] = randomGames(dice, pool, { games: 1, players: 12, stepMs: 0 });
          const after = dice.isUnder(0.6) ? null : { ...before, players: other!.players, results: other!.results };
          return { period, before, after };
        }).filter(({ before }, at, all) => all.findIndex((one) => one.before.position === before.position) === at);
        const stored = foldPeriods(pool, periods, given).players;
        const recomputed = await recomputePeriods(pool, history, corrections, 10_000);
        periods = corrected(periods, corrections);
        history.apply(recomputed, periods);
        const expected = foldPeriods(pool, periods, given);
        expect(withPresentGames(history.changes, periods)).toStrictEqual(withPresentGames(expected.changes, periods));
        expect(history.refunds).toStrictEqual(expected.refunds);
        for (const [id, { state }] of expected.players) {
          expect(isSameState(recomputed.players.get(id)?.after ?? stored.get(id)!.state, state), id).toBe(true);
        }
      }
    }
  });
});
