/**
 * `@laddercast/client/node`: what only Node has.
 */
import { mkdir, open, readdir, readFile, rename, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Storage } from './world.js';

const PART = '.part';

/**
 * Keeps the queue in a folder, which is made; a file for each score. What `set` resolved for outlives a crash of the
 * program, and of the machine.
 */
export function fileStorage(folder: string): Storage {
  const fileOf = (key: string): string => join(folder, encodeURIComponent(key));
  const isMissing = (error: unknown): boolean => (error as { code?: string }).code === 'ENOENT';
  let parts = 0;
  return {
    async get(key) {
      try {
        return await readFile(fileOf(key), 'utf8');
      } catch (error) {
        if (isMissing(error)) return null;
        throw error;
      }
    },
    async set(key, text) {
      await mkdir(folder, { recursive: true });
      parts += 1;
      // Of this process, and of this call: two never write the same.
      const part = `${fileOf(key)}.${process.pid}.${parts}${PART}`;
      try {
        const file = await open(part, 'w');
        try {
          await file.writeFile(text);
          await file.sync();
        } finally {
          await file.close();
        }
        await rename(part, fileOf(key));
      } catch (error) {
        // On a full disk each try would leave one behind.
        await unlink(part).catch(() => undefined);
        throw error;
      }
    },
    async delete(key) {
      await unlink(fileOf(key)).catch((error: unknown) => {
        if (!isMissing(error)) throw error;
      });
    },
    async keys(prefix) {
      const files = await readdir(folder).catch((error: unknown) => {
        if (isMissing(error)) return [];
        throw error;
      });
      return files
        .filter((file) => !file.endsWith(PART))
        .flatMap(keysOf)
        .filter((key) => key.startsWith(prefix));
    },
  };
}

/** The key of a file; of one that somebody else put there none. */
function keysOf(file: string): string[] {
  try {
    return [decodeURIComponent(file)];
  } catch {
    return [];
  }
}
