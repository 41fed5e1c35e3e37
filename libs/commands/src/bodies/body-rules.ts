import 'reflect-metadata';
import {
  CLEAN_TEXT_PATTERN,
  COLUMNS_MAX,
  isCleanText,
  OPAQUE_ID_BYTES_MAX,
  OPAQUE_ID_PATTERN,
  type Fault,
} from '@laddercast/domain';
import { ValidateBy, ValidateIf } from 'class-validator';

/** A JSON Schema (2020-12), as plain JSON. */
export type JsonSchema = Record<string, unknown>;

const FAULTS = Symbol('faults');
const WORDS = Symbol('words');

/** The rule that {@link Checked} adds, whose JSON Schema is its one constraint. */
export const CHECKED = 'checked';

/** The field may be left out; null is a value like any other, of the wrong type. */
export const MayBeAbsent = (): PropertyDecorator => ValidateIf((_body, value) => value !== undefined);

/** Adds to the JSON Schema of a field what its rules do not say: a description, or what is checked later. */
export const InSchema = (words: JsonSchema): PropertyDecorator => Reflect.metadata(WORDS, words);

/** The one message for a field, whichever of its rules is broken. */
export const RefusedAs = (message: string): PropertyDecorator =>
  Reflect.metadata(FAULTS, (): Fault[] => [{ pointer: '', message }]);

/**
 * A rule of our own.
 * @param faultsIn finds the faults of a value, with pointers into it
 * @param schema the same as a JSON Schema
 */
export function Checked(faultsIn: (value: unknown) => Fault[], schema: JsonSchema): PropertyDecorator {
  const validator = {
    validate: (value: unknown) => faultsIn(value).length === 0,
    defaultMessage: () => 'is not valid',
  };
  const check = ValidateBy({ name: CHECKED, constraints: [schema], validator });
  return (target, property) => {
    check(target, property);
    Reflect.defineMetadata(FAULTS, faultsIn, target, property);
  };
}

/** A text in which the function finds no fault. */
export const Passes = (faultOf: (text: string) => string | null, schema: JsonSchema = {}): PropertyDecorator =>
  Checked(
    (value) => {
      const message = typeof value === 'string' ? faultOf(value) : 'must be a string';
      return message === null ? [] : [{ pointer: '', message }];
    },
    { type: 'string', ...schema },
  );

/** JSON Schema of a text that {@link IsText} takes. */
export const textSchema = (lengthMax: number): JsonSchema => ({
  type: 'string',
  minLength: 1,
  maxLength: lengthMax,
  pattern: CLEAN_TEXT_PATTERN,
});

/**
 * JSON Schema of an id that clients make. The real limit is in bytes, which a length in characters only approximates.
 */
export const OPAQUE_ID_SCHEMA: JsonSchema = {
  ...textSchema(OPAQUE_ID_BYTES_MAX),
  pattern: OPAQUE_ID_PATTERN,
  format: 'opaque-id',
};

/** JSON Schema of the values of extra columns. */
export const NUMBERS_BY_NAME: JsonSchema = {
  type: 'object',
  maxProperties: COLUMNS_MAX,
  additionalProperties: { type: 'number' },
};

/** The values of extra columns. Whether they are the board's columns is checked later. */
export const IsNumbersByName = (): PropertyDecorator =>
  Checked((columns) => {
    return isObject(columns) && Object.values(columns).every(Number.isFinite)
      ? []
      : [{ pointer: '', message: 'must be an object of finite numbers' }];
  }, NUMBERS_BY_NAME);

const BOUND_SCHEMA: JsonSchema = { type: ['number', 'null'] };

/** The least and the greatest value by name, each of which may be left out. Whether the names are known is checked later. */
export const IsBoundsByName = (): PropertyDecorator =>
  Checked(faultsOfBounds, {
    type: 'object',
    maxProperties: COLUMNS_MAX,
    additionalProperties: {
      type: ['object', 'null'],
      additionalProperties: false,
      properties: { min: BOUND_SCHEMA, max: BOUND_SCHEMA },
    },
  });

function faultsOfBounds(value: unknown): Fault[] {
  if (!isObject(value)) return [{ pointer: '', message: 'must be an object of { min, max } by name' }];
  return Object.entries(value).flatMap(([name, bounds]): Fault[] => {
    const pointer = `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    if (!isObject(bounds)) return [{ pointer, message: 'must be an object with min, max or both' }];
    return Object.entries(bounds).flatMap(([bound, number]) => {
      if (bound !== 'min' && bound !== 'max') return [{ pointer, message: 'takes min and max alone' }];
      return Number.isFinite(number) ? [] : [{ pointer: `${pointer}/${bound}`, message: 'must be a finite number' }];
    });
  });
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A name given by a client, of at least one character. */
export function IsText(lengthMax: number, message = `must be 1-${lengthMax} characters`): PropertyDecorator {
  const isText = (value: unknown): boolean =>
    typeof value === 'string' && value !== '' && [...value].length <= lengthMax && isCleanText(value);
  return Checked((value) => (isText(value) ? [] : [{ pointer: '', message }]), textSchema(lengthMax));
}

export const REASON_LENGTH_MAX = 500;

/** Why an operator did something; it is kept. */
export const IsReason = (): PropertyDecorator =>
  IsText(REASON_LENGTH_MAX, `must say why, in 1-${REASON_LENGTH_MAX} characters`);

/** What {@link InSchema} says of a field. */
export const wordsOf = (target: object, property: string): JsonSchema =>
  (Reflect.getMetadata(WORDS, target, property) ?? {}) as JsonSchema;

/** The fault finder of a field with {@link Checked} or {@link RefusedAs}. */
export const faultFinderOf = (target: object, property: string): ((value: unknown) => Fault[]) | undefined =>
  Reflect.getMetadata(FAULTS, target, property) as ((value: unknown) => Fault[]) | undefined;
