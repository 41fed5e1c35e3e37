import { BoardDefinitionDto, parseBoardDefinition } from '@laddercast/commands';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { IsDivisibleBy, IsInt, IsObject, IsOptional, Max, ValidateNested } from 'class-validator';
import { describe, expect, it } from 'vitest';
import { schemaOfClass } from './class-schema.js';

class Counted {
  @IsOptional()
  @IsInt()
  @Max(3)
  count?: number;
}

class Odd {
  @IsDivisibleBy(3)
  count!: number;
}

class Untyped {
  @IsObject()
  @ValidateNested()
  inner!: object;
}

describe('the JSON Schema of a validated class', () => {
  it('says what the decorators say', () => {
    expect(schemaOfClass(Counted, { optionalMayBeNull: false })).toEqual({
      type: 'object',
      additionalProperties: false,
      properties: { count: { type: 'integer', maximum: 3 } },
    });
    expect(schemaOfClass(Counted, { optionalMayBeNull: true })['properties']).toEqual({
      count: { type: ['integer', 'null'], maximum: 3 },
    });
  });

  it('refuses what it cannot say, rather than leave it out', () => {
    expect(() => schemaOfClass(Odd, { optionalMayBeNull: false })).toThrow(/isDivisibleBy/);
    expect(() => schemaOfClass(Untyped, { optionalMayBeNull: false })).toThrow(/needs @Type/);
  });

  const validate = new Ajv2020({ strict: true, allowUnionTypes: true }).compile(
    schemaOfClass(BoardDefinitionDto, { optionalMayBeNull: true }),
  );
  const board = { order: 'desc', operator: 'best' };
  const accepted: Record<string, object> = {
    'the least': board,
    'all there is': {
      ...board,
      id: 'blitz',
      title: 'Ranked blitz',
      tiebreak: 'latest',
      columns: [{ name: 'moves', order: 'asc' }],
      rankStyle: 'competition',
      windows: ['alltime', 'daily'],
      timeZone: 'UTC',
      scopes: ['global'],
      sharding: { by: 'hash', count: 4 },
      limits: { scoreMin: 0, scoreMax: null },
      graceSeconds: 0,
      keepEndedSeconds: 1,
      push: { intervalMs: 100, top: 10 },
      format: { kind: 'time', decimals: 3, unit: 's' },
      submitters: 'players',
      clientTime: true,
      visibility: 'private',
    },
    nulls: { ...board, title: null, tiebreak: null, columns: null, sharding: null, push: { top: null } },
  };
  const refused: Record<string, object> = {
    'no order': { operator: 'best' },
    'an unknown order': { ...board, order: 'up' },
    'an unknown field': { ...board, colour: 'red' },
    'a field of every object': { ...board, constructor: 1 },
    'an unknown field inside': { ...board, push: { every: 1 } },
    'a title that is a number': { ...board, title: 5 },
    'a title that is too long': { ...board, title: 'x'.repeat(201) },
    'five columns': { ...board, columns: ['a', 'b', 'c', 'd', 'e'].map((name) => ({ name, order: 'asc' })) },
    'a column without order': { ...board, columns: [{ name: 'a' }] },
    'a column that is null': { ...board, columns: [null] },
    'a column that is an array': { ...board, columns: [[]] },
    'an array of columns as a column': { ...board, columns: [[{ name: 'a', order: 'asc' }]] },
    'an id that is none': { ...board, id: 'Blitz!' },
    'a column name with a space': { ...board, columns: [{ name: 'a b', order: 'asc' }] },
    'no windows': { ...board, windows: [] },
    'a window twice': { ...board, windows: ['daily', 'daily'] },
    'windows that are no array': { ...board, windows: 'daily' },
    'no shards': { ...board, sharding: { by: 'hash', count: 0 } },
    'half a shard': { ...board, sharding: { by: 'hash', count: 1.5 } },
    'a limit that is text': { ...board, limits: { scoreMin: '1' } },
    'a grace before the end': { ...board, graceSeconds: -1 },
    'a push that is too fast': { ...board, push: { intervalMs: 1 } },
    'a push that is an array': { ...board, push: [] },
    'a yes that is text': { ...board, clientTime: 'true' },
  };

  it.each(Object.entries(accepted))('lets a board with %s through, as the check does', (_name, body) => {
    expect(() => parseBoardDefinition(body, 'blitz')).not.toThrow();
    expect(validate(body), JSON.stringify(validate.errors)).toBe(true);
  });

  it.each(Object.entries(refused))('refuses a board with %s, as the check does', (_name, body) => {
    expect(() => parseBoardDefinition(body, 'blitz')).toThrow('VALIDATION_FAILED');
    expect(validate(body)).toBe(false);
  });
});
