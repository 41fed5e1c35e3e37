import { createHash, randomBytes } from 'node:crypto';
import { LadderError, validationFailed } from '@laddercast/domain';
import { toTimestamp } from '@laddercast/platform';
import { Injectable } from '@nestjs/common';
import { recordAudit } from './audit-log.js';
import { sqlStateOf, UNIQUE_VIOLATION } from '../database/postgres-errors.js';
import { PostgresDatabase, type SqlRunner } from '../database/postgres-database.js';

export const KEY_SCOPES = ['scores:write', 'read', 'moderate', 'admin'] as const;
export type KeyScope = (typeof KEY_SCOPES)[number];

export interface ApiKey {
  keyId: string;
  name: string;
  scopes: KeyScope[];
}

/** A key to be made; it ends at this time (Unix ms), null for never. */
export type NewApiKey = Omit<ApiKey, 'keyId'> & { expiresAtMs: number | null };

/** A key as it is listed: times in RFC 3339, null where there is none. */
export interface ListedApiKey extends ApiKey {
  createdAt: string;
  expiresAt: string | null;
  rotatedAt: string | null;
  /** Until when a secret from before a rotation still works. */
  overlapUntil: string | null;
  revokedAt: string | null;
}

/** A key with its secret, which is in this answer and nowhere else. */
export type CreatedApiKey = ApiKey & { secret: string; expiresAt: string | null };
export type RotatedApiKey = CreatedApiKey & { overlapUntil: string | null };

/** How a key's secret is replaced; times in Unix ms. */
export interface KeyRotation {
  /** How long the present secret goes on; with 0 all earlier ones end, too. */
  overlapSeconds: number;
  /** When the key ends from now on, null for never; undefined: as before. */
  expiresAtMs?: number | null;
}

/**
 * The result of looking a secret up: its key, and for how many ms it is still valid (null: for ever), or why it is
 * none.
 */
export type KeyLook =
  | { state: 'valid'; key: ApiKey; validForMs: number | null }
  | { state: 'unknown' | 'revoked' | 'expired' | 'replaced' };

export const OVERLAP_SECONDS_MAX = 30 * 86_400;
/** How many secrets of one key go on beside the newest one. */
const OVERLAPPING_MAX = 8;
/** How many ended secrets of one key are told apart from unknown ones. */
const ENDED_KEPT_MAX = 20;
const LOOK_MAX = 500;
const BOOTSTRAP_KEY_ID = 'bootstrap';

const LOOK = `
  SELECT asked.at::int - 1 AS at, k.key_id AS "keyId", k.name, k.scopes, k.revoked_at IS NOT NULL AS "isRevoked",
    coalesce(k.expires_at <= ladder_now(), false) AS "isExpired",
    (extract(epoch FROM least(found.until, k.expires_at) - ladder_now()) * 1000)::float8 AS "leftMs"
  FROM unnest($1::bytea[]) WITH ORDINALITY AS asked (secret, at)
  JOIN LATERAL (
    SELECT key_id, NULL::timestamptz AS until FROM api_keys WHERE secret_sha256 = asked.secret
    UNION ALL
    SELECT key_id, until FROM former_api_key_secrets WHERE secret_sha256 = asked.secret
    LIMIT 1) AS found ON true
  JOIN api_keys AS k USING (key_id)`;

const LIST = `
  SELECT k.key_id AS "keyId", k.name, k.scopes, k.created_at AS "createdAt", k.expires_at AS "expiresAt",
    k.rotated_at AS "rotatedAt", k.revoked_at AS "revokedAt",
    (SELECT least(max(f.until), k.expires_at) FROM former_api_key_secrets AS f
      WHERE f.key_id = k.key_id AND f.until > ladder_now()) AS "overlapUntil"
  FROM api_keys AS k WHERE k.key_id > $2 ORDER BY k.key_id LIMIT $1`;

const KEY_OF_FORMER = 'SELECT key_id AS "keyId" FROM former_api_key_secrets WHERE secret_sha256 = $1';

