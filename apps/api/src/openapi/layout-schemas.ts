import { schemaOfClass, type JsonSchema } from '@laddercast/commands';
import { LanesBody } from '../http/bodies.js';
import { RANGE_SHARDING } from './board-schemas.js';
import { count, list, object, oneOf, string } from './schema-parts.js';

/** How what is written and what is read is spread. */
export const LAYOUT_SCHEMAS: Record<string, JsonSchema> = {
  LanesToHave: schemaOfClass(LanesBody),
  Lanes: object({
    lanes: count('How many there are.', 1),
    maps: list(
      object({ lanes: count(undefined, 1), since: count('The log position from which on there were so many.') }),
    ),
  }),
  BoardRebuild: object({ board: string(), generation: count('Which will serve.', 1) }),
  BoardLayout: object({
    board: string(),
    generations: list(
      object(
        {
          generation: count(undefined, 1),
          state: {
            ...oneOf('serving', 'filling', 'proving', 'retiring', 'removing'),
            description:
              "filling: from PostgreSQL; proving: the log's consumers are waited for; retiring: it served until a moment " +
              'ago, and is fed still; removing: its keys are on their way out.',
          },
          sharding: { anyOf: [object({ by: oneOf('hash'), count: count(undefined, 1) }), RANGE_SHARDING] },
          dense: { type: 'boolean', description: 'Whether dense ranks can be read.' },
          entriesRead: count('While it is filled: by the present scan.'),
          scans: count('While it is filled: how many were begun.'),
        },
        ['entriesRead', 'scans'],
      ),
    ),
  }),
};
