import {
  PlayerRunsParameters,
  RunActParameters,
  RunOwnerParameters,
  RunsParameters,
} from '../../http/run-parameters.js';
import type { OperationDescription } from '../describe-operation.js';

const run = {
  submissionId: 'b1c0ffee',
  playerId: 'ada',
  kind: 'run',
  state: 'counted',
  score: 1520,
  columns: { moves: 31 },
  achievedAt: '2026-11-20T18:00:00.000Z',
  acceptedAt: '2026-11-20T18:00:00.512Z',
  windows: ['daily:2026-11-20', 'alltime'],
  entryOf: ['alltime'],
  metadata: { replay: 'r-77' },
  proof: 'https://replays.example/r-77',
  verified: false,
  sourceId: 'match-77',
  version: 48213,
  reason: null,
};

const acted = {
  submissionId: 'b1c0ffee',
  outcome: 'voided',
  version: 48220,
  windows: [
    {
      window: 'alltime',
      before: { score: 1520, columns: { moves: 31 }, achievedAt: '2026-11-20T18:00:00.000Z' },
      after: { score: 1490, columns: { moves: 40 }, achievedAt: '2026-11-18T09:12:00.000Z' },
      revising: false,
    },
  ],
};

const FILTERS = {
  state: 'Only runs in this state.',
  window: 'Only runs of this window: its full id, or `daily` for the running one.',
  from: 'RFC 3339: accepted at that time or later.',
  to: 'RFC 3339: accepted before that time.',
  player: 'Only runs of this player.',
};
const OWNER = { player: 'Whose run it is: needed where players submit for themselves, since ids are theirs there.' };

const ACT_ERRORS = [
  'FORBIDDEN',
  'BOARD_NOT_FOUND',
  'BOARD_IS_FED',
  'RUNS_NOT_KEPT',
  'RUN_NOT_FOUND',
  'RUN_GONE',
  'OVERLOADED',
] as const;

export const RUNS = {
  listRuns: {
    tag: 'Runs',
    summary: 'Read the runs of a board',
    description:
      'Needs the scope moderate. Every run that the board keeps, the newest first, with whether it counts and which entries ' +
      'rest on it. All filters must hold; from and to are by acceptedAt.',
    callers: 'identified',
    query: RunsParameters,
    parameters: FILTERS,
    answers: { 200: { description: 'One page.', schema: 'RunsPage', example: { runs: [run], next: '48213' } } },
    errors: ['FORBIDDEN', 'BOARD_NOT_FOUND', 'WINDOW_NOT_FOUND', 'RUNS_NOT_KEPT'],
  },
  listRunsOfPlayer: {
    tag: 'Runs',
    summary: "Read a player's runs on a board",
    description: "Needs the scope moderate, or the player's own token, which does not see reasons.",
    callers: 'identified',
    query: PlayerRunsParameters,
    parameters: FILTERS,
    answers: { 200: { description: 'One page.', schema: 'RunsPage', example: { runs: [run], next: null } } },
    errors: ['FORBIDDEN', 'BOARD_NOT_FOUND', 'WINDOW_NOT_FOUND', 'RUNS_NOT_KEPT'],
  },
  voidRun: {
    tag: 'Runs',
    summary: 'Take a run out',
    description:
      'Needs the scope moderate. The entry falls back to what the remaining runs come to, in each window of the run, in its ' +
      'scopes and guilds. A retry of its id still gets its first answer, and its attempt stays used. Again: unchanged.',
    callers: 'identified',
    query: RunActParameters,
    parameters: OWNER,
    answers: { 200: { description: 'What changed, window by window.', schema: 'RunActResult', example: acted } },
    errors: ACT_ERRORS,
  },
  restoreRun: {
    tag: 'Runs',
    summary: 'Let a voided run count again',
    description: 'Needs the scope moderate. Everything is as before, to the last bit, under a greater version.',
    callers: 'identified',
    query: RunActParameters,
    parameters: OWNER,
    answers: {
      200: {
        description: 'What changed, window by window.',
        schema: 'RunActResult',
        example: { ...acted, outcome: 'restored', version: 48231 },
      },
    },
    errors: ACT_ERRORS,
  },
  verifyRun: {
    tag: 'Runs',
    summary: 'Say whether a run was looked at',
    description: 'Needs the scope moderate.',
    callers: 'identified',
    query: RunOwnerParameters,
    parameters: OWNER,
    body: { schema: 'RunVerification', examples: { looked: { verified: true, reason: 'Watched the replay' } } },
    answers: {
      200: {
        description: 'Done.',
        schema: 'RunActResult',
        example: { submissionId: 'b1c0ffee', outcome: 'verified', version: 48213, windows: [] },
      },
    },
    errors: ACT_ERRORS,
  },
} satisfies Record<string, OperationDescription>;
