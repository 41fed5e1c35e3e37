import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fileStorage } from '../node.js';
import { localStorageOf, memoryStorage } from './storage.js';

describe.each([
  [
    'memory',
    async () => ({
      make: (
        (one) => () =>
          one
      )(memoryStorage()),
      end: async () => undefined,
    }),
  ],
  [
    'localStorage',
    async () => {
      const texts = new Map<string, string>();
      const store = {
        get length() {
          return texts.size;
        },
        key: (at: number) => [...texts.keys()][at] ?? null,
        getItem: (key: string) => texts.get(key) ?? null,
        setItem: (key: string, text: string) => void texts.set(key, text),
        removeItem: (key: string) => void texts.delete(key),
      };
      return { make: () => localStorageOf(store), end: async () => undefined };
    },
  ],
  [
    'files',
    async () => {
      const folder = await mkdtemp(join(tmpdir(), 'ladder-queue-'));
      return { make: () => fileStorage(join(folder, 'deep')), end: () => rm(folder, { recursive: true }) };
    },
  ],
])('a storage of %s', (_name, setUp) => {
  it('keeps texts by key, finds keys by what they begin with, and is read by the next program', async () => {
    const { make, end } = await setUp();
    try {
      const one = make();
      expect(await one.keys('')).toEqual([]);
      expect(await one.get('a/b%')).toBeFalsy();
      await Promise.all([one.set('a/b% é', 'first'), one.set('a/c', 'x'), one.set('b', 'y')]);
      await one.set('a/b% é', 'second');
      await one.delete('a/c');
      await one.delete('a/c');
      const two = make();
      expect(await two.get('a/b% é')).toBe('second');
      expect(await two.keys('a/')).toEqual(['a/b% é']);
      expect((await two.keys('')).sort()).toEqual(['a/b% é', 'b']);
    } finally {
      await end();
    }
  });
});

it('files that were not finished are no items', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'ladder-queue-'));
  try {
    const files = fileStorage(folder);
    await Promise.all(Array.from({ length: 20 }, (_, at) => files.set('one', `text ${at}`)));
    expect(await readdir(folder)).toEqual(['one']);
    expect(await files.get('one')).toMatch(/^text \d+$/);
  } finally {
    await rm(folder, { recursive: true });
  }
});

it('a file that cannot be written leaves nothing behind, and files of others are no items', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'ladder-queue-'));
  try {
    const files = fileStorage(folder);
    await mkdir(join(folder, 'taken'));
    await expect(files.set('taken', 'text')).rejects.toThrow();
    expect(await readdir(folder)).toEqual(['taken']);
    await writeFile(join(folder, '100%'), 'of somebody else');
    await files.set('one', 'text');
    expect(await files.keys('o')).toEqual(['one']);
  } finally {
    await rm(folder, { recursive: true });
  }
});
