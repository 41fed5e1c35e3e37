import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ReadTimes } from './read-times.js';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

describe('when a list was read', () => {
  it('is remembered, and of what was forgotten nothing earlier is said', () => {
    const times = new ReadTimes(2);
    expect(times.of('a')).toBe(-Infinity);
    times.note('a');
    const firstMs = times.of('a');
    vi.advanceTimersByTime(10);
    times.note('b');
    vi.advanceTimersByTime(10);
    times.note('c');
    expect(times.of('b')).toBe(firstMs + 10);
    expect(times.of('c')).toBe(firstMs + 20);
    // Made room, and so has what was never read.
    expect(times.of('a')).toBe(firstMs);
    expect(times.of('d')).toBe(firstMs);
  });

  it('is now where it is asked for the first time, and stays', () => {
    const times = new ReadTimes(2);
    const firstMs = times.first('a');
    vi.advanceTimersByTime(10);
    expect(times.first('a')).toBe(firstMs);
    expect(times.first('b')).toBe(firstMs + 10);
  });
});
