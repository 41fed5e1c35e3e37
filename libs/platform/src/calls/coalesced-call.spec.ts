import { beforeEach, describe, expect, it, vi } from 'vitest';
import { CoalescedCall } from './coalesced-call.js';

let asked: { answer: (value: string) => void; fail: () => void }[];

const question = (): Promise<string> =>
  new Promise((resolve, reject) => asked.push({ answer: resolve, fail: () => reject(new Error('away')) }));
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

beforeEach(() => (asked = []));

describe('a question', () => {
  it('is asked once for those who come before it is asked, and anew for who comes later', async () => {
    const shared = new CoalescedCall(question);
    const first = [shared.ask(), shared.ask()];
    await turn();
    const second = [shared.ask(), shared.ask()];
    await turn();
    expect(asked.length).toBe(1);
    asked[0]!.answer('one');
    expect(await Promise.all(first)).toEqual(['one', 'one']);
    await turn();
    expect(asked.length).toBe(2);
    asked[1]!.answer('two');
    expect(await Promise.all(second)).toEqual(['two', 'two']);
  });

  it('that fails does so for those who asked it, and is asked anew', async () => {
    const shared = new CoalescedCall(question);
    const failed = expect(shared.ask()).rejects.toThrow('away');
    await turn();
    asked[0]!.fail();
    await failed;
    const next = shared.ask();
    await turn();
    asked[1]!.answer('here');
    expect(await next).toBe('here');
  });

  it('waits for those who come next, the longer the more asked the last time', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    try {
      const shared = new CoalescedCall(question, { eachMs: 2, mostMs: 5 });
      const askAfter = async (ms: number, who: number): Promise<string[]> => {
        const answers = Array.from({ length: who }, () => shared.ask());
        const before = asked.length;
        if (ms > 0) {
          await vi.advanceTimersByTimeAsync(ms - 1);
          expect(asked.length).toBe(before);
          answers.push(shared.ask());
          await vi.advanceTimersByTimeAsync(1);
        } else await turn();
        expect(asked.length).toBe(before + 1);
        asked.at(-1)!.answer(`${before}`);
        return Promise.all(answers);
      };
      expect(await askAfter(0, 1)).toEqual(['0']);
      expect(await askAfter(2, 3)).toEqual(['1', '1', '1', '1']);
      expect(await askAfter(5, 1)).toEqual(['2', '2']);
      await vi.advanceTimersByTimeAsync(4);
      expect(await askAfter(0, 1)).toEqual(['3']);
    } finally {
      vi.useRealTimers();
    }
  });
});
