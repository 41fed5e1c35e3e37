import type { Fault, LadderError } from '@laddercast/domain';
import { IsIn, IsInt, IsOptional, Max, MaxLength } from 'class-validator';
import { describe, expect, it } from 'vitest';
import { Checked, InSchema, IsText, MayBeAbsent, Passes, RefusedAs } from './body-rules.js';
import { schemaOfClass } from './class-schema.js';
import { parseBody } from './parse-body.js';

const faultsOfEach = (ids: unknown): Fault[] =>
  (ids as unknown[]).flatMap((id, at) => (id === 'good' ? [] : [{ pointer: `/${at}`, message: 'must be good' }]));

class Body {
  @IsText(3)
  name!: string;

  @MayBeAbsent()
  @RefusedAs('must be 0-9')
  @IsInt()
  @Max(9)
  @InSchema({ description: 'How many.' })
  count: number = 5;

  @IsOptional()
  @IsIn(['asc', 'desc'])
  order: 'asc' | 'desc' = 'asc';

  @MayBeAbsent()
  @Checked(faultsOfEach, { type: 'array', items: { const: 'good' } })
  ids: string[] = [];

  @IsOptional()
  @MaxLength(3)
  @Passes((text) => (text.startsWith('x') ? null : 'must begin with x'), { pattern: '^x' })
  at: string | null = null;
}

function faultsOfBody(body: unknown): Fault[] {
  try {
    parseBody(Body, body);
    return [];
  } catch (error) {
    expect((error as LadderError).code).toBe('VALIDATION_FAILED');
    return (error as LadderError).extensions['errors'] as Fault[];
  }
}

describe('a body of a class', () => {
  it('has the defaults of the class where a field is absent, or null where that is allowed', () => {
    expect(parseBody(Body, { name: 'ada', order: null, at: null })).toEqual({
      name: 'ada',
      count: 5,
      order: 'asc',
      ids: [],
      at: null,
    });
    const given = { name: 'bob', count: 0, order: 'desc', ids: ['good'], at: 'xy' };
    expect(parseBody(Body, given)).toEqual(given);
  });

  it.each<[string, object, Fault]>([
    ['no name', {}, { pointer: '/name', message: 'must be 1-3 characters' }],
    ['a name of bytes that are no text', { name: '\ud800' }, { pointer: '/name', message: 'must be 1-3 characters' }],
    ['text for a number', { name: 'a', count: '1' }, { pointer: '/count', message: 'must be 0-9' }],
    ['null where there is none', { name: 'a', count: null }, { pointer: '/count', message: 'must be 0-9' }],
    ['a bad item', { name: 'a', ids: ['good', 'bad'] }, { pointer: '/ids/1', message: 'must be good' }],
    ['another text', { name: 'a', at: 'y' }, { pointer: '/at', message: 'must begin with x' }],
    [
      'a text that breaks the rule beside its own',
      { name: 'a', at: 'xyz!' },
      { pointer: '/at', message: 'must be shorter than or equal to 3 characters' },
    ],
    ['no text', { name: 'a', at: 1 }, { pointer: '/at', message: 'must be a string' }],
    ['an unknown field', { name: 'a', colour: 1 }, { pointer: '/colour', message: 'is not a known field' }],
    [
      'a field of every object',
      { name: 'a', constructor: 1 },
      { pointer: '/constructor', message: 'is not a known field' },
    ],
    [
      'a prototype',
      JSON.parse('{"name":"a","__proto__":{"count":1}}') as object,
      { pointer: '/__proto__', message: 'is not a known field' },
    ],
  ])('with %s is told where', (_what, body, fault) => expect(faultsOfBody(body)).toEqual([fault]));

  it.each([[null], [undefined], ['text'], [[]]])('must be an object, not %j', (body) => {
    expect(faultsOfBody(body)).toEqual([{ pointer: '', message: 'must be a JSON object' }]);
  });

  it('has a schema of the same rules', () => {
    expect(schemaOfClass(Body)).toMatchObject({
      required: ['name'],
      properties: {
        name: { type: 'string', minLength: 1, maxLength: 3 },
        count: { type: 'integer', maximum: 9, description: 'How many.' },
        order: { type: ['string', 'null'], enum: ['asc', 'desc', null] },
        ids: { type: 'array', items: { const: 'good' } },
        at: { type: ['string', 'null'], pattern: '^x' },
      },
    });
  });
});
