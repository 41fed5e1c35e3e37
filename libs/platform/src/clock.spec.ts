import fc from 'fast-check';
import { expect, it, vi } from 'vitest';
import { nap, sleep, toTimestamp, untilBeatMs } from './clock.js';

it('writes a time as a Date does', () => {
  const time = fc.oneof(
    fc.integer({ min: 0, max: 253_402_300_799_999 }),
    fc.integer({ min: -8.64e15, max: 8.64e15 }),
    fc.double({ min: 0, max: 1e13, noNaN: true }),
    fc.constantFrom(0, -1, 999, 86_399_999, 86_400_000, 253_402_300_799_999, 253_402_300_800_000),
  );
  fc.assert(
    fc.property(time, (unixMs) => {
      expect(toTimestamp(unixMs)).toBe(new Date(unixMs).toISOString());
    }),
    { numRuns: 2000 },
  );
  expect(() => toTimestamp(NaN)).toThrow(RangeError);
});

it('ends a wait when it is woken, when its signal aborts, and at once when that was before', async () => {
  const woken = nap(60_000);
  woken.wake();
  await woken.over;
  const end = new AbortController();
  const waiting = sleep(60_000, end.signal);
  end.abort();
  await waiting;
  await sleep(60_000, end.signal);
  const startedAtMs = performance.now();
  await sleep(30);
  expect(performance.now() - startedAtMs).toBeGreaterThan(25);
});

it('waits for the next beat of a rhythm that a whole process shares, and never for the beat that a timer rang early for', () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] });
  try {
    for (let round = 0; round < 1000; round += 1) {
      vi.advanceTimersByTime(7);
      for (const everyMs of [20, 250, 4000 / 3]) {
        const waitMs = untilBeatMs(everyMs);
        expect(waitMs).toBeGreaterThan(5);
        expect(waitMs).toBeLessThanOrEqual(everyMs + 5);
        const beats = (performance.now() + waitMs) / everyMs;
        expect(Math.abs(beats - Math.round(beats))).toBeLessThan(1e-6);
      }
    }
  } finally {
    vi.useRealTimers();
  }
});
