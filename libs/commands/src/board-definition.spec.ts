import { LadderError, type Fault } from '@laddercast/domain';
import { describe, expect, it } from 'vitest';
import { parseBoardDefinition } from './board-definition.js';

const BOARD = { order: 'desc', operator: 'best' };

function faultsOfBody(body: unknown, boardId?: string): Fault[] {
  try {
    parseBoardDefinition(body, boardId);
    return [];
  } catch (error) {
    expect((error as LadderError).code).toBe('VALIDATION_FAILED');
    return (error as LadderError).extensions['errors'] as Fault[];
  }
}

describe('a board definition', () => {
  it.each<[string, object, Fault]>([
    ['a missing number', { sharding: { by: 'hash' } }, { pointer: '/sharding/count', message: 'is required' }],
    ['text for a number', { graceSeconds: '1' }, { pointer: '/graceSeconds', message: 'must be an integer' }],
    ['half a number', { graceSeconds: 0.5 }, { pointer: '/graceSeconds', message: 'must be an integer' }],
    ['a number for text', { title: 1 }, { pointer: '/title', message: 'must be a string' }],
    ['text for a list', { windows: 'daily' }, { pointer: '/windows', message: 'must be an array' }],
    ['text for columns', { columns: 'moves' }, { pointer: '/columns', message: 'must be an array' }],
    ['a list for an object', { push: [] }, { pointer: '/push', message: 'must be an object' }],
    ['text for yes', { clientTime: 'yes' }, { pointer: '/clientTime', message: 'must be true or false' }],
    [
      'an infinite limit',
      { limits: { scoreMax: 1 / 0 } },
      { pointer: '/limits/scoreMax', message: 'must be a finite number' },
    ],
    ['a list in a list', { columns: [[]] }, { pointer: '/columns', message: 'each value must be an object' }],
    ['an unknown field', { push: { every: 1 } }, { pointer: '/push/every', message: 'is not a known field' }],
  ])('with %s has one fault, that of its type', (_name, option, fault) => {
    expect(faultsOfBody({ ...BOARD, ...option })).toEqual([fault]);
  });

  it('of the right types is told its bounds', () => {
    expect(faultsOfBody({ ...BOARD, sharding: { by: 'hash', count: 65 } })).toEqual([
      { pointer: '/sharding/count', message: 'must not be greater than 64' },
    ]);
    expect(faultsOfBody({ ...BOARD, windows: ['alltime', 'hourly'] })[0]).toEqual({
      pointer: '/windows',
      message: expect.stringMatching(/^each value must be one of the following values: alltime, daily/) as string,
    });
  });

  it('names in its faults nothing twice, whatever a field is called', () => {
    expect(faultsOfBody({ operator: 'best' })).toEqual([{ pointer: '/order', message: 'is required' }]);
    expect(faultsOfBody({ ...BOARD, order: 'up' })).toEqual([
      { pointer: '/order', message: 'must be one of the following values: asc, desc' },
    ]);
  });

  it('may carry the id of its board, and no other', () => {
    const definition = parseBoardDefinition(BOARD, 'blitz');
    expect(parseBoardDefinition({ id: 'blitz', ...BOARD }, 'blitz')).toEqual(definition);
    expect(definition).not.toHaveProperty('id');
    for (const [id, boardId] of [
      ['other', 'blitz'],
      ['blitz', undefined],
    ] as const) {
      const told = faultsOfBody({ id, ...BOARD }, boardId);
      expect(told.map(({ pointer }) => pointer)).toEqual(['/id']);
    }
  });

  it('that was read can be put again', () => {
    const definition = parseBoardDefinition({ ...BOARD, limits: { scoreMin: 0 } }, 'blitz');
    expect(parseBoardDefinition({ id: 'blitz', ...definition }, 'blitz')).toEqual(definition);
  });
});
