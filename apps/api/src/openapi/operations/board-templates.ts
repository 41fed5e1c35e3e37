import { DryRunParameters, PageParameters, WithBoardsParameters } from '../../http/parameters.js';
import type { OperationDescription } from '../describe-operation.js';

const definition = {
  order: 'asc',
  operator: 'best',
  limits: { scoreMin: 0 },
  format: { kind: 'number', unit: 'days' },
};
const boards = [
  { board: 'eu4-108', title: 'Hindustan owns London', overrides: {} },
  { board: 'eu4-109', title: 'Ryukyu owns the world', overrides: { visibility: 'private' } },
];

export const BOARD_TEMPLATES = {
  listBoardTemplates: {
    tag: 'Boards',
    summary: 'List the templates of boards',
    description: 'Needs the scope admin.',
    callers: 'identified',
    query: PageParameters,
    answers: {
      200: {
        description: 'Templates by id.',
        schema: 'BoardTemplateList',
        example: { templates: [{ id: 'eu4', definition, boardCount: 371 }], next: null },
      },
    },
    errors: ['FORBIDDEN'],
  },
  getBoardTemplate: {
    tag: 'Boards',
    summary: 'Read a template of boards',
    description: 'Needs the scope admin. All but `byHand` can be put again.',
    callers: 'identified',
    answers: {
      200: {
        description: 'As it was put, and what was changed by hand since. The ETag is of what was put.',
        schema: 'BoardTemplate',
        headers: ['ETag', 'Cache-Control'],
        example: {
          id: 'eu4',
          definition,
          boards,
          byHand: [{ board: 'eu4-108', overrides: { push: { intervalMs: 250 } } }],
        },
      },
    },
    errors: ['FORBIDDEN', 'TEMPLATE_NOT_FOUND'],
  },
  putBoardTemplate: {
    tag: 'Boards',
    summary: 'Make or change up to 2,000 boards by one definition',
    description:
      'Needs the scope admin. Each board gets the definition, its title, and its overrides: objects are merged part by part, ' +
      'all else is replaced, null is the default of boards. Each is made in a transaction of its own: one that cannot take its ' +
      'definition stays as it was and is a `problem` of the results, the others go on. What was changed on a board by hand stays, ' +
      'unless its overrides or title name it. A board that exists and is of no template becomes one of this if it is as the ' +
      'template would make it, else it is a problem; so is one of another template. Boards that are named no longer are ' +
      '`released`: they stay as they are. A call that ended early is finished by the same call again; of two different ones at ' +
      'once the one that was stored first is answered 412. With `dryRun` nothing is written. A definition that nothing could be ' +
      'made of refuses the whole, and stores nothing.',
    callers: 'identified',
    query: DryRunParameters,
    headers: ['If-Match', 'If-None-Match: *'],
    body: { schema: 'BoardTemplateDefinition', examples: { eu4: { definition, boards } } },
    answers: {
      200: {
        description: 'Replaced, or what would be done.',
        schema: 'BoardTemplateOutcome',
        example: {
          dryRun: false,
          results: [
            { board: 'eu4-108', status: 'unchanged' },
            {
              board: 'eu4-109',
              status: 'problem',
              problem: {
                type: 'urn:laddercast:problem:BOARD_NOT_EMPTY',
                title: 'The board has entries',
                status: 409,
                detail: 'order cannot change while the board has entries: reset it first, or make another board.',
                instance: '/v1/board-templates/eu4#/boards/1',
                code: 'BOARD_NOT_EMPTY',
              },
            },
          ],
          released: ['eu4-17'],
        },
      },
      201: {
        description: 'Created.',
        schema: 'BoardTemplateOutcome',
        headers: ['ETag'],
        example: { dryRun: false, results: boards.map(({ board }) => ({ board, status: 'created' })), released: [] },
      },
    },
    errors: [
      'FORBIDDEN',
      'PRECONDITION_FAILED',
      'NOT_SUPPORTED',
      'RUNS_NOT_KEPT',
      'RANK_STYLE_NOT_KEPT',
      'RULE_UNKNOWN',
    ],
  },
  deleteBoardTemplate: {
    tag: 'Boards',
    summary: 'Delete a template of boards',
    description:
      'Needs the scope admin. Its boards stay as they are, and are of no template then. With `boards=1` they are deleted with ' +
      'their entries; where a rating pool feeds one of them, nothing is.',
    callers: 'identified',
    query: WithBoardsParameters,
    parameters: { boards: 'Alone, `1` or `true`: its boards are deleted, too.' },
    headers: ['If-Match'],
    answers: { 204: { description: 'Deleted.' } },
    errors: ['FORBIDDEN', 'TEMPLATE_NOT_FOUND', 'BOARD_IN_USE', 'PRECONDITION_FAILED'],
  },
} satisfies Record<string, OperationDescription>;
