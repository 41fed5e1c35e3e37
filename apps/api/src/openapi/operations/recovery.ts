import { DeadLettersParameters, PageParameters } from '../../http/parameters.js';
import type { OperationDescription } from '../describe-operation.js';

const letter = {
  id: '17',
  group: 'score',
  topic: 'entry-changed',
  lane: 1,
  position: 48213,
  key: 'ada',
  payload: '{"type":"entry-changed"}',
  isPayloadCut: false,
  cause: 'TypeError: …',
  parkedAt: '2026-11-20T18:00:00.000Z',
  replayedAt: null,
};

const settlement = {
  board: 'blitz',
  window: 'season:s1',
  kind: 'final',
  closedAt: '2026-11-20T18:05:00.000Z',
  failures: 3,
  error: 'could not extend file "base/16384/24601": No space left on device',
  failedAt: '2026-11-20T18:05:07.000Z',
  retryAt: '2026-11-20T18:05:11.000Z',
};

const rebuild = {
  state: 'running',
  requestedAt: '2026-11-20T18:00:00.000Z',
  finishedAt: null,
  boards: 12,
  done: 3,
  underWay: [{ board: 'blitz', generation: 2, state: 'filling', entriesRead: 250_000 }],
};

const report = {
  ...{ windows: 2, lists: 4, compared: 20_000, missing: 1, stale: 0, stray: 0, values: 0, counters: 0, unsettled: 0 },
  examples: [{ window: 'alltime', scope: 'global', playerId: 'ada', kind: 'missing' }],
  failure: null,
};

const reconciliation = {
  board: 'blitz',
  state: 'finished',
  requestedAt: '2026-11-20T18:00:00.000Z',
  startedAt: '2026-11-20T18:00:00.300Z',
  finishedAt: '2026-11-20T18:00:02.100Z',
  report,
};

export const RECOVERY = {
  listDeadLetters: {
    tag: 'Administration',
    summary: 'Events that failed by themselves',
    description:
      'Needs the scope admin. Each was parked with its cause, and its lane went on. The newest first; kept for ' +
      'DEAD_LETTER_DAYS, and at most 100,000 of them.',
    callers: 'identified',
    query: DeadLettersParameters,
    answers: {
      200: { description: 'A page.', schema: 'DeadLetterList', example: { deadLetters: [letter], next: null } },
    },
    errors: ['FORBIDDEN'],
  },
  replayDeadLetter: {
    tag: 'Administration',
    summary: 'Have a dead letter arrive after all',
    description:
      'Needs the scope admin. The present state of what the event was about goes into the log once more: of a player, its ' +
      'entries as they are now. A message of in.scores or in.games is taken again with the rights of KAFKA_IN_SCORES_KEY ' +
      'or KAFKA_IN_GAMES_KEY; it has ' +
      'an id, and counts once. Replaying twice changes nothing.',
    callers: 'identified',
    answers: {
      200: {
        description: 'What became of it.',
        schema: 'DeadLetterReplay',
        example: { id: '17', outcome: 'replayed' },
      },
    },
    errors: ['FORBIDDEN', 'DEAD_LETTER_NOT_FOUND', 'OUTBOX_FULL', 'OVERLOADED'],
  },
  listSettlementFailures: {
    tag: 'Administration',
    summary: 'Windows whose standings cannot be written',
    description:
      'Needs the scope admin. Each waits for its next try, a second after the first failure, then twice as long each time, ' +
      'ten minutes at most; to close a window by hand tries its final standings at once. Other windows do not wait for it.',
    callers: 'identified',
    query: PageParameters,
    answers: {
      200: {
        description: 'A page.',
        schema: 'SettlementFailureList',
        example: { settlementFailures: [settlement], next: null },
      },
    },
    errors: ['FORBIDDEN'],
  },
  rebuildBoards: {
    tag: 'Administration',
    summary: 'Make the lists of all boards anew',
    description:
      'Needs the scope admin. Two boards at a time, each as by a rebuild of that board; reads and submissions go on.',
    callers: 'identified',
    answers: { 202: { description: 'Begun.', schema: 'Rebuild', example: rebuild } },
    errors: ['FORBIDDEN'],
  },
  getRebuild: {
    tag: 'Administration',
    summary: 'How far the rebuild of all boards is',
    description: 'Needs the scope admin.',
    callers: 'identified',
    answers: { 200: { description: 'The last one.', schema: 'Rebuild', example: rebuild } },
    errors: ['FORBIDDEN'],
  },
  reconcileBoard: {
    tag: 'Administration',
    summary: 'Compare a board with PostgreSQL',
    description:
      'Needs the scope admin. Every entry of every window that is kept in Redis is compared, both ways, and what differs is ' +
      'put right, while reads and submissions go on. One that runs already goes on. A GET of this address tells how far it is.',
    callers: 'identified',
    answers: {
      202: {
        description: 'Begun.',
        schema: 'Reconciliation',
        example: { ...reconciliation, state: 'waiting', startedAt: null, finishedAt: null },
      },
    },
    errors: ['FORBIDDEN', 'BOARD_NOT_FOUND'],
  },
  getReconciliation: {
    tag: 'Administration',
    summary: 'What the comparison of a board found',
    description: 'Needs the scope admin. The last one that was asked for, with what it has found so far.',
    callers: 'identified',
    answers: { 200: { description: 'The last one.', schema: 'Reconciliation', example: reconciliation } },
    errors: ['FORBIDDEN', 'BOARD_NOT_FOUND'],
  },
} satisfies Record<string, OperationDescription>;
