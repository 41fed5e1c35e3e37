import { escapePointer, type Fault } from '@laddercast/domain';
import type { ValidationError } from 'class-validator';
import { faultFinderOf } from './body-rules.js';

/** Deeper than any definition, and far from the depth at which the validators overflow the stack. */
const DEPTH_MAX = 8;
/** More than any definition has in one place; the validators' work grows with its square. */
const FIELDS_MAX = 1000;

/**
 * Faults that class-transformer hides from class-validator: it skips names that every object has (`constructor`,
 * `toString`), and follows any nesting.
 * @param byColumn matches the pointers of objects whose fields are called like columns, which may have these names
 */
export function faultsUnseen(value: unknown, byColumn: RegExp | null = null, pointer = '', depth = 0): Fault[] {
  if (typeof value !== 'object' || value === null) return [];
  if (depth === DEPTH_MAX) return [{ pointer, message: 'is nested too deeply' }];
  const fields = Object.entries(value);
  if (fields.length > FIELDS_MAX) return [{ pointer, message: `has more than ${FIELDS_MAX} fields` }];
  const areColumns = byColumn?.test(pointer) ?? false;
  return fields.flatMap(([name, field]) => {
    const at = `${pointer}/${escapePointer(name)}`;
    return name in Object.prototype && !areColumns
      ? [{ pointer: at, message: 'is not a known field' }]
      : faultsUnseen(field, byColumn, at, depth + 1);
  });
}

const UNKNOWN_SHOWN_MAX = 50;

/** A fault for each field of an object that should have none of them, up to a readable number. */
export const unknownFields = (fields: object): Fault[] =>
  Object.keys(fields)
    .slice(0, UNKNOWN_SHOWN_MAX)
    .map((name) => ({ pointer: `/${escapePointer(name)}`, message: 'is not a known field' }));

/** The rules about a value's type, the outermost first: if one is broken, bounds mean nothing. */
const TYPE_FAULTS = {
  isArray: 'must be an array',
  isObject: 'must be an object',
  nestedValidation: 'must be an object',
  isString: 'must be a string',
  isBoolean: 'must be true or false',
  isInt: 'must be an integer',
  isNumber: 'must be a finite number',
};

/** class-validator's tree as JSON pointers. */
export function faultsOf(error: ValidationError, parent: string): Fault[] {
  const pointer = `${parent}/${escapePointer(error.property)}`;
  const found = faultFinderOf(error.target!, error.property)?.(error.value) ?? [];
  // Another rule of the field may be the broken one.
  if (found.length > 0) return found.map((fault) => ({ ...fault, pointer: pointer + fault.pointer }));
  return [
    ...messagesOf(error).map((message) => ({ pointer, message })),
    ...(error.children ?? []).flatMap((child) => faultsOf(child, pointer)),
  ];
}

function messagesOf({ property, value, constraints = {} }: ValidationError): string[] {
  if ('whitelistValidation' in constraints) return ['is not a known field'];
  const messages = Object.entries(constraints);
  if (messages.length > 0 && value === undefined) return ['is required'];
  for (const [rule, message] of Object.entries(TYPE_FAULTS)) {
    const said = constraints[rule];
    if (said !== undefined) return [said.startsWith('each value') ? `each value ${message}` : message];
  }
  return messages.map(([, message]) =>
    message.replace(`each value in ${property} `, 'each value ').replace(`${property} `, ''),
  );
}
