import type { OperationDescription } from '../describe-operation.js';

const submission = {
  submissionId: 'b1c0ffee',
  playerId: 'ada',
  score: 1520,
  columns: { moves: 31 },
  achievedAt: '2026-11-20T18:00:00.000Z',
  window: 'daily:2026-11-20',
  metadata: { replay: 'r-77' },
  sourceId: 'match-77',
};

const result = {
  submissionId: 'b1c0ffee',
  board: 'blitz',
  playerId: 'ada',
  outcome: 'created',
  replayed: false,
  score: 1520,
  previousScore: null,
  version: 48213,
  windows: ['daily:2026-11-20', 'alltime'],
  rank: {
    before: null,
    after: 17,
    delta: null,
    accuracy: 'estimated',
    errorBound: 3,
    total: 1042,
    asOf: '2026-11-20T18:00:00.012Z',
  },
};

export const SCORES = {
  submitScore: {
    tag: 'Scores',
    summary: 'Submit a score',
    description:
      'Answered once the score is durable. `submissionId` (or the Idempotency-Key header) makes retries safe: it counts once ' +
      'on a board, and a repetition gets the first answer again with `replayed: true`. Without either each request counts. ' +
      'The rank is estimated by a sketch of the list, some seconds old at most; with `Prefer: wait` it is counted. ' +
      'Needs a key with the scope scores:write, or the token of the player itself where `submitters` is `players`.',
    callers: 'identified',
    headers: ['Idempotency-Key', 'Prefer'],
    body: { schema: 'Submission', examples: { least: { playerId: 'ada', score: 1520 }, full: submission } },
    answers: { 200: { description: 'The score counts.', schema: 'SubmissionResult', example: result } },
    errors: [
      'FORBIDDEN',
      'PLAYER_BANNED',
      'BOARD_NOT_FOUND',
      'WINDOW_CLOSED',
      'SUBMISSION_ID_REUSED',
      'PATCH_UNKNOWN',
      'NOT_SUPPORTED',
      'OPERATOR_REFUSED',
      'RUNS_NOT_KEPT',
      'SCORE_OUT_OF_BOUNDS',
      'COLUMN_OUT_OF_BOUNDS',
      'BOARD_IS_FED',
      'COLUMNS_MISMATCH',
      'METADATA_TOO_LARGE',
      'ACHIEVED_AT_IN_FUTURE',
      'ACHIEVED_AT_REFUSED',
      'WINDOW_MISMATCH',
      'ATTEMPTS_EXHAUSTED',
      'SUBMISSION_REJECTED',
      'OVERLOADED',
      'OUTBOX_FULL',
    ],
  },
  submitScores: {
    tag: 'Scores',
    summary: 'Submit up to 1,000 scores',
    description:
      "For any boards; a player's submissions count in the order of the array. Each succeeds or fails by itself: the results " +
      'stand in the same order, each a SubmissionResult or `{ problem }`. Each takes a `submissionId` of its own; an ' +
      'Idempotency-Key for all of them is refused.',
    callers: 'identified',
    headers: ['Prefer'],
    body: {
      schema: 'SubmissionBatch',
      examples: {
        two: {
          submissions: [
            { board: 'blitz', ...submission },
            { board: 'sprint', playerId: 'bob', score: 9.58 },
          ],
        },
      },
    },
    answers: {
      200: {
        description: 'Each item has its result or its problem.',
        schema: 'SubmissionResults',
        example: {
          results: [
            result,
            {
              problem: {
                type: 'urn:laddercast:problem:BOARD_NOT_FOUND',
                title: 'There is no such board',
                status: 404,
                detail: 'There is no board "sprint".',
                instance: '/v1/scores#/submissions/1',
                code: 'BOARD_NOT_FOUND',
              },
            },
          ],
        },
      },
    },
    errors: [],
  },
} satisfies Record<string, OperationDescription>;
