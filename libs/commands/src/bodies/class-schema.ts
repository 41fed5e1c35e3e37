import 'reflect-metadata';
import { plainToInstance } from 'class-transformer';
import { getMetadataStorage } from 'class-validator';
import { CHECKED, wordsOf, type JsonSchema } from './body-rules.js';

type Class = new () => object;
type Rule = ReturnType<ReturnType<typeof getMetadataStorage>['getTargetValidationMetadatas']>[number];

/** What each class-validator rule says in JSON Schema. */
const RULES: Record<string, (constraints: unknown[]) => JsonSchema> = {
  isString: () => ({ type: 'string' }),
  isBoolean: () => ({ type: 'boolean' }),
  isInt: () => ({ type: 'integer' }),
  isNumber: () => ({ type: 'number' }),
  isArray: () => ({ type: 'array' }),
  isObject: () => ({ type: 'object' }),
  isIn: ([values]) => ({ type: typeof (values as unknown[])[0], enum: [...(values as unknown[])] }),
  min: ([minimum]) => ({ minimum }),
  max: ([maximum]) => ({ maximum }),
  maxLength: ([maxLength]) => ({ maxLength }),
  minLength: ([minLength]) => ({ minLength }),
  matches: ([pattern]) => ({ type: 'string', pattern: (pattern as RegExp).source }),
  arrayMinSize: ([minItems]) => ({ minItems }),
  arrayMaxSize: ([maxItems]) => ({ maxItems }),
  // JSON Schema cannot express uniqueness by a function of the item.
  arrayUnique: ([identifier]) => (identifier ? {} : { uniqueItems: true }),
  [CHECKED]: ([schema]) => schema as JsonSchema,
};

/**
 * The JSON Schema of what a class's validation decorators let through, so that the document cannot differ from the check.
 * @param optionalMayBeNull whether null is taken for a field with `@IsOptional`, as in bodies
 * @throws Error for a rule that is not known here
 */
export function schemaOfClass(target: Class, { optionalMayBeNull = true } = {}): JsonSchema {
  const byProperty = new Map<string, Rule[]>();
  for (const rule of getMetadataStorage().getTargetValidationMetadatas(target, '', true, false)) {
    byProperty.set(rule.propertyName, [...(byProperty.get(rule.propertyName) ?? []), rule]);
  }
  const properties: Record<string, JsonSchema> = {};
  const required: string[] = [];
  for (const [property, rules] of byProperty) {
    const schema = schemaOfProperty(target, property, rules, optionalMayBeNull);
    if (!rules.some(isOptional)) required.push(property);
    properties[property] = optionalMayBeNull && rules.some(mayBeNull) ? orNull(schema) : schema;
  }
  return { type: 'object', additionalProperties: false, ...(required.length > 0 ? { required } : {}), properties };
}

/** The JSON Schema of each field, without the null that may stand for its default. */
export const propertiesOf = (target: Class): Record<string, JsonSchema> =>
  schemaOfClass(target, { optionalMayBeNull: false })['properties'] as Record<string, JsonSchema>;

const isOptional = (rule: Rule): boolean => rule.type === 'conditionalValidation';
const mayBeNull = (rule: Rule): boolean => rule.name === 'isOptional';

function schemaOfProperty(target: Class, property: string, rules: Rule[], optionalMayBeNull: boolean): JsonSchema {
  let schema: JsonSchema = {};
  let items: JsonSchema = {};
  for (const rule of rules.filter((one) => !isOptional(one))) {
    const said =
      rule.type === 'nestedValidation'
        ? schemaOfClass(nestedClass(target, property, rule.each), { optionalMayBeNull })
        : wordOf(rule, target);
    if (rule.each) items = { ...items, ...said };
    else schema = { ...schema, ...said };
  }
  if (Object.keys(items).length > 0) schema = { ...schema, items };
  return { ...schema, ...wordsOf(target.prototype as object, property) };
}

function wordOf(rule: Rule, target: Class): JsonSchema {
  const word = RULES[rule.name ?? ''];
  if (!word) throw new Error(`${target.name}.${rule.propertyName}: the rule ${rule.name} has no JSON Schema here.`);
  return word(rule.constraints ?? []);
}

/** The class that `@Type` names; class-transformer shows it only by making one. */
function nestedClass(target: Class, property: string, isList: boolean): Class {
  const sample = plainToInstance(target, { [property]: isList ? [{}] : {} }) as Record<string, object | object[]>;
  const nested = [sample[property]!].flat()[0]!.constructor as Class;
  if (nested === Object) throw new Error(`${target.name}.${property} needs @Type beside @ValidateNested.`);
  return nested;
}

/** The same schema, with null allowed. */
export function orNull(schema: JsonSchema): JsonSchema {
  const { enum: values } = schema as { enum?: unknown[] };
  return { ...schema, type: [schema['type'], 'null'].flat(), ...(values ? { enum: [...values, null] } : {}) };
}
