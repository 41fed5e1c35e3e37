import { applyChanges, diffRows, type RankedEntry } from '@laddercast/domain';
import { describe, expect, it } from 'vitest';
import { pageModule } from './page-module.js';

interface Row {
  playerId: string;
  rank: number;
  score: number;
  achievedAt: string;
}
interface List {
  seq: number | null;
  total: number | null;
  estimate: number | null;
  rows: Row[];
}
interface BoardState {
  UNKNOWN_LIST: List;
  fromSnapshot(message: object, tiebreak?: string): List;
  applyDelta(list: List, message: object, tiebreak?: string): { outcome: 'applied' | 'ignored' | 'gap'; list: List };
}

const { UNKNOWN_LIST, applyDelta, fromSnapshot } = await pageModule<BoardState>('board-state.js');

const row = (playerId: string, rank: number, score: number): Row => ({
  playerId,
  rank,
  score,
  achievedAt: '2026-11-20T18:00:00.000Z',
});
const snapshot = (seq: number, entries: Row[]) => ({ seq, asOf: '', total: entries.length, entries });
const delta = (previousSeq: number, seq: number, changes: object[]) => ({
  seq,
  previousSeq,
  asOf: '',
  total: 3,
  changes,
});
const names = (list: List) => list.rows.map(({ playerId }) => playerId);
const three = fromSnapshot(snapshot(10, [row('ada', 1, 30), row('bob', 2, 20), row('cy', 3, 10)]));

describe('the list of the live page', () => {
  it('takes a delta that connects to it, and orders by the new ranks', () => {
    const { outcome, list } = applyDelta(
      three,
      delta(10, 11, [
        { ...row('cy', 1, 40), previousRank: 3, previousScore: 10, passed: ['ada', 'bob'] },
        { playerId: 'ada', rank: 2, previousRank: 1 },
        { playerId: 'bob', rank: 3, previousRank: 2 },
      ]),
    );
    expect(outcome).toBe('applied');
    expect(list.seq).toBe(11);
    expect(list.rows).toEqual([row('cy', 1, 40), row('ada', 2, 30), row('bob', 3, 20)]);
    expect(names(three)).toEqual(['ada', 'bob', 'cy']);
  });

  it('says by how much it can be off, until a message says nothing of that', () => {
    expect(three.estimate).toBeNull();
    const { list } = applyDelta(three, { ...delta(10, 11, []), accuracy: 'estimated', errorBound: 2 });
    expect(list).toMatchObject({ seq: 11, estimate: 2 });
    expect(applyDelta(list, delta(11, 12, [])).list).toMatchObject({ seq: 12, estimate: null, rows: three.rows });
    expect(fromSnapshot({ ...snapshot(13, []), accuracy: 'estimated', errorBound: 3 }).estimate).toBe(3);
  });

  it('takes a delta that starts before it and ends after it', () => {
    expect(applyDelta(three, delta(4, 12, [{ playerId: 'cy', rank: null, previousRank: 3 }]))).toMatchObject({
      outcome: 'applied',
      list: { seq: 12 },
    });
  });

  it('ignores a delta that is not newer', () => {
    const late = delta(9, 10, [{ playerId: 'ada', rank: null, previousRank: 1 }]);
    expect(applyDelta(three, late)).toEqual({ outcome: 'ignored', list: three });
  });

  it('reports a gap, and keeps what it has', () => {
    expect(applyDelta(three, delta(11, 12, []))).toEqual({ outcome: 'gap', list: three });
    expect(applyDelta(UNKNOWN_LIST, delta(0, 1, []))).toEqual({ outcome: 'gap', list: UNKNOWN_LIST });
  });

  it('reports a gap when a row was shifted that it has never seen', () => {
    expect(applyDelta(three, delta(10, 11, [{ playerId: 'dee', rank: 2, previousRank: 3 }])).outcome).toBe('gap');
  });

  it('orders equal ranks by the tie-break time and then by the bytes of the id', () => {
    const at = (playerId: string, second: number) => ({
      ...row(playerId, 1, 5),
      achievedAt: `2026-11-20T18:00:0${second}.000Z`,
    });
    const entries = [at('\u{1F600}', 2), at('\uFF5E', 2), at('zoe', 1), at('abe', 3)];
    expect(names(fromSnapshot(snapshot(1, entries), 'earliest'))).toEqual(['zoe', '\uFF5E', '\u{1F600}', 'abe']);
    expect(names(fromSnapshot(snapshot(1, entries), 'latest'))).toEqual(['abe', '\uFF5E', '\u{1F600}', 'zoe']);
    expect(names(fromSnapshot(snapshot(1, entries), 'none'))).toEqual(['abe', 'zoe', '\uFF5E', '\u{1F600}']);
  });

  it('holds after each delta of the service what the service holds', () => {
    let held = fromSnapshot(snapshot(1, []));
    let served: RankedEntry[] = [];
    const points = new Map<string, number>();
    for (let seq = 2; seq < 300; seq += 1) {
      const player = `p${(seq * 7919) % 23}`;
      if (seq % 11 === 0) points.delete(player);
      else points.set(player, (points.get(player) ?? 0) + ((seq * 31) % 9));
      const next = [...points]
        .sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))
        .slice(0, 10)
        .map(([playerId, score], index) => ({
          ...row(playerId, index + 1, score),
          columns: {},
        })) as unknown as RankedEntry[];
      const changes = diffRows(served, next);
      served = applyChanges(served, changes);
      const result = applyDelta(held, delta(seq - 1, seq, changes));
      expect(result.outcome).toBe('applied');
      held = result.list;
      expect(held.rows).toEqual(served);
    }
  });
});
