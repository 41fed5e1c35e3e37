import { describe, expect, it } from 'vitest';
import { answerBehindVersion, answerText, readAnswer, type StoredAnswer } from './stored-answer.js';

const plain: StoredAnswer = {
  windowUid: 4,
  outcome: 'improved',
  score: 0.1 + 0.2,
  previousScore: null,
  version: 9_007_199_254_740_991,
  windows: ['alltime', 'daily:2026-11-27'],
};
const taxed = { rawScore: 1e300, patch: '1.2 "x"', patchesBehind: 3, kept: true };
const ANSWERS: [what: string, answer: StoredAnswer][] = [
  ['of a plain board', plain],
  ['that was handed over', { ...plain, previousScore: 5e-324, handOverId: 'h-1' }],
  ['of a board with an entry for each run', { ...plain, entryId: 's-1', displaced: 's-0' }],
  ['of a board with decay', { ...plain, outcome: 'unchanged', taxed }],
];

describe('the answer of a submission as it is stored', () => {
  it.each(ANSWERS)('comes back %s', (_, answer) => {
    expect(readAnswer(answerText(answer))).toEqual(answer);
  });

  it.each(ANSWERS)('comes back %s under a version that is put in front', (_, answer) => {
    expect(readAnswer(`[12${answerBehindVersion(answer)}`)).toEqual({ ...answer, version: 12 });
  });

  it('comes back from names, as it was stored before', () => {
    expect(readAnswer(JSON.stringify(plain))).toEqual(plain);
  });

  it('takes half the bytes of its names', () => {
    const usual = { ...plain, score: 123_456, version: 12_345, windows: ['alltime'] };
    expect(2 * answerText(usual).length).toBeLessThan(JSON.stringify(usual).length);
  });
});
