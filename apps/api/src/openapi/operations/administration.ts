import { RestatementParameters } from '../../http/moderation-bodies.js';
import { AuditParameters, DryRunParameters, PageParameters } from '../../http/parameters.js';
import type { OperationDescription } from '../describe-operation.js';

const key = { keyId: 'k7Yw0aQx3Lr2', name: 'match servers', scopes: ['scores:write'] };
const expiresAt = '2027-11-20T18:00:00.000Z';

const closed = {
  board: 'blitz',
  window: { id: 'season:s1', startsAt: '2026-11-01T00:00:00.000Z', endsAt: '2026-11-20T18:00:00.000Z' },
  dryRun: false,
  scopes: [{ scope: 'global', total: 1042, top: [{ rank: 1, playerId: 'ada', score: 1520 }] }],
};

const restated = {
  board: 'blitz',
  window: 'daily:2026-11-20',
  pool: 'blitz',
  outcome: 'restated',
  playersRead: 1042,
  entries: 17,
  edition: 2,
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

const SINCE = '2026-11-20T18:00:00.000Z';
const UP = { state: 'ok', since: SINCE };
const GONE = { state: 'missing', since: SINCE, shards: [{ state: 'missing', since: SINCE, slots: 'all' }] };
const READY = {
  status: 'ok',
  missing: [] as string[],
  components: {
    postgresql: UP,
    redis: { ...UP, shards: [{ ...UP, slots: 'all' }] },
    ranks: UP,
    schema: { ...UP, version: 'LayoutsAndLimits1763740000000' },
  },
};

export const ADMINISTRATION = {
  closeWindow: {
    tag: 'Administration',
    summary: 'End a window now',
    description:
      'Needs the scope admin. There is no grace: nothing enters the window any more, and its final standings are written; of a closed window whose standings could not be written, that is tried again. With `dryRun` nothing changes, and the answer says what would be written. Of more than 100 lists those of everybody and of guilds, and the longest, are answered.',
    callers: 'identified',
    query: DryRunParameters,
    body: { schema: 'WindowToClose', examples: { season: { window: 'season:s1' }, running: { window: 'daily' } } },
    answers: { 200: { description: 'The standings.', schema: 'ClosedWindow', example: closed } },
    errors: [
      'FORBIDDEN',
      'BOARD_NOT_FOUND',
      'WINDOW_NOT_FOUND',
      'WINDOW_CLOSED',
      'WINDOW_UNENDING',
      'WINDOW_MISMATCH',
      'SETTLEMENT_FAILED',
      'PROJECTION_BEHIND',
    ],
  },
  restateWindow: {
    tag: 'Administration',
    summary: 'Write the standings of an ended window anew',
    description:
      'Needs the scope admin. Of boards that a pool feeds: a void, a corrected result or a late game does not reach a window that ended. This writes its next edition, by all games that were played in it and count now; who was rankable when it closed stands there. Nothing that differs: no edition, and no record in the audit log. While one is under way, another order of the same window waits for it.',
    callers: 'identified',
    query: RestatementParameters,
    body: {
      schema: 'Restatement',
      isOptional: true,
      examples: { cheater: { reason: 'Games of a bot were voided.' }, none: {} },
    },
    answers: {
      200: { description: 'Done: the newest edition shows it.', schema: 'RestatedStandings', example: restated },
      202: {
        description: 'It takes longer, and goes on. The same call again says how far it is.',
        schema: 'RestatedStandings',
        example: { ...restated, outcome: 'restating', playersRead: 250_000, entries: null, edition: 1 },
      },
    },
    errors: [
      'FORBIDDEN',
      'BOARD_NOT_FOUND',
      'BOARD_NOT_FED',
      'WINDOW_NOT_FOUND',
      'WINDOW_UNENDING',
      'WINDOW_NOT_SETTLED',
      'SNAPSHOT_GONE',
      'RECOMPUTE_TOO_LARGE',
      'NOT_SUPPORTED',
      'ALGORITHM_MISSING',
    ],
  },
  proposeBoundaries: {
    tag: 'Administration',
    summary: 'Part a board into ranges of scores',
    description:
      'Needs the scope admin. Boundaries for so many shards, with as many entries in each as equal scores allow: those always lie in one shard. With `dryRun` they are only said; without, they become the `sharding` of the board, as by a PUT of its definition.',
    callers: 'identified',
    query: DryRunParameters,
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
      'PROJECTION_UNAVAILABLE',
      'PROJECTION_BEHIND',
    ],
  },
  createApiKey: {
    tag: 'Administration',
    summary: 'Make an API key',
    description: 'Needs the scope admin. The secret is in this answer and nowhere else.',
    callers: 'identified',
    body: {
      schema: 'NewApiKey',
      examples: {
        servers: { name: 'match servers', scopes: ['scores:write'] },
        forAYear: { name: 'match servers', scopes: ['scores:write'], expiresAt },
      },
    },
    answers: {
      201: {
        description: 'The key, with its secret.',
        schema: 'CreatedApiKey',
        example: { ...key, expiresAt: null, secret: 'lk_XXXXXXXXXXXXXXXX' },
      },
    },
    errors: ['FORBIDDEN'],
  },
  rotateApiKey: {
    tag: 'Administration',
    summary: 'Give an API key another secret',
    description:
      'Needs the scope admin. The key keeps its id, name and scopes. Its secret of now goes on for `overlapSeconds`, as do earlier ones for theirs (at most eight); with 0 they all end at once. The last admin key takes no earlier `expiresAt`. Not for the bootstrap key, whose secret is a setting.',
    callers: 'identified',
    body: {
      schema: 'KeyRotation',
      examples: { anHour: {}, aDay: { overlapSeconds: 86_400, expiresAt }, leaked: { overlapSeconds: 0 } },
    },
    answers: {
      200: {
        description: 'The key, with its new secret.',
        schema: 'RotatedApiKey',
        example: {
          ...key,
          expiresAt: null,
          overlapUntil: '2026-11-20T19:00:00.000Z',
          secret: 'lk_XXXXXXXXXXXXXXXX',
        },
      },
    },
    errors: ['FORBIDDEN', 'API_KEY_NOT_FOUND', 'API_KEY_FIXED', 'LAST_ADMIN_KEY', 'LIMIT_REACHED'],
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
        example: {
          keys: [
            {
              ...key,
              createdAt: '2026-11-20T18:00:00.000Z',
              expiresAt: null,
              rotatedAt: null,
              overlapUntil: null,
              revokedAt: null,
            },
          ],
          next: null,
        },
      },
    },
    errors: ['FORBIDDEN'],
  },
  revokeApiKey: {
    tag: 'Administration',
    summary: 'Revoke an API key',
    description:
      'Needs the scope admin. The key stops working within two seconds, also for sockets that are open. An admin key stays while no other one lasts as long.',
    callers: 'identified',
    answers: { 204: { description: 'Revoked.' } },
    errors: ['FORBIDDEN', 'API_KEY_NOT_FOUND', 'LAST_ADMIN_KEY'],
  },
  listAudit: {
    tag: 'Administration',
    summary: 'What operators did',
    description:
      'Needs the scope admin, or the scope moderate and a subject of moderation (`player:ada`, `run:blitz/b1c…`, `flag:…`). ' +
      'Every act of such a key that changed something, the newest first.',
    callers: 'identified',
    query: AuditParameters,
    answers: {
      200: {
        description: 'Acts, the newest first.',
        schema: 'AuditPage',
        example: {
          acts: [
            {
              auditId: 42,
              at: '2026-11-20T18:00:00.000Z',
              actor: key.keyId,
              action: 'entry.set',
              subject: 'blitz/ada',
              details: { entry: { score: 4, columns: {} }, reason: 'put right' },
            },
          ],
          next: null,
        },
      },
    },
    errors: ['FORBIDDEN'],
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
      200: { description: 'It has.', schema: 'Readiness', example: READY },
      503: {
        description: 'Something is missing.',
        schema: 'Readiness',
        example: { ...READY, status: 'missing', missing: ['redis'], components: { ...READY.components, redis: GONE } },
      },
    },
    errors: [],
  },
} satisfies Record<string, OperationDescription>;
