import { FlagsParameters } from '../../http/parameters.js';
import type { OperationDescription } from '../describe-operation.js';

const flag = {
  flagId: 'x0T5Zk3mJrYw1vQeUo8b2A',
  rule: 'jump',
  severity: 'medium',
  board: 'blitz',
  playerId: 'ada',
  submissionIds: ['b1c0ffee'],
  count: 1,
  summary: '131 is far better than the median of the 6 runs before it, 100.',
  details: { score: 131, median: 100, unit: 5, runs: 6, factor: 6 },
  raisedAt: '2026-11-20T18:00:01.000Z',
  state: 'open',
  decision: null,
  decidedBy: null,
  decidedAt: null,
  reason: null,
};

const decided = {
  ...flag,
  state: 'decided',
  decision: 'void',
  decidedBy: 'k_4Zt1',
  decidedAt: '2026-11-20T18:30:00.000Z',
  reason: 'a bug of 2.1.4',
};

export const FLAGS = {
  listFlags: {
    tag: 'Administration',
    summary: 'What is suspicious',
    description:
      'Needs the scope moderate. Flags of the rules that boards name (`integrity`), and of runs that were held, the newest ' +
      'first. Decided ones are kept for 400 days, those of boards that were deleted or reset are not.',
    callers: 'identified',
    query: FlagsParameters,
    parameters: {
      state: 'open: nobody has decided; decided.',
      board: 'The id of a board.',
      player: 'Whose runs they are about, alone or among others.',
      rule: 'jump, rate, cluster, held, or the name of a rule or check of a team.',
      severity: 'low, medium or high.',
    },
    answers: {
      200: { description: 'A page.', schema: 'FlagPage', example: { flags: [flag], next: null } },
    },
    errors: ['FORBIDDEN'],
  },
  decideFlag: {
    tag: 'Administration',
    summary: 'Decide a flag',
    description:
      'Needs the scope moderate. `accept`: a held run counts as if it had been accepted at once, and the runs are marked ' +
      '`verified`; `void`: the runs do not count; `ban`: as void, and their players are banned; `dismiss`: a held run counts, ' +
      'unverified, and of others only the flag is closed; `reopen`: it is open again, and what was decided stays until it is ' +
      'decided anew. The same decision again changes nothing. Of a flag with more than 100 runs the first 100 follow at once, ' +
      'the others within seconds.',
    callers: 'identified',
    body: {
      schema: 'FlagDecision',
      examples: {
        void: { decision: 'void', reason: 'a bug of 2.1.4' },
        reopen: { decision: 'reopen', reason: 'a new look' },
      },
    },
    answers: { 200: { description: 'The flag as it is now.', schema: 'Flag', example: decided } },
    errors: ['FORBIDDEN', 'FLAG_NOT_FOUND', 'FLAG_DECIDED', 'RUN_GONE', 'OVERLOADED'],
  },
} satisfies Record<string, OperationDescription>;
