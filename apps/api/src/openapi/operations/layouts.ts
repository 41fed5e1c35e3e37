import type { OperationDescription } from '../describe-operation.js';

const hash = (count: number) => ({ by: 'hash', count });

const RAISED = {
  lanes: 8,
  maps: [
    { lanes: 2, since: 0 },
    { lanes: 8, since: 51_200 },
  ],
};

export const LAYOUTS = {
  getLanes: {
    tag: 'Administration',
    summary: 'How many lanes the ledger has',
    description: 'Needs the scope admin. Also how many it had before, and since which log position there were more.',
    callers: 'identified',
    answers: { 200: { description: 'The lanes.', schema: 'Lanes', example: RAISED } },
    errors: ['FORBIDDEN'],
  },
  raiseLanes: {
    tag: 'Administration',
    summary: 'Raise the number of lanes',
    description:
      'Needs the scope admin. Everything goes on meanwhile: submissions wait for a moment, and events of the new lanes ' +
      'until each consumer has handled those of the lanes that their players came from. The number is a multiple of the present ' +
      'one, and is never lowered. Where there are so many already, nothing changes. Each lane takes two connections to PostgreSQL ' +
      'of every process that writes. No process of a release without this call may be running.',
    callers: 'identified',
    body: { schema: 'LanesToHave', examples: { eight: { lanes: 8 } } },
    answers: { 200: { description: 'The lanes as they are from now on.', schema: 'Lanes', example: RAISED } },
    errors: ['FORBIDDEN', 'LANES_NOT_RAISED', 'OVERLOADED'],
  },
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
