import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { BoardOrdering, SortOrder } from '../boards/board.js';
import { faultOfPerPatch, taxedScore, taxRateOf } from '../boards/decay.js';
import { patchesBehind, type PatchOrder } from '../boards/patch-order.js';
import type { PatchRun } from '../events.js';
import {
  bestOfPatch,
  PATCHES_OF_PLAYER_MAX,
  runsThatCanStand,
  standingRun,
  withRun,
  type TaxedBoard,
} from './patch-runs.js';

const boardOf = (order: SortOrder, perPatch = 0.1, rest: Partial<BoardOrdering> = {}): TaxedBoard => ({
  ...{ order, operator: 'best', tiebreak: 'earliest', columns: [] },
  ...rest,
  decay: { family: 'eu4', perPatch },
});

const orderOf = (...patches: number[]): PatchOrder => ({ number: 1, sinceMs: 0, patches });
const upTo = (patches: number): PatchOrder => orderOf(...Array.from({ length: patches }, (_, at) => at));
const runOf = (patch: number, score: number, achievedAtMs = 0, columns: number[] = []): PatchRun => ({
  ...{ patch, score, achievedAtMs, columns },
});
const folded = (board: TaxedBoard, runs: readonly PatchRun[], order: PatchOrder): PatchRun[] =>
  runs.reduce<PatchRun[]>((kept, run) => withRun(board, kept, run, order).runs, []);
const shown = (board: TaxedBoard, runs: readonly PatchRun[], order: PatchOrder) => {
  const { values } = standingRun(board, runs, order);
  return { score: values.score, ...values.taxedFrom, achievedAtMs: values.achievedAtMs };
};

describe('the tax', () => {
  const rate = taxRateOf(0.1);

  it('is the decimal that was written, in lowest terms', () => {
    expect(rate).toEqual({ numerator: 1, denominator: 10 });
    expect(taxRateOf(0.25)).toEqual({ numerator: 1, denominator: 4 });
    expect(taxRateOf(0.0001)).toEqual({ numerator: 1, denominator: 10_000 });
    expect(taxRateOf(1)).toEqual({ numerator: 1, denominator: 1 });
    expect([0.1, 0.0625, 1].map(faultOfPerPatch)).toEqual([null, null, null]);
    expect([0, -0.1, 1.1, Number.NaN].map(faultOfPerPatch)).not.toContain(null);
    expect(faultOfPerPatch(0.00001)).toContain('four');
  });

  it('has the worked numbers of the contract, which products with 1.2 have not', () => {
    expect(taxedScore('asc', rate, 109, 2)).toBe(130.8);
    expect(109 * 1.2).not.toBe(130.8);
    expect(taxedScore('asc', rate, 109, 1)).toBe(119.9);
    expect(taxedScore('asc', rate, 137_384, 2)).toBe(164_860.8);
    expect(taxedScore('desc', rate, 100, 3)).toBe(70);
    expect(taxedScore('desc', rate, 100, 11)).toBe(0);
  });

  it('gives the latest patch back what was submitted, bit for bit', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0, max: 1e300, noNaN: true }),
        fc.integer({ min: 1, max: 10_000 }),
        (raw, places) => {
          expect(Object.is(taxedScore('asc', taxRateOf(places / 10_000), raw, 0), raw)).toBe(true);
        },
      ),
    );
    expect(taxedScore('asc', rate, 0.1 + 0.2, 0)).toBe(0.30000000000000004);
  });

  it('counts patches by their order, never by their names, and none that came after it', () => {
    const order = orderOf(7, 3, 12);
    expect([7, 3, 12, 99].map((patch) => patchesBehind(order, patch))).toEqual([2, 1, 0, 0]);
  });
});

