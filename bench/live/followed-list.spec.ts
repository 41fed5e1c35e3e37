import { describe, expect, it } from 'vitest';
import { FollowedList, textOf, type ListRow } from './followed-list.js';

const row = (rank: number, playerId: string, score: number): ListRow => ({ rank, playerId, score, achievedAt: null });

describe('a list that is followed', () => {
  it('is what a snapshot shows after each delta', () => {
    const list = new FollowedList();
    list.take({ type: 'snapshot', seq: 5, total: 3, entries: [row(1, 'a', 30), row(2, 'b', 20), row(3, 'c', 10)] });
    list.take({
      type: 'delta',
      seq: 9,
      previousSeq: 5,
      total: 4,
      changes: [
        { ...row(1, 'd', 40), previousRank: null },
        { playerId: 'a', rank: 2, previousRank: 1 },
        { playerId: 'b', rank: 3, previousRank: 2 },
        { playerId: 'c', rank: null, previousRank: 3 },
      ],
    });
    expect(list.text()).toBe(textOf([row(1, 'd', 40), row(2, 'a', 30), row(3, 'b', 20)]));
    expect(list).toMatchObject({ seq: 9, total: 4 });
  });

  it('ignores an old delta, and fails for a missing one and for one that does not fit', () => {
    const list = new FollowedList();
    list.take({ type: 'snapshot', seq: 5, total: 1, entries: [row(1, 'a', 30)] });
    const shift = { playerId: 'z', rank: 2, previousRank: 1 };
    expect(list.take({ type: 'delta', seq: 5, previousSeq: 4, total: 1, changes: [shift] })).toEqual([]);
    expect(() => list.take({ type: 'delta', seq: 8, previousSeq: 6, total: 1, changes: [] })).toThrow('from 6 on');
    expect(() => list.take({ type: 'delta', seq: 8, previousSeq: 5, total: 1, changes: [shift] })).toThrow('shifted');
  });
});
