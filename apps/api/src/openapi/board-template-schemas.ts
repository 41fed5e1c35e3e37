import { BoardTemplateBody, orNull, schemaOfClass, type JsonSchema } from '@laddercast/commands';
import { OVERRIDES_SCHEMA, TEMPLATE_DEFINITION_SCHEMA } from './board-schemas.js';
import { count, list, namedId, object, oneOf, ref, string } from './schema-parts.js';

const options = (description: string): JsonSchema => ({ type: 'object', description });
const definition = options('As it was put, without defaults: what its boards have in common.');

const BODY = schemaOfClass(BoardTemplateBody) as { properties: Record<string, JsonSchema> };
const BOARDS = BODY.properties['boards'] as { items: { properties: Record<string, JsonSchema> } };

/** The body of a PUT; its definitions are looked into by hand, which the class cannot say. */
const TEMPLATE_BODY: JsonSchema = {
  ...BODY,
  properties: {
    ...BODY.properties,
    definition: TEMPLATE_DEFINITION_SCHEMA,
    boards: {
      ...BOARDS,
      items: { ...BOARDS.items, properties: { ...BOARDS.items.properties, overrides: OVERRIDES_SCHEMA } },
    },
  },
};

/** Templates: many boards by one definition. */
export const BOARD_TEMPLATE_SCHEMAS: Record<string, JsonSchema> = {
  BoardTemplateDefinition: TEMPLATE_BODY,
  BoardTemplate: object({
    id: namedId,
    definition,
    boards: list(
      object({
        board: namedId,
        title: orNull(string()),
        overrides: options('What the template says of this board alone.'),
      }),
    ),
    byHand: {
      ...list(object({ board: namedId, overrides: options('What differs from what the template says.') })),
      description: 'Boards that were changed by hand, and differ from the template.',
    },
  }),
  BoardTemplateList: object({
    templates: list(object({ id: namedId, definition, boardCount: count('How many boards it names.') })),
    next: { ...orNull(string()), description: 'The next cursor.' },
  }),
  BoardTemplateOutcome: object({
    dryRun: { type: 'boolean' },
    results: {
      ...list({
        anyOf: [
          object({ board: namedId, status: oneOf('created', 'updated', 'unchanged') }),
          object({ board: namedId, status: oneOf('problem'), problem: ref('Problem') }),
        ],
      }),
      description: 'In the order of the boards that were sent. A board with a problem is as it was.',
    },
    released: {
      ...list(namedId),
      description: 'Boards that the template names no longer: they stay as they are, and are of no template.',
    },
  }),
};
