import { describe, expect, it } from 'vitest';
import { guildScoreOf } from './guild-score-oracle.js';

const LEAST = 5e-324;
const { MAX_VALUE } = Number;

describe('the true score of a guild', () => {
  it.each([
    ['sum', [LEAST, LEAST], 1e-323],
    ['sum', [1e16, 1, -1e16], 1],
    ['sum', [1, 2 ** -53], 1],
    ['sum', [1, 2 ** -53, LEAST], 1 + 2 ** -52],
    ['sum', [1 + 2 ** -52, 2 ** -53], 1 + 2 ** -51],
    ['sum', [MAX_VALUE, MAX_VALUE, -MAX_VALUE], MAX_VALUE],
    ['sum', [MAX_VALUE, MAX_VALUE], MAX_VALUE],
    ['sum', [-MAX_VALUE, -1], -MAX_VALUE],
    ['sum', [-0, 0], 0],
    ['average', [MAX_VALUE, MAX_VALUE], MAX_VALUE],
    ['average', [LEAST, 0], 0],
    ['average', [-LEAST, 0], 0],
    ['average', [LEAST, LEAST, 0], LEAST],
    ['average', [3 * LEAST, 0], 2 * LEAST],
    ['average', [0, 0, 1], 1 / 3],
    ['average', [0.1, 0.2, 0.3, 0.4], 0.25],
  ] as const)('by %s of %j is %d', (kind, scores, expected) => {
    expect(guildScoreOf({ kind, k: null }, 'desc', scores)).toBe(expected);
  });

  it('is of the k best in the order of the board', () => {
    expect(guildScoreOf({ kind: 'top', k: 2 }, 'desc', [1, 5, 3])).toBe(8);
    expect(guildScoreOf({ kind: 'top', k: 2 }, 'asc', [1, 5, 3])).toBe(4);
  });
});
