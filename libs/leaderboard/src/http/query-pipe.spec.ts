import { LadderError } from '@laddercast/domain';
import { IsInt, IsOptional, IsString } from 'class-validator';
import { describe, expect, it } from 'vitest';
import { QueryPipe } from './query-pipe.js';

class Asked {
  @IsOptional()
  @IsInt()
  limit?: number;

  @IsOptional()
  @IsString()
  scope?: string;
}

const faultsOf = (query: Record<string, unknown>): unknown => {
  try {
    return new QueryPipe().transform(query, { type: 'query', metatype: Asked });
  } catch (error) {
    return (error as LadderError).toProblem('/').errors;
  }
};

describe('a query', () => {
  it('with a parameter that is there twice is told so', () => {
    expect(faultsOf({ limit: ['5', '6'], scope: ['global', 'global'] })).toEqual([
      { pointer: '?limit', message: 'is given more than once' },
      { pointer: '?scope', message: 'is given more than once' },
    ]);
    expect(faultsOf({ limits: ['5', '6'] })).toEqual([{ pointer: '?limits', message: 'is not a known parameter' }]);
    expect(faultsOf({ limit: 'x' })).toEqual([{ pointer: '?limit', message: 'must be an integer' }]);
  });
});
