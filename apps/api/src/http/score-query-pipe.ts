import { QueryPipe } from '@laddercast/leaderboard';
import { Injectable } from '@nestjs/common';
import { decimalOf, type ScoreParameters } from './parameters.js';

const COLUMN_PREFIX = 'columns.';

/** Parses {@link ScoreParameters}, whose columns are a parameter each: `columns.moves=31`. */
@Injectable()
export class ScoreQueryPipe extends QueryPipe {
  /** Puts the columns aside: class-transformer fails at one that is called like something that every object has. */
  protected override instanceOf(parameters: new () => object, value: Record<string, unknown>): object {
    const isColumn = ([name]: [string, unknown]): boolean => name.startsWith(COLUMN_PREFIX);
    const columns = Object.entries(value).filter(isColumn);
    if (columns.length === 0 || 'columns' in value) return super.instanceOf(parameters, value);
    const numbers = columns.map(([name, text]) => [name.slice(COLUMN_PREFIX.length), decimalOf(text)]);
    const others = Object.entries(value).filter((entry) => !isColumn(entry));
    const instance = super.instanceOf(parameters, Object.fromEntries(others)) as ScoreParameters;
    instance.columns = Object.fromEntries(numbers) as Record<string, number>;
    return instance;
  }
}
