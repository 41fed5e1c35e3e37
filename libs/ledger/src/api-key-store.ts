import { createHash, randomBytes } from 'node:crypto';
import { LadderError } from '@laddercast/domain';
import { IsNull, type Repository } from 'typeorm';
import { ApiKeyEntity } from './entities/api-key.entity.js';
import { recordAudit } from './audit-log.js';
import { sqlStateOf, UNIQUE_VIOLATION } from './postgres-errors.js';
import type { PostgresDatabase } from './postgres-database.js';

export const KEY_SCOPES = ['scores:write', 'read', 'admin'] as const;
export type KeyScope = (typeof KEY_SCOPES)[number];

export interface ApiKey {
  keyId: string;
  name: string;
  scopes: KeyScope[];
}

const BOOTSTRAP_KEY_ID = 'bootstrap';

/** API keys. Secrets are random and long, so one SHA-256 keeps them safe; they are shown once and never stored. */
export class ApiKeyStore {
  constructor(private readonly database: PostgresDatabase) {}

  /** Makes a key; the secret is in this answer and nowhere else. */
  async create(name: string, scopes: KeyScope[], actor: string): Promise<ApiKey & { secret: string }> {
    const keyId = randomBytes(9).toString('base64url');
    const secret = `lk_${randomBytes(32).toString('base64url')}`;
    await this.database.transaction(async (transaction) => {
      await transaction.query('INSERT INTO api_keys (key_id, name, secret_sha256, scopes) VALUES ($1, $2, $3, $4)', [
        keyId,
        name,
        hashOf(secret),
        scopes,
      ]);
      await recordAudit(transaction, { actor, action: 'api-key.create', subject: keyId, details: { name, scopes } });
    });
    return { keyId, name, scopes, secret };
  }

  /** Sets the first admin key; an earlier one with this role stops working. */
  async setBootstrapKey(secret: string): Promise<void> {
    const secretSha256 = hashOf(secret);
    const row = { name: 'first admin key', scopes: ['admin'], secretSha256, revokedAt: null };
    await this.keys.upsert({ keyId: BOOTSTRAP_KEY_ID, ...row }, ['keyId']).catch((error: unknown) => {
      if (sqlStateOf(error) !== UNIQUE_VIOLATION) throw error;
      throw new Error('BOOTSTRAP_ADMIN_KEY is the secret of another API key already; choose another.', {
        cause: error,
      });
    });
  }

  async hasAdminKey(): Promise<boolean> {
    return (
      (await this.database.query(`SELECT 1 FROM api_keys WHERE 'admin' = ANY (scopes) AND revoked_at IS NULL LIMIT 1`))
        .length > 0
    );
  }

  /** The key behind a secret, null when there is none or it was revoked. */
  async find(secret: string): Promise<ApiKey | null> {
    const row = await this.keys.findOneBy({ secretSha256: hashOf(secret), revokedAt: IsNull() });
    return row ? { keyId: row.keyId, name: row.name, scopes: row.scopes as KeyScope[] } : null;
  }

  /** Keys by id, at most `limit` after `afterKeyId`. */
  async list(limit: number, afterKeyId: string): Promise<(ApiKey & { createdAt: string; revokedAt: string | null })[]> {
    const rows = await this.keys
      .createQueryBuilder('k')
      .where('k.keyId > :afterKeyId', { afterKeyId })
      .orderBy('k.keyId')
      .limit(limit)
      .getMany();
    return rows.map((row) => ({
      keyId: row.keyId,
      name: row.name,
      scopes: row.scopes as KeyScope[],
      createdAt: row.createdAt.toISOString(),
      revokedAt: row.revokedAt?.toISOString() ?? null,
    }));
  }

  /** @throws API_KEY_NOT_FOUND */
  async revoke(keyId: string, actor: string): Promise<void> {
    await this.database.transaction(async (transaction) => {
      const rows = await transaction.query(
        'UPDATE api_keys SET revoked_at = ladder_now() WHERE key_id = $1 AND revoked_at IS NULL RETURNING key_id',
        [keyId],
      );
      if (rows.length === 0) throw new LadderError('API_KEY_NOT_FOUND', `There is no API key "${keyId}" in use.`);
      await recordAudit(transaction, { actor, action: 'api-key.revoke', subject: keyId, details: {} });
    });
  }

  private get keys(): Repository<ApiKeyEntity> {
    return this.database.dataSource.getRepository(ApiKeyEntity);
  }
}

const hashOf = (secret: string): Buffer => createHash('sha256').update(secret).digest();
