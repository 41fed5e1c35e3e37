import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Turns } from './turns.js';

describe('turns', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
  afterEach(() => void vi.useRealTimers());

  /** Work that lasts until it is let go. */
  function held(): { work: () => Promise<void>; letGo: () => void } {
    let letGo = (): void => undefined;
    const ended = new Promise<void>((resolve) => (letGo = resolve));
    return { work: () => ended, letGo: () => letGo() };
  }

  it('come one after another, whatever became of the one before', async () => {
    const turns = new Turns(10_000);
    const began: number[] = [];
    const taken = [1, 2, 3].map((number) =>
      turns.take(async () => {
        began.push(number);
        if (number === 2) throw new Error('refused');
        return number;
      }),
    );
    expect((await Promise.allSettled(taken)).map(({ status }) => status)).toEqual([
      'fulfilled',
      'rejected',
      'fulfilled',
    ]);
    expect(began).toEqual([1, 2, 3]);
  });

  it('that come too late are refused, and nothing is done for them', async () => {
    const turns = new Turns(10_000);
    const { work, letGo } = held();
    const first = turns.take(work);
    // It has begun, and waits no more.
    await Promise.resolve();
    const late = vi.fn(() => Promise.resolve());
    const refused = [turns.take(late), turns.take(late)].map((one) =>
      expect(one).rejects.toMatchObject({ code: 'LEDGER_UNAVAILABLE', extensions: { retryAfterSeconds: 2 } }),
    );
    vi.advanceTimersByTime(10_001);
    const inTime = turns.take(() => Promise.resolve('done'));
    letGo();
    await Promise.all([first, ...refused]);
    expect(late).not.toHaveBeenCalled();
    expect(await inTime).toBe('done');
  });

  it('are waited for by so many, and no more', async () => {
    const turns = new Turns(10_000);
    const { work, letGo } = held();
    const first = turns.take(work);
    // It has begun, and waits no more.
    await Promise.resolve();
    const waiting = Array.from({ length: 1000 }, () => turns.take(() => Promise.resolve(1)));
    await expect(turns.take(() => Promise.resolve(1))).rejects.toMatchObject({ code: 'OVERLOADED' });
    letGo();
    await first;
    expect((await Promise.all(waiting)).length).toBe(1000);
    expect(await turns.take(() => Promise.resolve(1))).toBe(1);
  });
});
