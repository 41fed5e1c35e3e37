import type { OperationDescription } from '../describe-operation.js';

const hash = (count: number) => ({ by: 'hash', count });

export const LAYOUTS = {
  rebuildBoard: {
    tag: 'Administration',
    summary: "Make a board's lists anew",
    description:
      'Needs the scope admin. Another generation of the lists is filled from PostgreSQL beside the one that serves, and ' +
      'takes its place once it is proven to hold the same; reads and submissions go on. While one is being filled already, ' +
      'that one is named.',
    callers: 'identified',
    answers: {
      202: { description: 'Begun.', schema: 'BoardRebuild', example: { board: 'blitz', generation: 3 } },
    },
    errors: ['FORBIDDEN', 'BOARD_NOT_FOUND'],
  },
  getBoardLayout: {
    tag: 'Administration',
    summary: "How a board's lists are kept",
    description:
      'Needs the scope admin. The generations of the lists: the one that serves, one that is being filled, and those that ' +
      'served before and are on their way out.',
    callers: 'identified',
    answers: {
      200: {
        description: 'The generations by their number.',
        schema: 'BoardLayout',
        example: {
          board: 'blitz',
          generations: [
            { generation: 1, state: 'serving', sharding: hash(1), dense: false },
            { generation: 2, state: 'filling', sharding: hash(4), dense: false, entriesRead: 250_000, scans: 1 },
          ],
        },
      },
    },
    errors: ['FORBIDDEN', 'BOARD_NOT_FOUND'],
  },
} satisfies Record<string, OperationDescription>;
