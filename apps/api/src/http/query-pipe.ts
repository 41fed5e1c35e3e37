import { faultsOf, faultsUnseen } from '@laddercast/commands';
import { BoundedCache, validationFailed, type LadderError } from '@laddercast/domain';
import {
  Injectable,
  type ArgumentMetadata,
  type CanActivate,
  type ExecutionContext,
  type PipeTransform,
} from '@nestjs/common';
import { plainToInstance } from 'class-transformer';
import { validateSync } from 'class-validator';
import { decimalOf, ScoreParameters } from './parameters.js';

const unknownParameters = (names: string[]): LadderError =>
  validationFailed(names.map((name) => ({ pointer: `?${name}`, message: 'is not a known parameter' })));

/** For routes that take no query parameters: any is refused. */
@Injectable()
export class NoParametersGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const names = Object.keys(context.switchToHttp().getRequest<{ query: object }>().query);
    if (names.length > 0) throw unknownParameters(names);
    return true;
  }
}

/** So many query strings are remembered, none of them longer than this: clients ask for the same all the time. */
const QUERIES_KNOWN_MAX = 1000;
const KNOWN_QUERY_LENGTH_MAX = 200;

/** Parses a query string into its class; unknown parameters are refused. What it gives is shared, and stays as it is. */
@Injectable()
export class QueryPipe implements PipeTransform {
  private readonly known = new BoundedCache<string, object>(QUERIES_KNOWN_MAX);

  transform(value: Record<string, unknown>, { metatype }: ArgumentMetadata): unknown {
    const Parameters = metatype as new () => object;
    const query = `${Parameters.name}${JSON.stringify(value)}`;
    if (query.length > KNOWN_QUERY_LENGTH_MAX) return parametersOf(Parameters, value);
    return this.known.get(query, () => Object.freeze(parametersOf(Parameters, value)));
  }
}

function parametersOf(Parameters: new () => object, value: Record<string, unknown>): object {
  const unseen = faultsUnseen(value).map(({ pointer }) => pointer.slice(1));
  if (unseen.length > 0) throw unknownParameters(unseen);
  const { others, columns } =
    Parameters === ScoreParameters ? splitColumns(value) : { others: { ...value }, columns: null };
  const parameters = plainToInstance(Parameters, others);
  if (columns !== null) Object.assign(parameters, { columns });
  const errors = validateSync(parameters, { whitelist: true, forbidNonWhitelisted: true });
  const faults = errors
    .flatMap((error) => faultsOf(error, ''))
    .map((fault) => ({ ...fault, pointer: `?${fault.pointer.slice(1)}` }));
  if (faults.length > 0)
    throw validationFailed(
      faults.map((fault) =>
        fault.message === 'is not a known field' ? { ...fault, message: 'is not a known parameter' } : fault,
      ),
    );
  return parameters;
}

const COLUMN_PREFIX = 'columns.';

/** Puts the columns aside: class-transformer fails at one that is called like something that every object has. */
function splitColumns(value: Record<string, unknown>): { others: object; columns: object | null } {
  const isColumn = ([name]: [string, unknown]): boolean => name.startsWith(COLUMN_PREFIX);
  const columns = Object.entries(value).filter(isColumn);
  if (columns.length === 0 || 'columns' in value) return { others: { ...value }, columns: null };
  const numbers = columns.map(([name, text]) => [name.slice(COLUMN_PREFIX.length), decimalOf(text)]);
  const others = Object.entries(value).filter((entry) => !isColumn(entry));
  return { others: Object.fromEntries(others), columns: Object.fromEntries(numbers) as object };
}
