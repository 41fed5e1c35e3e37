import { PageParameters } from '../../http/parameters.js';
import type { OperationDescription } from '../describe-operation.js';

const key = { keyId: 'k7Yw0aQx3Lr2', name: 'match servers', scopes: ['scores:write'] };

export const ADMINISTRATION = {
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
