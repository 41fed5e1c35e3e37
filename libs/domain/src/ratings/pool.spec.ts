import { playersByPlace, ratingPool } from '@laddercast/testing';
import { describe, expect, it } from 'vitest';
import type { GamePlayer } from './game.js';
import { ratingPoolOf, refuseGameThatDoesNotFit, type RatingPoolDefinition } from './pool.js';
import { RATING_ALGORITHMS } from './rating-algorithms.js';

const refused = (code: string, pointer?: string): unknown =>
  expect.objectContaining({
    code,
    ...(pointer === undefined ? {} : { extensions: { errors: [expect.objectContaining({ pointer })] } }),
  });

describe('a pool', () => {
  it('fills in what is left out', () => {
    const { algorithm, ...pool } = ratingPoolOf({ algorithm: 'elo' }, RATING_ALGORITHMS);
    expect(algorithm.name).toBe('elo');
    expect(pool).toEqual({
      parameters: { initial: 1500, k: 32, scale: 400, differenceMax: null, homeAdvantage: 0, floor: null },
      update: 'per-game',
      periods: null,
      sides: { min: 2, max: 100, teamMax: 10 },
      results: { disqualified: 'last', absent: 'unrated' },
      provisional: null,
      rankable: null,
    });
  });

  it('keeps what is said, and fills in the rest of a rule', () => {
    const pool = ratingPool(
      'elo',
      { k: 16 },
      { sides: { max: 4 }, results: { absent: 'last' }, provisional: { games: 10 }, rankable: { inactiveDaysMax: 30 } },
    );
    expect(pool.parameters).toMatchObject({ k: 16, initial: 1500 });
    expect(pool.sides).toEqual({ min: 2, max: 4, teamMax: 10 });
    expect(pool.results).toEqual({ disqualified: 'last', absent: 'last' });
    expect(pool.provisional).toEqual({ games: 10, deviationAbove: null });
    expect(pool.rankable).toEqual({ gamesMin: null, deviationMax: null, inactiveDaysMax: 30 });
  });

  it('names the known algorithms to who asks for another', () => {
    expect(() => ratingPool('glicko3')).toThrow(refused('ALGORITHM_UNKNOWN'));
    const known = RATING_ALGORITHMS.map(({ name }) => name);
    expect(() => ratingPool('glicko3')).toThrow(new RegExp(`known: ${known.join(', ')}`));
    expect(() => ratingPool('TrueSkill')).toThrow(refused('NOT_SUPPORTED'));
    // Every object has something of these names.
    for (const name of ['constructor', '__proto__']) {
      expect(() => ratingPool(name)).toThrow(refused('ALGORITHM_UNKNOWN'));
    }
    for (const model of ['constructor', 'toString']) {
      expect(() => ratingPool('weng-lin', { model })).toThrow(refused('VALIDATION_FAILED', '/parameters/model'));
    }
  });

  it.each<[Partial<RatingPoolDefinition>, string]>([
    [{ update: 'per-period' }, '/update'],
    [{ sides: { min: 1 } }, '/sides/min'],
    [{ sides: { min: 3, max: 2 } }, '/sides/max'],
    [{ sides: { teamMax: 0 } }, '/sides/teamMax'],
    [{ provisional: { games: 0 } }, '/provisional/games'],
    [{ provisional: { deviationAbove: 110 } }, '/provisional/deviationAbove'],
    [{ rankable: { gamesMin: 1.5 } }, '/rankable/gamesMin'],
    [{ rankable: { deviationMax: 75 } }, '/rankable/deviationMax'],
    [{ rankable: { inactiveDaysMax: 0 } }, '/rankable/inactiveDaysMax'],
  ])('refuses what cannot be: %j', (changes, pointer) => {
    expect(() => ratingPool('elo', {}, changes)).toThrow(refused('VALIDATION_FAILED', pointer));
  });
});

describe('a game', () => {
  const pool = ratingPool('elo', {}, { sides: { max: 3, teamMax: 2 } });
  const [ada, bob] = playersByPlace({ ada: 1, bob: 2 }) as [GamePlayer, GamePlayer];
  const fits = (players: readonly GamePlayer[], weight = 1): void => refuseGameThatDoesNotFit(pool, players, weight);

  it('fits as it is reported, and with players who did not play', () => {
    fits([ada, bob]);
    fits([ada, { ...bob, status: 'absent', place: null }], 100);
    fits(playersByPlace({ 'ada+bob': 1, 'cy+di': 1, eve: 9 }), 0.1);
  });

  it.each<[string, GamePlayer[], string]>([
    ['a player twice', [ada, { ...ada, place: 2 }], '/players/1/playerId'],
    ['a player without a place', [ada, { ...bob, place: null }], '/players/1/place'],
    ['a place below 1', [ada, { ...bob, place: 0 }], '/players/1/place'],
    ['a place between two', [ada, { ...bob, place: 1.5 }], '/players/1/place'],
    ['a place of who did not play', [ada, { ...bob, status: 'disqualified' }], '/players/1/place'],
    ['one side', [ada], '/players'],
    [
      'one team',
      [
        { ...ada, team: 'x' },
        { ...bob, team: 'x', place: 1 },
      ],
      '/players',
    ],
  ])('is refused with %s', (_what, players, pointer) => {
    expect(() => fits(players)).toThrow(refused('VALIDATION_FAILED', pointer));
  });

  it('is refused where a team has two places, but not where a member did not play', () => {
    const team = playersByPlace({ 'ada+bob': 1, cy: 2 });
    expect(() => fits(team.with(1, { ...team[1]!, place: 2 }))).toThrow(
      refused('VALIDATION_FAILED', '/players/1/place'),
    );
    fits(team.with(1, { ...team[1]!, status: 'absent', place: null }));
  });

  it.each([0, -1, 100.1, Number.NaN, Infinity])('is refused with the weight %d', (weight) => {
    expect(() => fits([ada, bob], weight)).toThrow(refused('VALIDATION_FAILED', '/weight'));
  });

  it('is refused where it is larger than the pool takes', () => {
    expect(() => fits(playersByPlace({ a: 1, b: 2, c: 3, d: 4 }))).toThrow(refused('GAME_TOO_LARGE'));
    expect(() => fits(playersByPlace({ 'a+b+c': 1, d: 4 }))).toThrow(refused('GAME_TOO_LARGE'));
    const wide = ratingPool('elo', {}, { sides: { max: 500, teamMax: 500 } });
    const many = (count: number): GamePlayer[] =>
      Array.from({ length: count }, (_, at) => ({ ...ada, playerId: `p${at}` }));
    refuseGameThatDoesNotFit(wide, many(500), 1);
    expect(() => refuseGameThatDoesNotFit(wide, many(501), 1)).toThrow(refused('GAME_TOO_LARGE'));
  });
});
