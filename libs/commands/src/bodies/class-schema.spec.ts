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
});
