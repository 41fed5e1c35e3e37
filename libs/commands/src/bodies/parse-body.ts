import { validationFailed } from '@laddercast/domain';
import { getMetadataStorage, validateSync } from 'class-validator';
import { faultsOf, unknownFields } from './body-faults.js';

/**
 * A body as an instance of its class, by the decorators of class-validator. An absent field gets the default of the
 * class, and so does null where `@IsOptional` allows it.
 * @param elseMessage the message for a body that is no object
 * @throws VALIDATION_FAILED with every fault
 */
export function parseBody<Body extends object>(
  type: new () => Body,
  body: unknown,
  elseMessage = 'must be a JSON object',
): Body {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw validationFailed([{ pointer: '', message: elseMessage }]);
  }
  return parseFields(type, body);
}

/**
 * As {@link parseBody}; a body that is no object counts as one without fields.
 * @throws VALIDATION_FAILED with every fault
 */
export function parseFields<Body extends object>(type: new () => Body, body: unknown): Body {
  const fields = Object.entries(typeof body === 'object' && body !== null ? body : {});
  const known = fieldsOf(type);
  const instance = new type() as Record<string, unknown>;
  const defaults = Object.entries(instance);
  for (const [name, value] of fields) if (known.has(name) && value !== undefined) instance[name] = value;
  const faults = [
    // class-validator's own check for unknown fields accepts names that every object has, such as constructor.
    ...unknownFields(Object.fromEntries(fields.filter(([name]) => !known.has(name)))),
    ...validateSync(instance).flatMap((error) => faultsOf(error, '')),
  ];
  if (faults.length > 0) throw validationFailed(faults);
  for (const [name, value] of defaults) instance[name] ??= value;
  return instance as Body;
}

const fieldsOfTypes = new Map<new () => object, Set<string>>();

/** Cached, because class-validator searches the rules of all classes for those of one. */
function fieldsOf(type: new () => object): Set<string> {
  const known = fieldsOfTypes.get(type);
  if (known) return known;
  const rules = getMetadataStorage().getTargetValidationMetadatas(type, '', true, false);
  const fields = new Set(rules.map(({ propertyName }) => propertyName));
  fieldsOfTypes.set(type, fields);
  return fields;
}
