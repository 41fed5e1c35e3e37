import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { RedisConnection } from '@laddercast/projections';
import type { Pool } from './postgres-pool.js';

/** Libs of the service, as they were built. */
export interface BuiltCode {
  domain: typeof import('@laddercast/domain');
  projections: typeof import('@laddercast/projections');
}

/** The service's own code, as it was built. */
export async function builtCode(root: string): Promise<BuiltCode> {
  const [domain, projections] = await Promise.all([
    built<BuiltCode['domain']>(root, 'domain'),
    built<BuiltCode['projections']>(root, 'projections'),
  ]);
  return { domain, projections };
}

/** One file of a lib, as it was built. */
export const built = async <Code>(root: string, lib: string, file = 'index'): Promise<Code> =>
  (await import(pathToFileURL(join(root, `dist/libs/${lib}/src/${file}.js`)).href)) as Code;

/** The namespace of the service's own keys in Redis. */
export async function ownNamespace(pool: Pool): Promise<string> {
  const { rows } = await pool.query<{ value: string }>(`SELECT value FROM installation WHERE name = 'id'`);
  return `${rows[0]!.value}:`;
}

/** A connection with Redis as the service makes it. */
export async function connectRedis(
  { projections }: BuiltCode,
  how: { url: string; namespace: string; commandTimeoutMs: number },
): Promise<RedisConnection> {
  const redis = new projections.RedisConnection(how);
  await redis.connect();
  return redis;
}
