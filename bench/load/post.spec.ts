import { describe, expect, it } from 'vitest';
import { openLoop } from './post.js';

describe('an open loop', () => {
  it('goes on while calls hang, and says when each was due', async () => {
    const due: number[] = [];
    const { sent, lateMs } = await openLoop({
      perSecond: 200,
      seconds: 0.1,
      next: (dueAt) => {
        due.push(dueAt);
        return new Promise((resolve) => setTimeout(resolve, 100));
      },
    });
    expect(sent).toBe(20);
    expect(due.at(-1)! - due[0]!).toBeCloseTo(95, 5);
    expect(lateMs).toBeLessThan(80);
  });

  it('fails with its first call that fails', async () => {
    const next = () => Promise.reject(new Error('refused'));
    await expect(openLoop({ perSecond: 100, seconds: 1, next })).rejects.toThrow('refused');
  });
});
