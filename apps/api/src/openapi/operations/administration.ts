import { BoundariesParameters, CloseWindowParameters, PageParameters } from '../../http/parameters.js';
import type { OperationDescription } from '../describe-operation.js';

const key = { keyId: 'k7Yw0aQx3Lr2', name: 'match servers', scopes: ['scores:write'] };

const closed = {
  board: 'blitz',
  window: { id: 'season:s1', startsAt: '2026-11-01T00:00:00.000Z', endsAt: '2026-11-20T18:00:00.000Z' },
  dryRun: false,
  scopes: [{ scope: 'global', total: 1042, top: [{ rank: 1, playerId: 'ada', score: 1520 }] }],
};

const proposal = {
  board: 'blitz',
  window: 'alltime',
  total: 1042,
  sharding: { by: 'range', boundaries: [850, 1200, 1610] },
  entries: [260, 261, 259, 262],
  isLimitedByTies: false,
  dryRun: true,
};

export const ADMINISTRATION = {
  closeWindow: {
    tag: 'Administration',
    summary: 'End a window now',
    description:
      'Needs the scope admin. There is no grace: nothing enters the window any more, and its final standings are written. With `dryRun` nothing changes, and the answer says what would be written. Of more than 100 lists those of everybody and of guilds, and the longest, are answered.',
    callers: 'identified',
    query: CloseWindowParameters,
    body: { schema: 'WindowToClose', examples: { season: { window: 'season:s1' }, running: { window: 'daily' } } },
    answers: { 200: { description: 'The standings.', schema: 'ClosedWindow', example: closed } },
    errors: [
      'FORBIDDEN',
      'BOARD_NOT_FOUND',
      'WINDOW_NOT_FOUND',
      'WINDOW_CLOSED',
      'WINDOW_UNENDING',
      'WINDOW_MISMATCH',
      'LEDGER_UNAVAILABLE',
      'PROJECTION_BEHIND',
    ],
  },
  proposeBoundaries: {
    tag: 'Administration',
    summary: 'Part a board into ranges of scores',
    description:
      'Needs the scope admin. Boundaries for so many shards, with as many entries in each as equal scores allow: those always lie in one shard. With `dryRun` they are only said; without, they become the `sharding` of the board, as by a PUT of its definition.',
    callers: 'identified',
    query: BoundariesParameters,
    headers: ['If-Match'],
    body: {
      schema: 'ShardsToBound',
      examples: { four: { shards: 4 }, season: { shards: 16, window: 'season:s1' } },
    },
    answers: { 200: { description: 'The boundaries.', schema: 'BoundariesProposal', example: proposal } },
    errors: [
      'FORBIDDEN',
      'BOARD_NOT_FOUND',
      'WINDOW_NOT_FOUND',
      'BOUNDARIES_IMPOSSIBLE',
      'NOT_SUPPORTED',
      'PRECONDITION_FAILED',
      'LEDGER_UNAVAILABLE',
      'PROJECTION_UNAVAILABLE',
      'PROJECTION_BEHIND',
    ],
  },
  createApiKey: {
    tag: 'Administration',
    summary: 'Make an API key',
    description: 'Needs the scope admin. The secret is in this answer and nowhere else.',
    callers: 'identified',
    body: { schema: 'NewApiKey', examples: { servers: { name: 'match servers', scopes: ['scores:write'] } } },
    answers: {
      201: {
        description: 'The key, with its secret.',
        schema: 'CreatedApiKey',
        example: { ...key, secret: 'lk_XXXXXXXXXXXXXXXX' },
      },
    },
    errors: ['FORBIDDEN'],
  },
  listApiKeys: {
    tag: 'Administration',
    summary: 'List the API keys',
    description: 'Needs the scope admin. Revoked ones are listed too; secrets are not.',
    callers: 'identified',
    query: PageParameters,
    answers: {
      200: {
        description: 'Keys by id.',
        schema: 'ApiKeyList',
        example: { keys: [{ ...key, createdAt: '2026-11-20T18:00:00.000Z', revokedAt: null }], next: null },
      },
    },
    errors: ['FORBIDDEN'],
  },
  revokeApiKey: {
    tag: 'Administration',
    summary: 'Revoke an API key',
    description: 'Needs the scope admin. The key stops working within a second or two.',
    callers: 'identified',
    answers: { 204: { description: 'Revoked.' } },
    errors: ['FORBIDDEN', 'API_KEY_NOT_FOUND'],
  },
  healthLive: {
    tag: 'Health',
    summary: 'Whether the process runs',
    callers: 'anyone',
    answers: { 200: { description: 'It does.', schema: 'Liveness', example: { status: 'ok' } } },
    errors: [],
  },
  healthReady: {
    tag: 'Health',
    summary: 'Whether the process has what it needs',
    callers: 'anyone',
    answers: {
      200: { description: 'It has.', schema: 'Readiness', example: { status: 'ok', missing: [] } },
      503: {
        description: 'Something is missing.',
        schema: 'Readiness',
        example: { status: 'missing', missing: ['redis'] },
      },
    },
    errors: [],
  },
} satisfies Record<string, OperationDescription>;
