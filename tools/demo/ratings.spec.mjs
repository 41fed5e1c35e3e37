import { describe, expect, it } from 'vitest';
import { eloOf, gameOf, weightOf } from './ratings.mjs';

const match = (goals, { tournament = 'Friendly', isNeutral = false, row = 1 } = {}) => ({
  ...{ row, date: '1930-07-30', tournament, isNeutral },
  home: { team: 'Uruguay', goals: goals[0] },
  away: { team: 'Argentina', goals: goals[1] },
});

describe('the ratings of the demo', () => {
  it.each([
    ['Friendly', [1, 0], 1],
    ['Friendly', [2, 2], 1],
    ['Friendly', [2, 0], 1.5],
    ["King's Cup", [0, 3], 1.5 * 1.75],
    ['FIFA World Cup qualification', [4, 0], 2 * 1.875],
    ['Copa América', [1, 2], 2.5],
    ['FIFA World Cup', [4, 2], 3 * 1.5],
    ['FIFA World Cup', [17, 0], 10.5],
  ])('weigh a match of %s that ends %j', (tournament, goals, weight) => {
    expect(weightOf(match(goals, { tournament }))).toBeCloseTo(weight, 12);
  });

  it('give the side at home 100 points for the match, and none in a neutral place', () => {
    const moved = 20 * 1.75 * (1 - 1 / (1 + 10 ** (-100 / 400)));
    expect(eloOf([match([3, 0])]).get('Uruguay')).toBeCloseTo(1500 + moved, 9);
    expect(eloOf([match([3, 0], { isNeutral: true })]).get('Argentina')).toBeCloseTo(1500 - 17.5, 9);
  });

  it('send a match with its place, its goals, and its real date beside the time of the replay', () => {
    const replay = { id: 'r1', startsAtMs: 1000 };
    expect(gameOf(match([2, 2], { row: 7 }), { pool: 'world-elo', replay })).toEqual({
      ...{ pool: 'world-elo', gameId: 'r1-7', weight: 1, playedAt: '1970-01-01T00:00:01.007Z' },
      players: [
        { playerId: 'Uruguay', place: 1, score: 2, home: true },
        { playerId: 'Argentina', place: 1, score: 2 },
      ],
      metadata: { date: '1930-07-30', tournament: 'Friendly' },
    });
  });
});
