import { orNull, schemaOfClass } from '@laddercast/commands';
import { KEY_SCOPES } from '@laddercast/ledger';
import { KeyRotationBody, NewApiKeyBody } from '../http/bodies.js';
import { count, list, object, oneOf, string, time } from './schema-parts.js';

const apiKey = { keyId: string(), name: string(), scopes: list(oneOf(...KEY_SCOPES)) };
const secret = string('Shown this once, and stored nowhere.');
const expiresAt = { ...orNull(time()), description: 'When the key stops working; null: never.' };
const overlapUntil = {
  ...orNull(time()),
  description: 'Until when a secret from before a rotation still works; null: none does.',
};
const next = { ...orNull(string()), description: 'The next cursor.' };

/** Schemas of keys and of what operators did. */
export const IDENTITY_SCHEMAS = {
  NewApiKey: schemaOfClass(NewApiKeyBody),
  KeyRotation: schemaOfClass(KeyRotationBody),
  CreatedApiKey: object({ ...apiKey, expiresAt, secret }),
  RotatedApiKey: object({ ...apiKey, expiresAt, overlapUntil, secret }),
  ApiKeyList: object({
    keys: list(
      object({
        ...apiKey,
        createdAt: time(),
        expiresAt,
        rotatedAt: orNull(time()),
        overlapUntil,
        revokedAt: orNull(time()),
      }),
    ),
    next,
  }),
  AuditPage: object({
    acts: list(
      object({
        auditId: count('Grows with time.', 1),
        at: time(),
        actor: string('The keyId of the API key; `the service` for what it did by its settings.'),
        action: string('What was done: `board.reset`, `entry.set`, `api-key.rotate`, …'),
        subject: string('What it was done to: a board, a key, `board/player`.'),
        details: { type: 'object' },
      }),
    ),
    next,
  }),
};
