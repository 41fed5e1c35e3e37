import { monotonicMs } from '@laddercast/platform';
import { describe, expect, it } from 'vitest';
import { LedgerClock } from './ledger-clock.js';

/** A clock that heard, just now, what was asked so many milliseconds ago. */
function heard(ledgerMs: number, roundTripMs: number, clock = new LedgerClock()): LedgerClock {
  const nowMs = monotonicMs();
  clock.learn(ledgerMs, nowMs - roundTripMs, nowMs);
  return clock;
}

/** How wide what is known is. */
const widthOf = (clock: LedgerClock): number => clock.latestMs() - clock.earliestMs();

describe('the time of the ledger, as a process knows it', () => {
  it('lies between what it was when the question came at the earliest, and when the answer went at the latest', () => {
    const clock = heard(1_000_000, 200);
    expect(clock.earliestMs()).toBeGreaterThanOrEqual(1_000_000 - 1);
    expect(clock.latestMs()).toBeGreaterThanOrEqual(1_000_200);
    expect(clock.nowMs()).toBeGreaterThanOrEqual(clock.earliestMs() - 1000);
    expect(widthOf(clock)).toBeGreaterThanOrEqual(200);
    expect(widthOf(clock)).toBeLessThan(400);
  });

  it('goes on by itself', async () => {
    const clock = heard(1_000_000, 0);
    const look = () => [monotonicMs(), clock.nowMs(), monotonicMs()] as const;
    const before = look();
    await new Promise((resolve) => setTimeout(resolve, 30));
    const after = look();
    const passed = after[1] - before[1];
    expect(passed).toBeGreaterThanOrEqual(after[0] - before[2] - 5);
    expect(passed).toBeLessThanOrEqual(after[2] - before[0] + 5);
  });

  it('is known by the best of its answers, until one contradicts them', () => {
    const clock = heard(1_000_000, 2);
    const offset = clock.earliestMs() - monotonicMs();
    const nowMs = monotonicMs();
    clock.learn(Math.floor(nowMs + offset) - 400, nowMs - 800, nowMs);
    expect(widthOf(clock)).toBeLessThan(300);
    heard(5_000_000, 10, clock);
    expect(clock.earliestMs()).toBeGreaterThanOrEqual(5_000_000 - 1);
    heard(2_000_000, 10, clock);
    expect(clock.latestMs()).toBeLessThan(3_000_000);
  });

  it('is not said before it was asked for', () => {
    expect(() => new LedgerClock().nowMs()).toThrow('LEDGER_UNAVAILABLE');
  });

  it('takes a window as frozen where it only may be', () => {
    const window = (freezeAtMs: number, endsAtMs: number) => ({
      freezeAtMs,
      endsAtMs,
      state: 'open' as const,
    });
    const clock = heard(1_000_000, 60_000);
    expect(clock.isFrozen(window(1_030_000, 2_000_000))).toBe(true);
    expect(clock.isFrozen(window(900_000, 1_030_000))).toBe(true);
    expect(clock.isFrozen(window(1_010_000, 1_020_000))).toBe(true);
    expect(clock.isFrozen(window(1_500_000, 2_000_000))).toBe(false);
    expect(clock.isFrozen(window(900_000, 999_000))).toBe(false);
    expect(clock.isFrozen({ ...window(900_000, 2_000_000), state: 'settled' })).toBe(false);
  });
});
