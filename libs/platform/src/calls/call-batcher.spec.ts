import { beforeEach, describe, expect, it } from 'vitest';
import { CallBatcher } from './call-batcher.js';

let asked: { of: string; items: number[] }[];
let questions: CallBatcher<string, number, string>;

beforeEach(() => {
  asked = [];
  questions = new CallBatcher(async (of, items) => {
    asked.push({ of, items: [...items] });
    await turn();
    if (of === 'bad') throw new Error('away');
    return items.map((item) => `${of}${item}`);
  }, 4);
});

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('questions', () => {
  it('of one turn are asked together where they are of one subject, each with its own answer', async () => {
    const answers = [questions.ask('a', 'A', 1), questions.ask('b', 'B', 2), questions.ask('a', 'A', 3)];
    expect(await Promise.all(answers)).toEqual(['A1', 'B2', 'A3']);
    expect(asked).toEqual([
      { of: 'A', items: [1, 3] },
      { of: 'B', items: [2] },
    ]);
  });

  it('never join what has begun', async () => {
    const first = questions.ask('a', 'A', 1);
    await turn();
    await turn();
    const second = questions.ask('a', 'A', 2);
    expect(await Promise.all([first, second])).toEqual(['A1', 'A2']);
    expect(asked.map(({ items }) => items)).toEqual([[1], [2]]);
  });

  it('are asked together up to a weight, and one that weighs more alone', async () => {
    const answers = [1, 2, 3, 4, 5].map((item) => questions.ask('a', 'A', item));
    answers.push(questions.ask('a', 'A', 6, 9), questions.ask('a', 'A', 7));
    expect(await Promise.all(answers)).toEqual([1, 2, 3, 4, 5, 6, 7].map((item) => `A${item}`));
    expect(asked.map(({ items }) => items)).toEqual([[1, 2, 3, 4], [5], [6], [7]]);
  });

  it('fail with those they were asked with, and with no others', async () => {
    const answers = [questions.ask('a', 'A', 1), questions.ask('bad', 'bad', 2), questions.ask('bad', 'bad', 3)];
    expect((await Promise.allSettled(answers)).map(({ status }) => status)).toEqual([
      'fulfilled',
      'rejected',
      'rejected',
    ]);
    expect(await questions.ask('a', 'A', 4)).toBe('A4');
  });
});
