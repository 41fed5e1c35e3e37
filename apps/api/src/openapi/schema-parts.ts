import type { JsonSchema } from '@laddercast/commands';
import { NAMED_ID_PATTERN } from '@laddercast/domain';

export const string = (description?: string): JsonSchema => ({
  type: 'string',
  ...(description ? { description } : {}),
});
export const time = (description?: string): JsonSchema => ({ ...string(description), format: 'date-time' });
export const count = (description?: string, minimum = 0): JsonSchema => ({
  type: 'integer',
  minimum,
  ...(description ? { description } : {}),
});
export const oneOf = (...values: string[]): JsonSchema => ({ type: 'string', enum: values });
export const list = (items: JsonSchema): JsonSchema => ({ type: 'array', items });
export const score: JsonSchema = { type: 'number', description: 'An IEEE double, bit for bit as it was submitted.' };
export const namedId: JsonSchema = { type: 'string', format: 'named-id', pattern: NAMED_ID_PATTERN };
export const ref = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` });

/** An object that has exactly these fields, all of them unless said otherwise. */
export function object(properties: Record<string, JsonSchema>, optional: string[] = []): JsonSchema {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: 'object', additionalProperties: false, required, properties };
}

/** A problem that also says which request it answers. */
export const withRequestId = (problem: JsonSchema): JsonSchema => ({
  ...problem,
  properties: {
    ...(problem['properties'] as object),
    requestId: string('As in the header X-Request-Id: what to ask the operators with. Absent in items of a batch.'),
  },
});
