import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The trimmed text of a file in the data directory; undefined when there is none, or nothing in it. */
export function textIn(dataDir, name) {
  const path = join(dataDir, name);
  return existsSync(path) ? readFileSync(path, 'utf8').trim() || undefined : undefined;
}
