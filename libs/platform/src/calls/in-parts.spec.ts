import { describe, expect, it } from 'vitest';
import { inParts } from './in-parts.js';

describe('work in parts', () => {
  it('begins a part when the one before has ended, and answers in the order of the items', async () => {
    let running = 0;
    const atOnce: number[] = [];
    const answers = await inParts([30, 10, 20, 0, 5], 2, async (ms) => {
      running += 1;
      atOnce.push(running);
      await new Promise((resolve) => setTimeout(resolve, ms));
      running -= 1;
      return ms;
    });
    expect(answers).toEqual([30, 10, 20, 0, 5]);
    expect(atOnce).toEqual([1, 2, 1, 2, 1]);
  });

  it('fails with the first failure, and begins no further part', async () => {
    const begun: number[] = [];
    const work = inParts([1, 2, 3], 2, async (item) => {
      begun.push(item);
      if (item === 2) throw new Error('two');
    });
    await expect(work).rejects.toThrow('two');
    expect(begun).toEqual([1, 2]);
  });
});
