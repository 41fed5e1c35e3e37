import { BoardDefinitionDto, orNull, propertiesOf, schemaOfClass, type JsonSchema } from '@laddercast/commands';
import {
  ATTRIBUTE_NAME_PATTERN,
  CALENDAR_KINDS,
  NAMED_ID_PATTERN,
  SHARDS_MAX,
  withBoardDefaults,
} from '@laddercast/domain';
import { count, list, object, oneOf, string } from './schema-parts.js';

const timestamp = (description: string): JsonSchema => ({ ...string(description), format: 'timestamp' });

const window: JsonSchema = {
  anyOf: [
    oneOf(...CALENDAR_KINDS),
    object(
      {
        season: { type: 'string', pattern: NAMED_ID_PATTERN, description: 'The window is `season:<this>`.' },
        startsAt: timestamp('RFC 3339.'),
        endsAt: timestamp('RFC 3339. May be moved until the season is over.'),
        freezeAt: orNull(timestamp('From then to the end everyone but admins sees the standings of then.')),
      },
      ['freezeAt'],
    ),
    object({ rolling: { type: 'string', pattern: '^[1-9][0-9]{0,2}h$', description: '`24h`: the last 24 hours.' } }),
    object({ cron: string('Minute, hour, day of month, month, day of week: windows last from firing to firing.') }),
  ],
};

const scope: JsonSchema = {
  anyOf: [
    oneOf('global', 'region', 'guild'),
    object({ attribute: { type: 'string', pattern: ATTRIBUTE_NAME_PATTERN } }),
  ],
};

/** Sharding by ranges of scores. */
export const RANGE_SHARDING = object({
  by: oneOf('range'),
  boundaries: {
    ...list({ type: 'number' }),
    minItems: 1,
    maxItems: SHARDS_MAX - 1,
    description:
      'Scores, ascending, between the shards of the global scope. A score that is a boundary itself lies in the worse of its two shards.',
  },
});

const HASH_SHARDING = object({
  by: oneOf('hash'),
  count: { ...count('Of the global scope.', 1), maximum: SHARDS_MAX },
});

type Properties = Record<string, JsonSchema>;

const BODY = schemaOfClass(BoardDefinitionDto);

/** Windows, scopes and sharding are looked into by hand, which the class cannot say. */
const lookedInto = (options: Properties): Properties => ({
  ...options,
  windows: { ...options['windows'], uniqueItems: true, items: window },
  scopes: { ...options['scopes'], uniqueItems: true, items: scope },
  sharding: { anyOf: [HASH_SHARDING, RANGE_SHARDING] },
});

/** All fields are there, and null only stands where it is the default. */
function filledIn(options: Properties, defaults: Record<string, unknown>): JsonSchema {
  const filled = Object.entries(options).map(([name, option]) => {
    const value = defaults[name];
    const inner = option['properties'] as Properties | undefined;
    const schema = inner ? filledIn(inner, (value ?? {}) as Record<string, unknown>) : option;
    return [name, value === null ? orNull({ ...option, ...schema }) : { ...option, ...schema }];
  });
  return object(Object.fromEntries(filled) as Properties);
}

/** A definition with every default filled in. */
export const BOARD_SCHEMA = filledIn(lookedInto(propertiesOf(BoardDefinitionDto)), {
  ...withBoardDefaults({ order: 'desc', operator: 'best' }),
  template: null,
});

/** A definition without what names a board. */
const without = (schema: JsonSchema, ...names: string[]): JsonSchema => ({
  ...schema,
  properties: Object.fromEntries(
    Object.entries(schema['properties'] as Properties).filter(([name]) => !names.includes(name)),
  ),
});

/** The body of a PUT, as it is validated. */
export const BOARD_DEFINITION_SCHEMA: JsonSchema = {
  ...BODY,
  properties: {
    ...lookedInto(BODY['properties'] as Properties),
    sharding: { anyOf: [HASH_SHARDING, RANGE_SHARDING, { type: 'null' }] },
  },
};

/** What the boards of a template have in common. */
export const TEMPLATE_DEFINITION_SCHEMA: JsonSchema = without(BOARD_DEFINITION_SCHEMA, 'id', 'template');

/** What is different on one of them. */
export const OVERRIDES_SCHEMA: JsonSchema = {
  ...without(BOARD_DEFINITION_SCHEMA, 'id', 'template', 'title'),
  type: ['object', 'null'],
  required: [],
  description:
    'What is different on this board. Objects are merged part by part, everything else is replaced; null is the default of boards.',
};
