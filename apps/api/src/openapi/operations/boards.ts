import { withBoardDefaults } from '@laddercast/domain';
import { PageParameters } from '../../http/parameters.js';
import type { OperationDescription } from '../describe-operation.js';

const given = {
  title: 'Ranked blitz',
  order: 'desc',
  operator: 'best',
  columns: [{ name: 'moves', order: 'asc' }],
  windows: ['alltime', 'daily'],
  limits: { scoreMin: 0, scoreMax: 1_000_000_000 },
  push: { intervalMs: 100, top: 100 },
} as const;
const board = {
  id: 'blitz',
  template: null,
  ...withBoardDefaults({ ...given, columns: [...given.columns], windows: [...given.windows] }),
};
const change = {
  board: 'blitz',
  playerId: 'ada',
  windows: ['alltime', 'daily:2026-11-20'],
  version: 48214,
  submissionId: null,
};

export const BOARDS = {
  listBoards: {
    tag: 'Boards',
    summary: 'List the boards',
    description: "Without a key with the scope read, or a player's token: the public boards.",
    callers: 'reader',
    query: PageParameters,
    answers: {
      200: { description: 'Boards by id.', schema: 'BoardList', example: { boards: [board], next: 'blitz' } },
    },
    errors: [],
  },
  getBoard: {
    tag: 'Boards',
    summary: 'Read a definition',
    callers: 'reader',
    headers: ['If-None-Match'],
    answers: {
      200: {
        description: 'The definition with every default filled in.',
        schema: 'Board',
        headers: ['ETag', 'Cache-Control'],
        example: board,
      },
      304: { description: 'Still what If-None-Match names.', headers: ['ETag', 'Cache-Control'] },
    },
    errors: ['FORBIDDEN', 'BOARD_NOT_FOUND'],
  },
  putBoard: {
    tag: 'Boards',
    summary: 'Create or replace a definition',
    description:
      'Needs the scope admin. Only `order` and `operator` are required; null means the default. Title, push, limits, format, ' +
      'visibility and the like are free to change; order, operator, tiebreak and columns only while the board is empty. ' +
      'Other sharding, and dense ranks, are brought about in the background, while reads and submissions go on. ' +
      'A sum board takes no columns. Dense ranks (`dense` or `rankStyle`) need one hash shard or sharding by range. What ' +
      'GET answers can be put again, `id` and `template` included. What is changed on a board of a template stays, also when the ' +
      'template is put again. Options of the contract that are not built are refused by name.',
    callers: 'identified',
    headers: ['If-Match', 'If-None-Match: *'],
    body: { schema: 'BoardDefinition', examples: { least: { order: 'desc', operator: 'best' }, blitz: given } },
    answers: {
      200: { description: 'Replaced.', schema: 'Board', headers: ['ETag'], example: board },
      201: { description: 'Created.', schema: 'Board', headers: ['ETag'], example: board },
    },
    errors: [
      'FORBIDDEN',
      'RUNS_NOT_KEPT',
      'BOARD_NOT_EMPTY',
      'BOARD_IN_USE',
      'PRECONDITION_FAILED',
      'NOT_SUPPORTED',
      'DECAY_NEEDS_POSITIVE_SCORES',
      'RANK_STYLE_NOT_KEPT',
    ],
  },
  deleteBoard: {
    tag: 'Boards',
    summary: 'Delete a board with its entries',
    description:
      'Needs the scope admin. A board made again under the same id is empty. One that a rating pool feeds is taken out of ' +
      'the pool first.',
    callers: 'identified',
    headers: ['If-Match'],
    answers: { 204: { description: 'Deleted.' } },
    errors: ['FORBIDDEN', 'BOARD_NOT_FOUND', 'BOARD_IN_USE', 'PRECONDITION_FAILED'],
  },
  setEntry: {
    tag: 'Boards',
    summary: "Set a player's entry, whatever the operator",
    description: 'Needs the scope admin; the reason is kept in the audit log. In every running window.',
    callers: 'identified',
    body: {
      schema: 'EntryOverride',
      examples: { correction: { score: 1500, columns: { moves: 40 }, reason: 'Timer fault in match 77' } },
    },
    answers: { 200: { description: 'The windows that changed.', schema: 'EntryChange', example: change } },
    errors: [
      'FORBIDDEN',
      'BOARD_NOT_FOUND',
      'WINDOW_CLOSED',
      'COLUMNS_MISMATCH',
      'SCORE_OUT_OF_BOUNDS',
      'COLUMN_OUT_OF_BOUNDS',
      'NOT_SUPPORTED',
      'BOARD_IS_FED',
      'OVERLOADED',
      'OUTBOX_FULL',
    ],
  },
  removeEntry: {
    tag: 'Boards',
    summary: "Remove a player's entry",
    description: 'Needs the scope admin. From every running window.',
    callers: 'identified',
    answers: { 200: { description: 'The windows that changed.', schema: 'EntryChange', example: change } },
    errors: ['FORBIDDEN', 'BOARD_NOT_FOUND', 'ENTRY_NOT_FOUND', 'BOARD_IS_FED', 'OVERLOADED', 'OUTBOX_FULL'],
  },
  resetBoard: {
    tag: 'Administration',
    summary: 'Empty a board',
    description:
      'Needs the scope admin. The definition stays; events and retries still under way do not reach the new board.',
    callers: 'identified',
    answers: { 200: { description: 'Empty.', schema: 'Board', headers: ['ETag'], example: board } },
    errors: ['FORBIDDEN', 'BOARD_NOT_FOUND'],
  },
} satisfies Record<string, OperationDescription>;
