import { expect, it } from 'vitest';
import { ShortMemory } from './short-memory.js';

const LIMIT = 50_000;

it('keeps the newest rows: at most its limit, and at least half of it', () => {
  const memory = new ShortMemory<number>();
  const remember = memory.asking();
  for (let at = 0; at < 3 * LIMIT; at += 1) remember(`player-${at}`, at);
  const isKnown = (at: number): boolean => memory.stale(`player-${at}`) === at;
  const known = Array.from({ length: 3 * LIMIT }, (_, at) => at).filter(isKnown);
  expect(known.length).toBeLessThanOrEqual(LIMIT);
  expect(known).toEqual(Array.from({ length: known.length }, (_, at) => 3 * LIMIT - known.length + at));
  expect(known.length).toBeGreaterThanOrEqual(LIMIT / 2);
});

it('does not return a forgotten row, nor one from a look-up that began before it was forgotten', () => {
  const memory = new ShortMemory<string>();
  const early = memory.asking();
  early('ada', 'Ada');
  for (let at = 0; at < LIMIT / 2; at += 1) early(`player-${at}`, '');
  expect(memory.get('ada')).toBe('Ada');
  memory.forget(['ada', 'player-1']);
  expect([memory.get('ada'), memory.stale('ada'), memory.get('player-1')]).toEqual([undefined, 'Ada', undefined]);
  early('ada', 'Ada of before');
  expect(memory.get('ada')).toBeUndefined();
  memory.asking()('ada', 'Ada Lovelace');
  expect(memory.get('ada')).toBe('Ada Lovelace');
  memory.forget(null);
  expect([memory.get('ada'), memory.get('player-2')]).toEqual([undefined, undefined]);
});
