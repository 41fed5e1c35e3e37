import { describe, expect, it } from 'vitest';
import { patchAfter } from './patch-family.mjs';
import { achievements, earlierRuns, laterRuns, patches, players } from './patch-runs.mjs';
import { SentRuns, tableFaults, taxed } from './taxed-table.mjs';

describe('the runs of the demo of patches', () => {
  it('are the same for the same seed, and others for another', () => {
    expect(earlierRuns(7)).toEqual(earlierRuns(7));
    expect(earlierRuns(7)).not.toEqual(earlierRuns(8));
    const [one, same, other] = [laterRuns(7, 'a'), laterRuns(7, 'a'), laterRuns(8, 'a')].map((make) =>
      Array.from({ length: 20 }, () => make(['1.30', '1.31'])),
    );
    expect(one).toEqual(same);
    expect(one).not.toEqual(other);
  });

  it('are whole days on every board and patch, each under an id of its own, while its patch was the newest', () => {
    const runs = earlierRuns(1);
    expect(new Set(runs.map(({ submissionId }) => submissionId)).size).toBe(runs.length);
    expect(new Set(runs.map(({ board }) => board)).size).toBe(achievements.length);
    expect(new Set(runs.map(({ playerId }) => playerId)).size).toBe(players.length);
    expect(runs.filter(({ score }) => !Number.isSafeInteger(score) || score < 1)).toEqual([]);
    for (const [at, { patch, publishedAt }] of patches.entries()) {
      const times = runs.filter((run) => run.patch === patch).map(({ achievedAt }) => achievedAt);
      expect(times.length).toBeGreaterThan(0);
      expect(times.every((time) => time >= publishedAt && time < (patches[at + 1]?.publishedAt ?? '2026'))).toBe(true);
    }
  });

  it('of now are mostly on the newest patch', () => {
    const make = laterRuns(1, 'now');
    const runs = Array.from({ length: 400 }, () => make(['1.29', '1.30', '1.31']));
    const onNewest = runs.filter(({ patch }) => patch === '1.31').length;
    expect(onNewest).toBeGreaterThan(280);
    expect(onNewest).toBeLessThan(360);
    expect(runs.at(-1).submissionId).toBe('now-399');
  });
});

describe('the patch that is published', () => {
  it('is the one after the highest, by number and not by text', () => {
    expect(patchAfter(patches)).toBe('1.32');
    expect(patchAfter([{ patch: '1.9' }, { patch: '1.100' }, { patch: 'beta' }])).toBe('1.101');
  });
});

describe('the comparison of the demo of patches', () => {
  const behind = { 1.28: 2, 1.29: 1, '1.30': 0 };
  const sent = new SentRuns();
  for (const [playerId, score, patch] of [
    ['ada', 109, '1.28'],
    ['bob', 109, '1.29'],
    ['ada', 125, '1.29'],
    ['ada', 120, '1.28'],
    ['cat', 109, '1.30'],
  ]) {
    sent.add({ board: 'one', playerId, score, patch });
  }
  const standings = sent.standings('one', (patch) => behind[patch]);
  const row = (rank, playerId, patch) => {
    const [rawScore, patchesBehind] = [109, behind[patch]];
    return { rank, playerId, score: taxed(rawScore, patchesBehind), rawScore, patch, patchesBehind };
  };
  const table = [row(1, 'cat', '1.30'), row(2, 'bob', '1.29'), row(3, 'ada', '1.28')];
  const faults = (rows, isWhole = true) => tableFaults(rows, standings, { isWhole });

  it('takes the best run of each player under the tax', () => {
    expect([...standings]).toEqual([
      ['ada', 130.8],
      ['bob', 119.9],
      ['cat', 109],
    ]);
    expect(sent.standings('other', () => 0).size).toBe(0);
    expect(faults(table)).toEqual([]);
  });

  it.each([
    ['a tax that is not exact', [table[0], table[1], { ...table[2], score: 109 * 1.2 }], /109 on 1.28, not 130.8/],
    ['rows out of order', [table[1], table[0], table[2]], /out of order/],
    ['a missing row', table.slice(0, 2), /ada: .*nothing/],
    ['a worse run', [table[0], table[1], { ...row(3, 'ada', '1.28'), rawScore: 110, score: 132 }], /give 130.8/],
    ['a row too many', [...table, { ...row(4, 'dan', '1.28') }], /1 players that were not sent/],
  ])('finds %s', (_what, rows, fault) => {
    expect(faults(rows).join('\n')).toMatch(fault);
  });

  it('lets a board that was there before show better runs and more players, and none that is worse', () => {
    const better = { ...table[2], rawScore: 105, score: 126 };
    expect(faults([table[0], table[1], better, row(4, 'dan', '1.28')], false)).toEqual([]);
    expect(faults([table[0], table[1], { ...better, rawScore: 110, score: 132 }], false)).not.toEqual([]);
  });
});
