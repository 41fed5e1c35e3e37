import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** The service's own code, as it was built: `{ domain, projections }`. */
export async function builtCode(root) {
  const [domain, projections] = await Promise.all(['domain', 'projections'].map((lib) => built(root, lib)));
  return { domain, projections };
}

/** One file of a lib, as it was built. */
export const built = (root, lib, file = 'index') =>
  import(pathToFileURL(join(root, `dist/libs/${lib}/src/${file}.js`)).href);

/** Redis as the service sees it: with its names of keys. */
export async function connectRedis({ projections }, pool, url, commandTimeoutMs) {
  const { rows } = await pool.query(`SELECT value FROM installation WHERE name = 'id'`);
  const redis = new projections.RedisConnection({ url, namespace: `${rows[0].value}:`, commandTimeoutMs });
  await redis.connect();
  return redis;
}
