import { beforeEach, describe, expect, it } from 'vitest';
import { SEASON } from './boards.js';
import { KnownRuns, type ShownList, type ShownRow } from './known-runs.js';
import { SentRuns } from './sent-runs.js';

const AT = '2026-02-01T00:00:00.000Z';
const row = (rank: number, playerId: string, score: number): ShownRow => ({ rank, playerId, score, achievedAt: AT });

describe('what is known of boards that are being written', () => {
  let sent: SentRuns;
  let known: KnownRuns;
  let clockMs: number;
  beforeEach(() => {
    sent = new SentRuns();
    known = new KnownRuns(sent);
    clockMs = Date.now();
    for (const [playerId, score] of [
      ['ada', 10],
      ['bob', 20],
      ['cy', 30],
    ] as const)
      sent.add('faults-best', { playerId, score });
  });

  const list = (rows: ShownRow[], more: Partial<ShownList> = {}): ShownList => ({
    board: 'faults-best',
    windowId: 'alltime',
    total: rows.length,
    rows,
    // Later than everything that was shown before.
    notBeforeMs: (clockMs += 1000),
    ...more,
  });
  const whole = (): ShownList => list([row(1, 'cy', 30), row(2, 'bob', 20), row(3, 'ada', 10)]);

  it('finds nothing wrong with a list that is filled, and with one that is read from memory', () => {
    expect(known.judge(list([]))).toEqual([]);
    expect(known.judge(list([row(1, 'bob', 20)]))).toEqual([]);
    expect(known.judge(whole())).toEqual([]);
    expect(known.judge(list([row(1, 'bob', 20)], { notBeforeMs: 0 }))).toEqual([]);
  });

  it('sees an empty board, a part of one and an older one after the whole', () => {
    sent.add('faults-best', { playerId: 'ada', score: 40 });
    known.judge(list([row(1, 'ada', 40), row(2, 'cy', 30), row(3, 'bob', 20)]));
    expect(known.judge(list([])).join()).toContain('total 0 ± 0, and there are 3 to 3');
    expect(known.judge(list([row(1, 'bob', 20)])).join()).toContain('rank 1 ± 0 of bob, which is 3 to 3');
    expect(known.judge(whole()).join()).toContain('after {');
    expect(known.isOn('faults-best', 'alltime', 'ada', clockMs)).toBe(true);
    expect(known.isOn('faults-best', 'alltime', 'ada', 0)).toBe(false);
  });

  it('sees a rank or a total that is too good or too bad, unless it says how far off it may be', () => {
    known.judge(whole());
    expect(known.judge(list([row(1, 'bob', 20)], { total: 3 }))).toHaveLength(1);
    expect(known.judge(list([row(3, 'bob', 20)], { total: 3 }))).toHaveLength(1);
    expect(known.judge(list([row(3, 'bob', 20)], { total: 3, errorBound: 1 }))).toEqual([]);
    expect(known.judge(list([row(2, 'bob', 20)], { total: 2 }))).toHaveLength(1);
    expect(known.judge(list([row(2, 'bob', 20)], { total: 2, errorBound: 1 }))).toEqual([]);
  });

  it('does not hold an exact list to a run that only an estimate showed, as it does to one that was shown as exact', () => {
    const sums = { board: 'faults-sum' } as const;
    for (const score of [1, 2, 4]) sent.add('faults-sum', { playerId: 'ada', score });
    expect(known.judge(list([row(1, 'ada', 3)], { ...sums, accuracy: 'estimated' }))).toEqual([]);
    expect(known.judge(list([row(1, 'ada', 1)], sums))).toEqual([]);
    expect(known.judge(list([row(1, 'ada', 7)], sums))).toEqual([]);
    expect(known.judge(list([row(1, 'ada', 3)], sums)).join()).toContain('after {');
  });

  it('sees what nobody sent, players out of order or twice, and ranks that leap', () => {
    expect(known.judge(list([row(1, 'ada', 11)])).join()).toContain('nobody sent');
    expect(known.judge(list([row(1, 'bob', 20), row(2, 'cy', 30)])).join()).toContain('out of order');
    expect(known.judge(list([row(1, 'bob', 20), row(2, 'bob', 20)])).join()).toContain('twice');
    expect(known.judge(list([row(1, 'cy', 30), row(3, 'bob', 20)], { total: 3 })).join()).toContain('rank 3 after 1');
  });

  it('sees a total of sums that is more than was sent, and a latest entry that is not the latest', () => {
    for (const score of [1, 2]) sent.add('faults-sum', { playerId: 'ada', score });
    const sums = { board: 'faults-sum' } as const;
    expect(known.judge(list([row(1, 'ada', 3)], sums))).toEqual([]);
    expect(known.judge(list([row(1, 'ada', 4)], sums)).join()).toContain('nobody sent');
    const latest = { board: 'faults-latest' } as const;
    const [first, second] = ['2026-01-01T00:00:00.001Z', '2026-01-01T00:00:00.002Z'];
    const shown = (achievedAt: string): ShownRow => ({ ...row(1, 'ada', 5), columns: { moves: 2 }, achievedAt });
    for (const achievedAt of [first, second])
      sent.add('faults-latest', { playerId: 'ada', score: 5, columns: { moves: 2 }, achievedAt });
    expect(known.judge(list([shown(first)], latest))).toEqual([]);
    expect(known.judge(list([shown(second)], latest))).toEqual([]);
    expect(known.judge(list([shown(first)], latest)).join()).toContain('after {');
  });

  it('sees a run of after the end in a season that had ended', () => {
    const season = { windowId: SEASON.id };
    expect(known.judge(list([row(1, 'ada', 10)], season))).toEqual([]);
    sent.endsAtMs.set(SEASON.id, Date.now() - 1000);
    expect(known.judge(list([row(1, 'ada', 10)], season)).join()).toContain('nobody sent');
  });
});
