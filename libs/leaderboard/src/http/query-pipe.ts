import { faultsOf, faultsUnseen } from '@laddercast/commands';
import { validationFailed, type Fault, type LadderError } from '@laddercast/domain';
import { Injectable, type ArgumentMetadata, type PipeTransform } from '@nestjs/common';
import { plainToInstance } from 'class-transformer';
import { validateSync } from 'class-validator';
import { LRUCache } from 'lru-cache';

type Parameters = new () => object;

const NOT_KNOWN = 'is not a known parameter';

export const unknownParameters = (names: string[]): LadderError =>
  validationFailed(names.map((name) => ({ pointer: `?${name}`, message: NOT_KNOWN })));

/** So many query strings of a class are remembered, none of them longer than this: clients ask for the same all the time. */
const QUERIES_KNOWN_MAX = 1000;
const KNOWN_QUERY_LENGTH_MAX = 200;

/**
 * Parses a query string into its class by the decorators of class-validator; unknown parameters are refused. What it gives
 * is shared between requests, and frozen.
 * @throws VALIDATION_FAILED
 */
@Injectable()
export class QueryPipe implements PipeTransform {
  private readonly known = new Map<Parameters, LRUCache<string, object>>();

  transform(value: Record<string, unknown>, { metatype }: ArgumentMetadata): unknown {
    const parameters = metatype as Parameters;
    const query = JSON.stringify(value);
    if (query.length > KNOWN_QUERY_LENGTH_MAX) return this.parametersOf(parameters, value);
    const cache = this.cacheOf(parameters);
    const known = cache.get(query);
    if (known !== undefined) return known;
    const made = Object.freeze(this.parametersOf(parameters, value));
    cache.set(query, made);
    return made;
  }

  /** What the values of a query become before they are checked. */
  protected instanceOf(parameters: Parameters, value: Record<string, unknown>): object {
    return plainToInstance(parameters, { ...value });
  }

  private parametersOf(parameters: Parameters, value: Record<string, unknown>): object {
    const unseen = faultsUnseen(value).map(({ pointer }) => pointer.slice(1));
    if (unseen.length > 0) throw unknownParameters(unseen);
    const instance = this.instanceOf(parameters, value);
    const faults = faultsIn(instance).map(({ pointer, message }) => {
      const name = pointer.slice(1);
      if (message === 'is not a known field') return { pointer: `?${name}`, message: NOT_KNOWN };
      return { pointer: `?${name}`, message: Array.isArray(value[name]) ? 'is given more than once' : message };
    });
    if (faults.length > 0) throw validationFailed(faults);
    return instance;
  }

  private cacheOf(parameters: Parameters): LRUCache<string, object> {
    const cache = this.known.get(parameters) ?? new LRUCache<string, object>({ max: QUERIES_KNOWN_MAX });
    this.known.set(parameters, cache);
    return cache;
  }
}

/**
 * Makes an instance of its class of a JSON body, by the decorators of class-validator; unknown fields are refused.
 * @throws VALIDATION_FAILED
 */
@Injectable()
export class BodyPipe implements PipeTransform {
  transform(value: unknown, { metatype }: ArgumentMetadata): unknown {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw validationFailed([{ pointer: '', message: 'must be a JSON object' }]);
    }
    const unseen = faultsUnseen(value);
    if (unseen.length > 0) throw validationFailed(unseen);
    const instance = plainToInstance(metatype as Parameters, value);
    const faults = faultsIn(instance);
    if (faults.length > 0) throw validationFailed(faults);
    return instance;
  }
}

const faultsIn = (instance: object): Fault[] =>
  validateSync(instance, { whitelist: true, forbidNonWhitelisted: true }).flatMap((error) => faultsOf(error, ''));
