import { MemoryPeriodHistory, poolGame, ratingPool } from '@laddercast/testing';
import { expect, it } from 'vitest';
import { lossesOfPeriods } from './refunds.js';

const fide = ratingPool('fide');
const refund = { playerId: 'cheat', firstPosition: 10_000 };

it('gives back what each void game of a period cost an opponent', async () => {
  const games = [
    poolGame(1, { cheat: 1, ada: 2 }),
    poolGame(2, { ada: 1, bob: 1 }),
    poolGame(3, { cheat: 1, bob: 2 }),
    poolGame(4, { cheat: 2, cy: 1 }),
  ];
  const history = new MemoryPeriodHistory(fide, [{ period: 1, games }]);
  const cheated = [games[0]!, games[2]!, games[3]!].map((game) => ({ ...game, period: 1 }));
  expect(await lossesOfPeriods({ rating: fide }, history, cheated, { refund })).toEqual([
    { playerId: 'ada', gamePosition: 1, points: 20 },
    { playerId: 'bob', gamePosition: 3, points: 20 },
  ]);
});

it('looks at the games of a period once, however many of them are void, and others have their turns meanwhile', async () => {
  let looked = 0;
  const games = Array.from({ length: 1000 }, (_, at) => {
    const { players, ...game } = poolGame(at + 1, { cheat: 1, [`p${at}`]: 2 });
    return {
      ...{ ...game, period: 1 },
      get players() {
        looked += 1;
        return players;
      },
    };
  });
  const history = new MemoryPeriodHistory(fide, [{ period: 1, games }]);
  let turns = 0;
  let turn = setImmediate(function next() {
    turns += 1;
    turn = setImmediate(next);
  });
  looked = 0;
  expect(await lossesOfPeriods({ rating: fide }, history, games, { refund })).toHaveLength(1000);
  clearImmediate(turn);
  expect(looked / games.length).toBeLessThan(30);
  expect(turns).toBeGreaterThan(2);
});
