import { expect, it } from 'vitest';
import { BoundedCache } from './bounded-cache.js';

it('makes a value once while it is kept, and lets the first one made go when it is full', () => {
  const cache = new BoundedCache<number, string>(3);
  const made: number[] = [];
  const ask = (key: number): string =>
    cache.get(key, () => {
      made.push(key);
      return `value ${key}`;
    });
  for (const key of [1, 2, 3, 1, 2, 3, 4, 2, 1]) expect(ask(key)).toBe(`value ${key}`);
  expect(made).toEqual([1, 2, 3, 4, 1]);
  expect(cache.size).toBe(3);
});

it('remembers nothing of a value that could not be made', () => {
  const cache = new BoundedCache<string, string>(1);
  expect(() =>
    cache.get('key', () => {
      throw new Error('no');
    }),
  ).toThrow('no');
  expect(cache.get('key', () => 'made')).toBe('made');
});
