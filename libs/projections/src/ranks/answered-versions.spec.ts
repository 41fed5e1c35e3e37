import { describe, expect, it } from 'vitest';
import { AnsweredVersions } from './answered-versions.js';

const list = (windowUid: number) => ({ boardUid: 1, windowUid, scope: 0 });

describe('the versions that were answered', () => {
  it('admit a snapshot that is not older than the last answer, and only of a list that was read', () => {
    const answered = new AnsweredVersions();
    expect(answered.admits(list(1), 5)).toBe(false);
    answered.note(list(1), 5, 100);
    answered.note(list(1), 4, 100);
    expect([4, 5, 6].map((version) => answered.admits(list(1), version))).toEqual([false, true, true]);
    expect(answered.admits(list(2), 6)).toBe(false);
    expect([answered.newest(list(1)), answered.newest(list(2))]).toEqual([5, -Infinity]);
  });

  it('recognise a reading after a loss: a lower version at a later time', () => {
    const answered = new AnsweredVersions();
    expect(answered.isOfLoss(list(1), 4, 200)).toBe(false);
    answered.note(list(1), 4, 50);
    answered.note(list(1), 5, 100);
    answered.note(list(1), 5, 150);
    expect(answered.isOfLoss(list(1), 4, 99)).toBe(false);
    expect(answered.isOfLoss(list(1), 4, 101)).toBe(true);
    expect(answered.isOfLoss(list(1), 5, 200)).toBe(false);
  });

  it('are forgotten for the lists used longest ago, which must be read again', () => {
    const answered = new AnsweredVersions(4);
    answered.note(list(1), 5, 100);
    for (let at = 2; at < 20; at += 1) {
      answered.note(list(at), 5, 100);
      // It is in use all the while.
      expect(answered.admits(list(1), 4)).toBe(false);
      expect(answered.admits(list(1), 5)).toBe(true);
    }
    expect(answered.admits(list(2), 5)).toBe(false);
  });
});