/** Remembers, for good, a revoked secret of the bootstrap key that another one replaces: a process may still be given it. */
const RETIRE_BOOTSTRAP = `
  INSERT INTO former_api_key_secrets (secret_sha256, key_id, until)
  SELECT secret_sha256, key_id, revoked_at FROM api_keys
  WHERE key_id = $1 AND secret_sha256 <> $2 AND revoked_at IS NOT NULL`;

/** Sets the bootstrap key if it differs from the one before: a revoked one stays revoked. */
const SET_BOOTSTRAP = `
  INSERT INTO api_keys AS k (key_id, name, secret_sha256, scopes) VALUES ($1, 'first admin key', $2, '{admin}')
  ON CONFLICT (key_id) DO UPDATE SET secret_sha256 = excluded.secret_sha256, revoked_at = NULL
    WHERE k.secret_sha256 <> excluded.secret_sha256
  RETURNING 1`;

/**
 * The ends of keys change one after the other, so that two admin keys cannot end at once, each counting on the other.
 */
const ONE_AT_A_TIME = 'LOCK TABLE api_keys IN SHARE ROW EXCLUSIVE MODE';

/** Whether the key `$1` is an admin key in use, and no other one lasts as long. */
const IS_LAST_ADMIN_KEY = `
  SELECT 1 FROM api_keys AS k
  WHERE k.key_id = $1 AND 'admin' = ANY (k.scopes) AND k.revoked_at IS NULL
    AND (k.expires_at IS NULL OR k.expires_at > ladder_now())
    AND NOT EXISTS (
      SELECT 1 FROM api_keys AS other
      WHERE other.key_id <> k.key_id AND 'admin' = ANY (other.scopes) AND other.revoked_at IS NULL
        AND coalesce(other.expires_at, 'infinity') >= coalesce(k.expires_at, 'infinity'))`;

interface LookRow extends ApiKey {
  at: number;
  isRevoked: boolean;
  isExpired: boolean;
  leftMs: number | null;
}

type TimesOf<Listed> = {
  [Name in keyof Listed]: Name extends `${string}At` | 'overlapUntil' ? Date | null : Listed[Name];
};

/** API keys. Secrets are random and long, so one SHA-256 keeps them safe; they are shown once and never stored. */
@Injectable()
export class ApiKeyStore {
  constructor(private readonly database: PostgresDatabase) {}

  /**
   * Makes a key; the secret is in this answer and nowhere else.
   * @throws VALIDATION_FAILED when its end is over already
   */
  async create({ name, scopes, expiresAtMs }: NewApiKey, actor: string): Promise<CreatedApiKey> {
    const keyId = randomBytes(9).toString('base64url');
    const secret = newSecret();
    const expiresAt = timestampOf(expiresAtMs);
    await this.database.transaction(async (transaction) => {
      await assertAhead(transaction, expiresAt);
      await transaction.query(
        'INSERT INTO api_keys (key_id, name, secret_sha256, scopes, expires_at) VALUES ($1, $2, $3, $4, $5)',
        [keyId, name, hashOf(secret), scopes, expiresAt],
      );
      const details = { name, scopes, expiresAt };
      await recordAudit(transaction, { actor, action: 'api-key.create', subject: keyId, details });
    });
    return { keyId, name, scopes, expiresAt, secret };
  }

