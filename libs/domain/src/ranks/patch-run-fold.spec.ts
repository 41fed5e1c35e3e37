import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { withBoardDefaults, type BoardDefinition, type SortOrder } from '../boards/board.js';
import type { PatchOrder } from '../boards/patch-order.js';
import type { KeptPatchRun } from './entry.js';
import { PATCHES_OF_PLAYER_MAX, standingRun, withRun } from './patch-runs.js';
import { foldRuns, type KeptRun, type RunState } from './run-fold.js';

const board = (order: SortOrder = 'asc', perPatch = 0.1): BoardDefinition =>
  withBoardDefaults({ order, operator: 'best', decay: { family: 'eu4', perPatch } });
const upTo = (patches: number): PatchOrder => ({
  ...{ number: 1, sinceMs: 0 },
  patches: Array.from({ length: patches }, (_, at) => at + 1),
});

let position = 0;
const run = (patch: number, score: number, achievedAtMs = 0, state: RunState = 'counted'): KeptRun => {
  const values = { score, columns: [], achievedAtMs, metadata: null };
  const of = { patch, ...values, position: (position += 1) };
  return { kind: 'run', state, entry: { ...values, version: of.position, patchRuns: [of] } };
};
const voided = (one: KeptRun): KeptRun => ({ ...one, state: 'voided' });
const removal = (state: RunState = 'counted'): KeptRun => ({ kind: 'removal', state, entry: null });
const patchRunOf = ({ entry }: KeptRun): KeptPatchRun => entry!.patchRuns![0]!;
/** What folding runs comes to; none: []. */
const kept = (runs: readonly KeptRun[], definition = board(), order = upTo(3)): readonly KeptPatchRun[] =>
  foldRuns(definition, null, runs, order)?.patchRuns ?? [];
const standing = (runs: readonly KeptRun[], patches: number): number =>
  standingRun(board(), kept(runs), upTo(patches)).run.score;

describe('an entry of a board with decay, folded from its runs', () => {
  it('is the best run of each patch, and a void lets the next one of that patch stand under the tax', () => {
    const [old, better, worse] = [run(1, 100), run(2, 105), run(2, 120)];
    expect(kept([old, better, worse])).toEqual([patchRunOf(old), patchRunOf(better)]);
    expect(standing([old, better, worse], 2)).toBe(105);
    expect(standing([old, voided(better), worse], 2)).toBe(100);
    expect(kept([old, voided(better), worse])).toEqual([patchRunOf(old), patchRunOf(worse)]);
  });

  it('loses a run that does not stand, and so what would come back under a later tax', () => {
    const [old, present] = [run(1, 100), run(2, 105)];
    expect(standing([old, present], 13)).toBe(100);
    expect(standing([old, present], 2)).toBe(105);
    expect(standing([voided(old), present], 13)).toBe(105);
  });

  it('keeps which of two equal runs it is: the first that counts', () => {
    const [first, second] = [run(1, 100), run(1, 100)];
    expect(kept([first, second])).toEqual([patchRunOf(first)]);
    expect(kept([voided(first), second])).toEqual([patchRunOf(second)]);
  });

  it('takes nothing from before a removal that counts, and all of it once that is voided', () => {
    const [before, after] = [run(1, 100), run(2, 200)];
    expect(kept([before, removal(), after])).toEqual([patchRunOf(after)]);
    expect(kept([before, removal('voided'), after])).toEqual([patchRunOf(before), patchRunOf(after)]);
    expect(foldRuns(board(), null, [before, removal()], upTo(3))).toBeNull();
  });

  it('has the oldest patch back when the run is voided for which it left', () => {
    const order = upTo(PATCHES_OF_PLAYER_MAX + 1);
    const runs = order.patches.map((patch) => run(patch, 10));
    const patchesOf = (given: readonly KeptRun[]): number[] =>
      kept(given, board(), order)
        .map(({ patch }) => patch)
        .sort((a, b) => a - b);
    expect(patchesOf(runs)).toEqual(order.patches.slice(1));
    expect(patchesOf(runs.map((one, at) => (at === 40 ? voided(one) : one)))).toEqual(
      order.patches.filter((_, at) => at !== 40),
    );
  });
});

const someRuns = fc
  .array(
    fc.record({
      isWall: fc.integer({ min: 0, max: 7 }).map((n) => n === 0),
      state: fc.constantFrom<RunState>('counted', 'counted', 'counted', 'held', 'voided'),
      patch: fc.integer({ min: 1, max: 5 }),
      score: fc.oneof(fc.nat(4), fc.double({ min: 0, max: 1e300, noNaN: true })),
      achievedAtMs: fc.nat(3),
    }),
    { maxLength: 14 },
  )
  .map((made) =>
    made.map(({ isWall, state, patch, score, achievedAtMs }) =>
      isWall ? removal(state) : run(patch, score, achievedAtMs, state),
    ),
  );
const aBoard = fc
  .record({ order: fc.constantFrom<SortOrder>('asc', 'desc'), perPatch: fc.constantFrom(0.1, 0.5) })
  .map(({ order, perPatch }) => board(order, perPatch));

describe('any runs of patches', () => {
  it('are folded to what the runs that count behind the last wall come to, one after the other', () => {
    fc.assert(
      fc.property(aBoard, someRuns, (definition, runs) => {
        const counted = runs.filter(({ state }) => state === 'counted');
        const behind = counted.slice(counted.findLastIndex(({ kind }) => kind !== 'run') + 1).map(patchRunOf);
        const order = upTo(5);
        const expected = behind.reduce<KeptPatchRun[]>((before, one) => {
          const after = withRun(definition, before, one, order);
          return after.kept ? after.runs : before;
        }, []);
        expect(kept(runs, definition, order)).toStrictEqual(expected);
      }),
    );
  });

  it('are folded to the same whether a prefix of them became a base or not', () => {
    fc.assert(
      fc.property(aBoard, someRuns, fc.nat(14), (definition, runs, cut) => {
        const base = foldRuns(definition, null, runs.slice(0, cut), upTo(5));
        expect(foldRuns(definition, base, runs.slice(cut), upTo(5))).toStrictEqual(
          foldRuns(definition, null, runs, upTo(5)),
        );
      }),
    );
  });
});