describe('the runs of a player', () => {
  const asc = boardOf('asc');

  it('has the better old run come back where the tax has grown enough', () => {
    const runs = folded(asc, [runOf(0, 100, 1), runOf(1, 105, 2)], upTo(2));
    const at = (patches: number) => shown(asc, runs, upTo(patches));
    expect(at(2)).toMatchObject({ score: 105, rawScore: 105 });
    expect(at(11)).toMatchObject({ score: 199.5, rawScore: 105 });
    expect(at(12)).toMatchObject({ score: 210, rawScore: 100, achievedAtMs: 1 });
    expect(at(13)).toMatchObject({ score: 220, rawScore: 100 });
  });

  it('puts the earlier of equal taxed scores first, whatever its patch', () => {
    const runs = folded(asc, [runOf(2, 120, 300), runOf(0, 100, 10)], upTo(3));
    expect(shown(asc, runs, upTo(3))).toMatchObject({ score: 120, rawScore: 100, achievedAtMs: 10 });
    expect(shown(asc, runs, upTo(4))).toMatchObject({ score: 130, rawScore: 100 });
  });

  it('keeps the best of each patch, and of the same run the better date', () => {
    const runs = folded(asc, [runOf(1, 105, 2), runOf(0, 100, 9), runOf(1, 110, 1), runOf(0, 100, 4)], upTo(2));
    expect(runs).toEqual([runOf(1, 105, 2), runOf(0, 100, 4)]);
    expect(withRun(asc, runs, runOf(0, 100, 5), upTo(2)).kept).toBe(false);
    expect(bestOfPatch(asc, runs, 0)).toEqual(runOf(0, 100, 4));
    expect(bestOfPatch(asc, runs, 5)).toBeUndefined();
  });

  it('of a patch whose scores can fall to 0 keeps who stands first then', () => {
    const desc = boardOf('desc');
    const runs = folded(desc, [runOf(0, 50, 1), runOf(0, 80, 5)], upTo(1));
    expect(shown(desc, runs, upTo(1))).toMatchObject({ score: 80, achievedAtMs: 5 });
    expect(shown(desc, runs, upTo(11))).toMatchObject({ score: 0, achievedAtMs: 1 });
    // A tax that never takes all keeps the best alone.
    expect(folded(boardOf('desc', 0.001), [runOf(0, 50, 1), runOf(0, 80, 5)], upTo(1))).toEqual([runOf(0, 80, 5)]);
  });

  it('drops the oldest patch where a 65th comes', () => {
    const all = upTo(PATCHES_OF_PLAYER_MAX + 1);
    const runs = folded(
      asc,
      all.patches.map((patch) => runOf(patch, 100 + patch)),
      all,
    );
    expect(new Set(runs.map(({ patch }) => patch))).toEqual(new Set(all.patches.slice(1)));
    const late = withRun(asc, runs, runOf(0, 1), all);
    expect(late).toMatchObject({ kept: false, dropped: 1 });
    expect(late.runs).toEqual(runs);
  });

  it('shows the standing run first, and none that a newer patch holds a better one for', () => {
    const runs = [runOf(0, 100), runOf(1, 105), runOf(2, 103), runOf(3, 200)];
    expect(runsThatCanStand(asc, runs, upTo(4)).map(({ run }) => run.patch)).toEqual([2, 0, 3]);
  });
});

const anyOrder = fc.constantFrom<SortOrder>('asc', 'desc');
const anyRun = fc.record({
  patch: fc.integer({ min: 0, max: 5 }),
  score: fc.oneof(fc.integer({ min: 0, max: 6 }), fc.double({ min: 0, max: 1e300, noNaN: true })),
  achievedAtMs: fc.integer({ min: 0, max: 3 }),
  columns: fc.tuple(fc.integer({ min: 0, max: 2 })),
});

/** As plainly as it can be said: every run there is, under the tax, sorted. */
function naiveStanding(board: TaxedBoard, runs: readonly PatchRun[], order: PatchOrder): number[] {
  const { numerator: p, denominator: q } = taxRateOf(board.decay!.perPatch);
  const sign = board.order === 'asc' ? 1 : -1;
  const keys = runs.map(({ patch, score, columns, achievedAtMs }) => {
    const n = patchesBehind(order, patch);
    const factor = board.order === 'asc' ? q + p * n : Math.max(0, q - p * n);
    return [n === 0 ? score : (score * factor) / q, columns[0]!, achievedAtMs];
  });
  return keys.sort((a, b) => sign * (a[0]! - b[0]!) || a[1]! - b[1]! || a[2]! - b[2]!)[0]!;
}

describe('against all runs there ever were', () => {
  it('stands the same run under every tax, in whatever order they came', () => {
    const columns = [{ name: 'moves', order: 'asc' as const }];
    fc.assert(
      fc.property(
        anyOrder,
        fc.array(anyRun, { minLength: 1, maxLength: 12 }),
        fc.integer({ min: 6, max: 40 }),
        fc.shuffledSubarray([0, 1, 2, 3, 4, 5], { minLength: 6 }),
        (order, runs, patches, family) => {
          const board = boardOf(order, 0.1, { columns });
          const later = Array.from({ length: patches - family.length }, (_, at) => 100 + at);
          const kept = folded(board, runs, orderOf(...family));
          for (const published of [orderOf(...family), orderOf(...family, ...later)]) {
            const { values } = standingRun(board, kept, published);
            const naive = naiveStanding(board, runs, published);
            expect(values.score).toBe(naive[0]);
            // Raw scores that differ in their last bits may come to one taxed double: of a patch the best raw one is kept.
            const same = runs.filter((run) => naiveStanding(board, [run], published)[0] === naive[0]);
            if (new Set(same.map(({ patch, score }) => `${patch}/${naive[0] === 0 ? 0 : score}`)).size === 1)
              expect([values.columns[0], values.achievedAtMs]).toEqual(naive.slice(1));
            const first = runsThatCanStand(board, kept, published)[0]!.values;
            expect(first).toEqual(values);
          }
        },
      ),
    );
  });

  it('lists a run for which a later tax may be, and only such', () => {
    fc.assert(
      fc.property(anyOrder, fc.array(anyRun, { minLength: 1, maxLength: 6 }), (order, runs) => {
        const board = boardOf(order, 0.1, { columns: [{ name: 'moves', order: 'asc' }] });
        const kept = folded(board, runs, upTo(6));
        const listed = new Set(runsThatCanStand(board, kept, upTo(6)).map(({ run }) => run));
        for (const patches of [6, 7, 9, 13, 20, 60]) {
          const { run } = standingRun(board, kept, upTo(patches));
          expect(listed.has(run)).toBe(true);
        }
      }),
    );
  });
});