  /**
   * Gives a key another secret; the one it had goes on for the overlap, and no longer than the key did.
   * @throws API_KEY_NOT_FOUND, API_KEY_FIXED, LIMIT_REACHED, VALIDATION_FAILED; LAST_ADMIN_KEY for an end before its own
   */
  async rotate(keyId: string, { overlapSeconds, expiresAtMs }: KeyRotation, actor: string): Promise<RotatedApiKey> {
    if (keyId === BOOTSTRAP_KEY_ID) {
      const detail = 'The secret of this key is BOOTSTRAP_ADMIN_KEY: set another one and restart the processes.';
      throw new LadderError('API_KEY_FIXED', detail);
    }
    const secret = newSecret();
    return this.database.transaction(async (transaction) => {
      await transaction.query(ONE_AT_A_TIME);
      const [key] = await transaction.query<{ name: string; scopes: KeyScope[]; expires_at: Date | null }>(
        `SELECT name, scopes, expires_at FROM api_keys WHERE key_id = $1 AND revoked_at IS NULL
           AND (expires_at IS NULL OR expires_at > ladder_now()) FOR UPDATE`,
        [keyId],
      );
      if (!key) throw new LadderError('API_KEY_NOT_FOUND', `There is no API key "${keyId}" in use.`);
      const until = await this.retireSecret(transaction, keyId, overlapSeconds);
      const expiresAt = expiresAtMs === undefined ? (key.expires_at?.toISOString() ?? null) : timestampOf(expiresAtMs);
      await assertAhead(transaction, expiresAt);
      const endedAtMs = key.expires_at?.getTime() ?? Infinity;
      if (expiresAt !== null && Date.parse(expiresAt) < endedAtMs) await assertNotLast(transaction, keyId);
      await transaction.query(
        'UPDATE api_keys SET secret_sha256 = $2, expires_at = $3, rotated_at = ladder_now() WHERE key_id = $1',
        [keyId, hashOf(secret), expiresAt],
      );
      const overlapUntil = overlapSeconds === 0 ? null : until.toISOString();
      const details = { overlapUntil, expiresAt };
      await recordAudit(transaction, { actor, action: 'api-key.rotate', subject: keyId, details });
      const { name, scopes } = key;
      return { keyId, name, scopes, expiresAt, overlapUntil, secret };
    });
  }

  /**
   * Sets the first admin key; an earlier one with this role stops working. The same as before changes nothing, and one
   * that was ever revoked changes nothing either.
   * @returns whether it is the one that is set now
   * @throws Error where it is or was another key's
   */
  async setBootstrapKey(secret: string): Promise<boolean> {
    const of = [BOOTSTRAP_KEY_ID, hashOf(secret)];
    try {
      return await this.database.transaction(async (transaction) => {
        await transaction.query(ONE_AT_A_TIME);
        const [former] = await transaction.query<Pick<ApiKey, 'keyId'>>(KEY_OF_FORMER, [of[1]]);
        if (former?.keyId === BOOTSTRAP_KEY_ID) return false;
        if (former) throw anotherKeys();
        await transaction.query(RETIRE_BOOTSTRAP, of);
        const changed = await transaction.query(SET_BOOTSTRAP, of);
        if (changed.length === 0) return true;
        const act = { actor: 'the service', action: 'api-key.bootstrap', subject: BOOTSTRAP_KEY_ID };
        await recordAudit(transaction, { ...act, details: {} });
        return true;
      });
    } catch (error) {
      if (sqlStateOf(error) !== UNIQUE_VIOLATION) throw error;
      throw anotherKeys(error);
    }
  }

  async hasAdminKey(): Promise<boolean> {
    const rows = await this.database.query(
      `SELECT 1 FROM api_keys WHERE 'admin' = ANY (scopes) AND revoked_at IS NULL
         AND (expires_at IS NULL OR expires_at > ladder_now()) LIMIT 1`,
    );
    return rows.length > 0;
  }

  /** Looks these secrets up, in their order; at most 500 in one query. */
  async look(secrets: readonly string[]): Promise<KeyLook[]> {
    const looks: KeyLook[] = secrets.map(() => ({ state: 'unknown' }));
    for (let start = 0; start < secrets.length; start += LOOK_MAX) {
      const asked = secrets.slice(start, start + LOOK_MAX).map(hashOf);
      for (const row of await this.database.query<LookRow>(LOOK, [asked])) looks[start + row.at] = lookOf(row);
    }
    return looks;
  }

  /** Keys by id, at most `limit` after `afterKeyId`. */
  async list(limit: number, afterKeyId: string): Promise<ListedApiKey[]> {
    const rows = await this.database.query<TimesOf<ListedApiKey>>(LIST, [limit, afterKeyId]);
    return rows.map((row) => ({
      ...row,
      createdAt: row.createdAt!.toISOString(),
      expiresAt: row.expiresAt?.toISOString() ?? null,
      rotatedAt: row.rotatedAt?.toISOString() ?? null,
      overlapUntil: row.overlapUntil?.toISOString() ?? null,
      revokedAt: row.revokedAt?.toISOString() ?? null,
    }));
  }

