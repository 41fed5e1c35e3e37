import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { withBoardDefaults, type BoardDefinition, type Operator } from '../boards/board.js';
import { withoutNegativeZero } from '../boards/sort-key.js';
import type { EntryState } from './entry.js';
import { foldRuns, type KeptRun, type RunKind, type RunState } from './run-fold.js';

const board = (operator: Operator, given: Partial<BoardDefinition> = {}): BoardDefinition => ({
  ...withBoardDefaults({ order: 'desc', operator }),
  ...given,
});

const run = (score: number, given: Partial<EntryState> = {}, state: RunState = 'counted'): KeptRun => ({
  kind: 'run',
  state,
  entry: { score, columns: [], achievedAtMs: 0, metadata: null, version: 1, ...given },
});
const wall = (kind: RunKind, score: number | null): KeptRun => ({
  ...run(score ?? 0),
  kind,
  ...(score === null && { entry: null }),
});
const voided = (one: KeptRun): KeptRun => ({ ...one, state: 'voided' });
const totalOf = (...runs: KeptRun[]): number | null => foldRuns(board('sum'), null, runs)?.score ?? null;

describe('an entry folded from its runs', () => {
  it('is what the remaining runs make, never the old total less a run', () => {
    expect(totalOf(run(1e16), run(1), run(1))).toBe(1e16);
    expect(totalOf(voided(run(1e16)), run(1), run(1))).toBe(2);
    expect(totalOf(run(0.1), run(0.2), run(0.3))).toBe(0.6000000000000001);
    expect(totalOf(run(0.1), voided(run(0.2)), run(0.3))).toBe(0.4);
  });

  it('is not held to the limits of the board', () => {
    const limited = board('sum', { limits: { ...board('sum').limits, scoreMax: 100 } });
    expect(foldRuns(limited, null, [run(90), voided(run(-50)), run(60)])?.score).toBe(150);
  });

  it('has the greatest or least double where a total would be beyond them', () => {
    const huge = Number.MAX_VALUE;
    expect(totalOf(run(huge), voided(run(-huge)), run(huge))).toBe(huge);
    expect(totalOf(run(-huge), run(-huge))).toBe(-huge);
  });

  it('goes back to the best, or the latest, of the others when its run is voided', () => {
    const runs = [
      run(5, { achievedAtMs: 1, version: 11, metadata: '"five"' }),
      run(9, { achievedAtMs: 3, version: 12 }),
      run(7, { achievedAtMs: 2, version: 13 }),
    ];
    const without = runs.map((one, index) => (index === 1 ? voided(one) : one));
    expect(foldRuns(board('best'), null, runs)).toMatchObject({ score: 9, version: 12 });
    expect(foldRuns(board('best'), null, without)).toMatchObject({ score: 7, version: 13 });
    expect(foldRuns(board('latest'), null, runs)).toMatchObject({ score: 9, version: 12 });
    expect(foldRuns(board('latest'), null, without)).toMatchObject({ score: 7, version: 13 });
  });

  it('of equal runs rests on the first that counts', () => {
    const first = run(5, { version: 11 });
    const second = run(5, { version: 12 });
    expect(foldRuns(board('best'), null, [first, second])?.version).toBe(11);
    expect(foldRuns(board('best'), null, [voided(first), second])?.version).toBe(12);
  });

  it('takes nothing from before a wall that counts, and all of it once the wall is voided', () => {
    const removal = wall('removal', null);
    expect(totalOf(run(5), wall('override', 40), run(2))).toBe(42);
    expect(totalOf(run(5), voided(wall('override', 40)), run(2))).toBe(7);
    expect(totalOf(run(5), wall('set', 0), run(2))).toBe(2);
    expect(totalOf(run(5), removal)).toBeNull();
    expect(totalOf(run(5), removal, run(2))).toBe(2);
    expect(totalOf(run(5), voided(removal), run(2))).toBe(7);
    expect(totalOf(run(5), wall('trim', null), run(2))).toBe(2);
  });

  it('does not count held runs, and is null without any that counts', () => {
    expect(totalOf({ ...run(5), state: 'held' }, run(2))).toBe(2);
    expect(totalOf(voided(run(5)))).toBeNull();
    expect(totalOf()).toBeNull();
  });

  it('goes on from a base', () => {
    expect(foldRuns(board('sum'), run(40).entry, [run(2)])?.score).toBe(42);
    expect(foldRuns(board('best'), run(40).entry, [run(2)])?.score).toBe(40);
    expect(foldRuns(board('sum'), run(40).entry, [wall('removal', null), run(2)])?.score).toBe(2);
  });
});

const aScore = fc.oneof(
  fc.integer({ min: -3, max: 3 }),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(withoutNegativeZero),
  fc.constantFrom(1e16, 0.1, 0.2, Number.MAX_VALUE),
);
const kinds = fc.constantFrom<RunKind>('run', 'run', 'run', 'run', 'set', 'override', 'removal', 'trim');
const someRuns = fc
  .array(
    fc.record({
      kind: kinds,
      state: fc.constantFrom<RunState>('counted', 'counted', 'held', 'voided'),
      score: aScore,
      achievedAtMs: fc.nat(5),
      metadata: fc.constantFrom(null, '1', '2'),
    }),
    { maxLength: 12 },
  )
  .map((made) =>
    made.map(({ kind, state, ...entry }, index): KeptRun => {
      const hasEntry = kind !== 'removal' && kind !== 'trim';
      return { kind, state, entry: hasEntry ? { ...entry, columns: [], version: index + 1 } : null };
    }),
  );
const anOperator = fc.constantFrom<Operator>('best', 'latest', 'sum');

describe('any runs', () => {
  it('give the same bits whether a prefix of them became a base or not', () => {
    fc.assert(
      fc.property(anOperator, someRuns, fc.nat(12), (operator, runs, cut) => {
        const definition = board(operator);
        const base = foldRuns(definition, null, runs.slice(0, cut));
        expect(foldRuns(definition, base, runs.slice(cut))).toStrictEqual(foldRuns(definition, null, runs));
      }),
    );
  });

  it('give what the runs that count give without the others there', () => {
    fc.assert(
      fc.property(anOperator, someRuns, (operator, runs) => {
        const counted = runs.filter(({ state }) => state === 'counted');
        const lastWall = counted.findLastIndex(({ kind }) => kind !== 'run');
        const definition = board(operator);
        expect(foldRuns(definition, null, runs)).toStrictEqual(
          foldRuns(definition, null, counted.slice(Math.max(0, lastWall))),
        );
      }),
    );
  });

  it('never leave the finite doubles', () => {
    fc.assert(
      fc.property(someRuns, (runs) => {
        const score = foldRuns(board('sum'), null, runs)?.score ?? 0;
        expect(Number.isFinite(score)).toBe(true);
      }),
    );
  });
});
