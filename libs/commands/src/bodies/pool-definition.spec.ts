import { LadderError, RATING_ALGORITHMS } from '@laddercast/domain';
import { describe, expect, it } from 'vitest';
import { parsePoolDefinition as parse } from './pool-definition.js';

const parsePoolDefinition = (body: unknown, poolId: string) => parse(body, poolId, RATING_ALGORITHMS);
const problemOf = (body: unknown): { code: string; pointers: string[]; option: unknown } => {
  try {
    parsePoolDefinition(body, 'blitz');
  } catch (error) {
    if (!(error instanceof LadderError)) throw error;
    const {
      code,
      errors = [],
      option,
    } = error.toProblem() as unknown as {
      code: string;
      errors?: { pointer: string }[];
      option?: unknown;
    };
    return { code, pointers: errors.map(({ pointer }) => pointer), option };
  }
  return { code: 'none', pointers: [], option: undefined };
};

describe('the definition of a pool', () => {
  it('has every default', () => {
    expect(parsePoolDefinition({ algorithm: 'elo' }, 'blitz')).toEqual({
      ...{
        title: null,
        algorithm: 'elo',
        update: 'per-game',
        periods: null,
        provisional: null,
        rankable: null,
        onVoid: 'recompute',
        history: { keepDays: null },
        visibility: 'public',
      },
      boards: [],
      parameters: { initial: 1500, k: 32, scale: 400, differenceMax: null, homeAdvantage: 0, floor: null },
      sides: { min: 2, max: 100, teamMax: 10 },
      results: { disqualified: 'last', absent: 'unrated' },
    });
  });

  it('keeps what is said, and what is read can be put again', () => {
    const said = {
      ...{ id: 'blitz', title: 'Blitz', algorithm: 'elo', visibility: 'private', onVoid: 'refund', boards: [] },
      history: { keepDays: 90 },
      parameters: { k: 24, differenceMax: 400, floor: null },
      sides: { max: 2 },
      results: { absent: 'last' },
      provisional: { games: 10 },
      rankable: { gamesMin: 5, deviationMax: null },
      periods: null,
    };
    const first = parsePoolDefinition(said, 'blitz');
    expect(first).toMatchObject({
      ...{ title: 'Blitz', visibility: 'private', onVoid: 'refund', history: { keepDays: 90 } },
      parameters: { k: 24, differenceMax: 400, floor: null },
      sides: { min: 2, max: 2, teamMax: 10 },
      results: { disqualified: 'last', absent: 'last' },
      provisional: { games: 10, deviationAbove: null },
      rankable: { gamesMin: 5, deviationMax: null, inactiveDaysMax: null },
    });
    expect(parsePoolDefinition({ id: 'blitz', ...first, boards: [] }, 'blitz')).toEqual(first);
  });

  it('has a calendar of periods where ratings move by them', () => {
    const periodsOf = (body: object): unknown => parsePoolDefinition(body, 'blitz').periods;
    const monthly = { every: 'monthly', timeZone: 'UTC', graceSeconds: 86_400 };
    expect(periodsOf({ algorithm: 'fide' })).toEqual(monthly);
    expect(periodsOf({ algorithm: 'glicko2' })).toBeNull();
    expect(periodsOf({ algorithm: 'glicko2', update: 'per-period' })).toEqual(monthly);
    const given = { every: 'weekly', timeZone: 'Europe/Berlin', graceSeconds: 0 };
    expect(periodsOf({ algorithm: 'fide', periods: given })).toEqual(given);
  });

  it('names the boards that it feeds; board is short for one of the value rating', () => {
    const definition = { algorithm: 'elo', boards: [{ board: 'wins', value: 'wins', columns: { of: 'games' } }] };
    expect(parsePoolDefinition({ ...definition, board: 'blitz' }, 'blitz').boards).toEqual([
      { board: 'wins', value: 'wins', columns: { of: 'games' } },
      { board: 'blitz', value: 'rating', columns: {} },
    ]);
    const { boards } = parsePoolDefinition({ ...definition, board: 'wins' }, 'blitz');
    expect(boards).toEqual(definition.boards);
    const odd = [{ board: 'odd', value: 'wins', columns: { constructor: 'games', toString: 'wins' } }];
    expect(parsePoolDefinition({ algorithm: 'elo', boards: odd }, 'blitz').boards).toEqual(odd);
    expect(problemOf({ algorithm: 'elo', boards: { ...odd } }).pointers).toEqual([
      '/boards/0/columns/constructor',
      '/boards/0/columns/toString',
    ]);
  });

  it.each([
    [
      '/boards/1/board',
      [
        { board: 'a', value: 'rating' },
        { board: 'a', value: 'wins' },
      ],
    ],
    ['/boards/0/value', [{ board: 'a', value: 'luck' }]],
    ['/boards/0/value', [{ board: 'a' }]],
    ['/boards/0/board', [{ board: 'no board', value: 'rating' }]],
    ['/boards/0/columns/of', [{ board: 'a', value: 'rating', columns: { of: 'luck' } }]],
    ['/boards/0/columns', [{ board: 'a', value: 'rating', columns: { of: 'deviation' } }]],
  ])('is refused with a pointer for a board that is wrong: %s', (pointer, boards) => {
    expect(problemOf({ algorithm: 'elo', boards })).toMatchObject({ code: 'VALIDATION_FAILED', pointers: [pointer] });
  });

  it('says which of the boards is wrong where one is named by the short form, too', () => {
    const named = [{ board: 'a', value: 'rating', columns: { of: 'deviation' } }];
    expect(problemOf({ algorithm: 'elo', board: 'b', boards: named }).pointers).toEqual(['/boards/0/columns']);
    const many = Array.from({ length: 20 }, (_, at) => ({ board: `b${at}`, value: 'rating' }));
    expect(problemOf({ algorithm: 'elo', board: 'b7', boards: many }).code).toBe('none');
    expect(problemOf({ algorithm: 'elo', board: 'one-more', boards: many }).pointers).toEqual(['/board']);
  });

  it.each([
    ['/algorithm', {}],
    ['/algorithm', { algorithm: 7 }],
    ['/id', { algorithm: 'elo', id: 'other' }],
    ['/title', { algorithm: 'elo', title: 'a\u0000b' }],
    ['/parameters', { algorithm: 'elo', parameters: [] }],
    ['/parameters/tau', { algorithm: 'elo', parameters: { tau: 1 } }],
    ['/parameters/k', { algorithm: 'elo', parameters: { k: null } }],
    ['/sides/max', { algorithm: 'elo', sides: { max: 'all' } }],
    ['/sides/max', { algorithm: 'elo', sides: { min: 5, max: 4 } }],
    ['/results/absent', { algorithm: 'elo', results: { absent: 'first' } }],
    ['/provisional/deviationAbove', { algorithm: 'elo', provisional: { deviationAbove: 100 } }],
    ['/update', { algorithm: 'elo', update: 'per-period' }],
    ['/update', { algorithm: 'weng-lin', update: 'per-period' }],
    ['/update', { algorithm: 'fide', update: 'per-game' }],
    ['/periods', { algorithm: 'elo', periods: { every: 'monthly' } }],
    ['/periods', { algorithm: 'glicko2', periods: {} }],
    ['/periods/every', { algorithm: 'fide', periods: { every: 'yearly' } }],
    ['/periods/timeZone', { algorithm: 'fide', periods: { timeZone: 'Mars' } }],
    ['/periods/graceSeconds', { algorithm: 'fide', periods: { graceSeconds: 2_592_001 } }],
    ['/parameters/tau', { algorithm: 'glicko2', parameters: { tau: 2 } }],
    ['/parameters/deviationMax', { algorithm: 'glicko2', parameters: { deviationMax: 300 } }],
    ['/parameters/model', { algorithm: 'weng-lin', parameters: { model: 'elo' } }],
    ['/sides/min', { algorithm: 'glicko2', sides: { min: 3 } }],
    ['/onVoid', { algorithm: 'elo', onVoid: 'forget' }],
    ['/history/keepDays', { algorithm: 'elo', history: { keepDays: 6 } }],
    ['/history/keepDays', { algorithm: 'elo', history: { keepDays: 30.5 } }],
    ['/history/days', { algorithm: 'elo', history: { days: 30 } }],
    ['/boards', { algorithm: 'elo', boards: 'blitz' }],
    ['/decay', { algorithm: 'elo', decay: true }],
    ['/constructor', { algorithm: 'elo', constructor: {} }],
  ])('is refused for what is wrong at %s', (pointer, body) => {
    expect(problemOf(body)).toMatchObject({ code: 'VALIDATION_FAILED', pointers: [pointer] });
  });

  it('names the algorithms that there are, where it asks for another', () => {
    expect(problemOf({ algorithm: 'dice' }).code).toBe('ALGORITHM_UNKNOWN');
    expect(problemOf('elo').code).toBe('VALIDATION_FAILED');
  });
});