  /** @throws API_KEY_NOT_FOUND, LAST_ADMIN_KEY */
  async revoke(keyId: string, actor: string): Promise<void> {
    await this.database.transaction(async (transaction) => {
      await transaction.query(ONE_AT_A_TIME);
      await assertNotLast(transaction, keyId);
      const rows = await transaction.query(
        'UPDATE api_keys SET revoked_at = ladder_now() WHERE key_id = $1 AND revoked_at IS NULL RETURNING key_id',
        [keyId],
      );
      if (rows.length === 0) throw new LadderError('API_KEY_NOT_FOUND', `There is no API key "${keyId}" in use.`);
      await recordAudit(transaction, { actor, action: 'api-key.revoke', subject: keyId, details: {} });
    });
  }

  /** Puts the present secret among the former ones. @returns until when it goes on */
  private async retireSecret(transaction: SqlRunner, keyId: string, overlapSeconds: number): Promise<Date> {
    if (overlapSeconds === 0) {
      await transaction.query(
        'UPDATE former_api_key_secrets SET until = ladder_now() WHERE key_id = $1 AND until > ladder_now()',
        [keyId],
      );
    }
    const [row] = await transaction.query<{ until: Date }>(
      `INSERT INTO former_api_key_secrets (secret_sha256, key_id, until)
       SELECT secret_sha256, key_id, least(ladder_now() + $2 * interval '1 second', expires_at)
       FROM api_keys WHERE key_id = $1 RETURNING until`,
      [keyId, overlapSeconds],
    );
    await transaction.query(
      `DELETE FROM former_api_key_secrets WHERE key_id = $1 AND until <= ladder_now() AND secret_sha256 NOT IN (
         SELECT secret_sha256 FROM former_api_key_secrets WHERE key_id = $1 ORDER BY until DESC LIMIT $2)`,
      [keyId, ENDED_KEPT_MAX],
    );
    const overlapping = await transaction.query(
      'SELECT 1 FROM former_api_key_secrets WHERE key_id = $1 AND until > ladder_now()',
      [keyId],
    );
    if (overlapping.length > OVERLAPPING_MAX) {
      const detail = `${OVERLAPPING_MAX} earlier secrets of this key still work; wait for one to end, or rotate with overlapSeconds 0.`;
      throw new LadderError('LIMIT_REACHED', detail);
    }
    return row!.until;
  }
}

function lookOf({ at: _at, isRevoked, isExpired, leftMs, ...key }: LookRow): KeyLook {
  if (isRevoked) return { state: 'revoked' };
  if (isExpired) return { state: 'expired' };
  if (leftMs !== null && leftMs <= 0) return { state: 'replaced' };
  return { state: 'valid', key, validForMs: leftMs };
}

/** Without an admin key nobody could make another one. */
async function assertNotLast(transaction: SqlRunner, keyId: string): Promise<void> {
  if ((await transaction.query(IS_LAST_ADMIN_KEY, [keyId])).length === 0) return;
  const detail =
    'No other admin key lasts as long as this one. Make one (POST /v1/admin/api-keys with the scope admin), and end this one with it.';
  throw new LadderError('LAST_ADMIN_KEY', detail);
}

/** The database's clock decides, as it will when the key is used. */
async function assertAhead(transaction: SqlRunner, expiresAt: string | null): Promise<void> {
  if (expiresAt === null) return;
  const ahead = await transaction.query('SELECT 1 WHERE $1::timestamptz > ladder_now()', [expiresAt]);
  if (ahead.length === 0) throw validationFailed([{ pointer: '/expiresAt', message: 'must lie in the future' }]);
}

const anotherKeys = (cause?: unknown): Error =>
  new Error('BOOTSTRAP_ADMIN_KEY is the secret of another API key already; choose another.', { cause });

const newSecret = (): string => `lk_${randomBytes(32).toString('base64url')}`;

const timestampOf = (unixMs: number | null): string | null => (unixMs === null ? null : toTimestamp(unixMs));

const hashOf = (secret: string): Buffer => createHash('sha256').update(secret).digest();
