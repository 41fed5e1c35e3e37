import { BoardDefinitionDto, orNull, schemaOfClass, type JsonSchema } from '@laddercast/commands';
import {
  ATTRIBUTE_NAME_PATTERN,
  CALENDAR_KINDS,
  COLUMNS_MAX,
  NAMED_ID_PATTERN,
  RANK_STYLES,
  SHARDS_MAX,
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

/** A definition with every default filled in. */
export const BOARD_SCHEMA = object({
  id: { type: 'string', pattern: NAMED_ID_PATTERN },
  title: orNull(string()),
  order: oneOf('asc', 'desc'),
  operator: oneOf('best', 'latest', 'sum'),
  tiebreak: oneOf('earliest', 'latest', 'none'),
  columns: { ...list(object({ name: string(), order: oneOf('asc', 'desc') })), maxItems: COLUMNS_MAX },
  rankStyle: oneOf(...RANK_STYLES),
  dense: { type: 'boolean', description: 'Whether dense ranks are kept; a rankStyle of dense keeps them, too.' },
  windows: { ...list(window), minItems: 1, uniqueItems: true },
  timeZone: string('IANA name of the zone whose days the windows follow.'),
  scopes: { ...list(scope), minItems: 1, uniqueItems: true },
  sharding: { anyOf: [HASH_SHARDING, RANGE_SHARDING] },
  limits: object({
    scoreMin: orNull({ type: 'number' }),
    scoreMax: orNull({ type: 'number' }),
    entriesMax: orNull(
      count('How many entries a running window keeps: the best; up to 5 % more between two trims.', 1),
    ),
    attemptsMax: orNull(count('How many runs of a player count in each window.', 1)),
    entryLifetimeSeconds: orNull(
      count('An entry goes from the running windows when no run renews it for so long; at least 60.', 60),
    ),
  }),
  graceSeconds: count('How late a submission may still enter an ended window.'),
  keepEndedSeconds: count('How long an ended window stays in Redis; its standings stay in PostgreSQL.'),
  snapshot: object({
    top: count('How many rows of each list are kept.', 1),
    keepEveryMinutes: orNull(count('null: none is kept.', 1)),
    keepDays: count(undefined, 1),
  }),
  retention: object({ standingsDays: orNull(count('null: final standings are kept for ever.', 1)) }),
  push: object({ intervalMs: count(undefined, 1), top: count(undefined, 1) }),
  history: orNull(
    object({
      everyMinutes: {
        ...count('One point of a player and window for each stretch of so many minutes.', 1),
        maximum: 1440,
      },
      keepDays: { ...count('How long points are kept.', 1), maximum: 3650 },
    }),
  ),
  change: { type: 'boolean', description: 'Whether rows say how many places a player moved since yesterday.' },
  format: object({ kind: oneOf('number', 'time', 'currency'), decimals: count(), unit: orNull(string()) }),
  guildAggregate: object({
    kind: oneOf('sum', 'average', 'top'),
    k: orNull(count('With `top`: of how many of the best.', 1)),
    onLeave: oneOf('keep', 'takeAway'),
  }),
  submitters: oneOf('servers', 'players'),
  clientTime: { type: 'boolean' },
  visibility: oneOf('public', 'private'),
});

/** The body of a PUT, as it is validated; windows, scopes and sharding are looked into by hand there. */
export const BOARD_DEFINITION_SCHEMA = withProperty(
  withItems(schemaOfClass(BoardDefinitionDto), { windows: window, scopes: scope }),
  'sharding',
  { anyOf: [HASH_SHARDING, RANGE_SHARDING, { type: 'null' }] },
);

function withProperty(schema: JsonSchema, name: string, property: JsonSchema): JsonSchema {
  return { ...schema, properties: { ...(schema['properties'] as Record<string, JsonSchema>), [name]: property } };
}

function withItems(schema: JsonSchema, items: Record<string, JsonSchema>): JsonSchema {
  const properties = { ...(schema['properties'] as Record<string, JsonSchema>) };
  for (const [name, item] of Object.entries(items))
    properties[name] = { ...properties[name], uniqueItems: true, items: item };
  return { ...schema, properties };
}
