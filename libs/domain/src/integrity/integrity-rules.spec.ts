import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { clusterAround, type EqualRun } from './cluster.js';
import { withIntegrityDefaults } from './integrity-options.js';
import { jumpOf } from './jump.js';
import { isTooFast } from './rate.js';

describe('the rule jump', () => {
  const rule = { factor: 6, runsMin: 5 };

  it.each([
    ['median 100, distances 0 1 1 2 2: unit max(1.4826, 5) = 5', [98, 99, 100, 101, 102], 130, null],
    ['one more is beyond 6 × 5', [98, 99, 100, 101, 102], 130.1, { median: 100, unit: 5, runs: 5 }],
    ['an even number: (10 + 20) / 2', [0, 10, 20, 30], 15 + 6 * 1.4826 * 10 + 0.001, { median: 15, unit: 1.4826 * 10 }],
    ['all equal: the least unit', [40, 40, 40, 40, 40], 52.001, { median: 40, unit: 2 }],
    ['all zero: no distance is small', [0, 0, 0, 0, 0], 1e-300, { median: 0, unit: 0 }],
    ['equal to a median of zero', [0, 0, 0, 0, 0], 0, null],
    ['negative medians', [-40, -40, -40, -40, -40], -27.9, { median: -40, unit: 2 }],
    ['sums beyond the doubles', [1.7e308, 1.7e308, 1.7e308, 1.7e308], Number.MAX_VALUE, null],
  ])('%s', (_what, earlier, score, jump) => {
    const found = jumpOf({ ...rule, runsMin: Math.min(rule.runsMin, earlier.length) }, 'desc', score, earlier);
    if (jump === null) expect(found).toBeNull();
    else expect(found).toMatchObject(jump);
    // A mirror of all scores is a mirror of the order.
    const mirrored = jumpOf(
      { ...rule, runsMin: 3 },
      'asc',
      -score,
      earlier.map((one) => -one),
    );
    expect(mirrored === null).toBe(jump === null);
  });

  it('is silent with fewer runs before than runsMin, and for a run that is worse', () => {
    expect(jumpOf(rule, 'desc', 1e9, [1, 1, 1, 1])).toBeNull();
    expect(jumpOf(rule, 'desc', -1e9, [1, 1, 1, 1, 1])).toBeNull();
    expect(jumpOf(rule, 'asc', 1e9, [1, 1, 1, 1, 1])).toBeNull();
    expect(jumpOf(rule, 'asc', -1e9, [1, 1, 1, 1, 1])).not.toBeNull();
  });

  it('agrees with the definition, read out word by word', () => {
    const score = fc.oneof(fc.integer({ min: -50, max: 50 }), fc.double({ min: -1e6, max: 1e6, noNaN: true }));
    const median = (values: number[]): number => {
      const sorted = [...values].sort((a, b) => a - b);
      const half = sorted.length / 2;
      return sorted.length % 2 ? sorted[Math.floor(half)]! : (sorted[half - 1]! + sorted[half]!) / 2;
    };
    fc.assert(
      fc.property(
        fc.array(score, { minLength: 1, maxLength: 50 }),
        score,
        fc.integer({ min: 2, max: 20 }),
        fc.constantFrom('asc' as const, 'desc' as const),
        (earlier, run, factor, order) => {
          const m = median(earlier);
          const d = median(earlier.map((s) => Math.abs(s - m)));
          const isFlagged =
            earlier.length >= 3 &&
            (order === 'asc' ? m - run : run - m) > factor * Math.max(1.4826 * d, 0.05 * Math.abs(m));
          expect(jumpOf({ factor, runsMin: 3 }, order, run, earlier) !== null).toBe(isFlagged);
        },
      ),
      { numRuns: 2000 },
    );
  });
});

describe('the rule rate', () => {
  const rule = { runs: 3, seconds: 10 };

  it.each([
    ['the third before it within ten seconds', 14_000, true],
    ['exactly ten seconds before it', 10_000, true],
    ['a millisecond more', 9999, false],
    ['none', null, false],
  ])('%s', (_what, nthBeforeMs, isFlagged) => {
    expect(isTooFast(rule, 20_000, nthBeforeMs)).toBe(isFlagged);
  });

  it('is that of counting all runs in those seconds, as time does not go back in a lane', () => {
    const gaps = fc.array(fc.integer({ min: 0, max: 40 }), { minLength: 1, maxLength: 30 });
    fc.assert(
      fc.property(gaps, fc.integer({ min: 1, max: 5 }), (between, runs) => {
        let nowMs = 0;
        const times = between.map((gap) => (nowMs += gap));
        const own = times.at(-1)!;
        const isFlagged = times.filter((atMs) => own - atMs <= 100).length >= runs + 1;
        expect(isTooFast({ runs, seconds: 0.1 }, own, times.at(-1 - runs) ?? null)).toBe(isFlagged);
      }),
    );
  });
});

describe('the rule cluster', () => {
  const rule = { players: 3, minutes: 10 };
  const at = (minute: number, playerId: string): EqualRun => ({ playerId, acceptedAtMs: minute * 60_000 });
  const playersOf = (runs: EqualRun[]): string => runs.map(({ playerId }) => playerId).join(' ');

  it.each([
    ['three players within ten minutes', [at(0, 'a'), at(5, 'b'), at(10, 'c')], at(5, 'b'), 'a b c'],
    ['two players, however many runs', [at(0, 'a'), at(1, 'b'), at(2, 'a'), at(3, 'b')], at(2, 'a'), ''],
    ['three players within eleven minutes', [at(0, 'a'), at(5, 'b'), at(11, 'c')], at(5, 'b'), ''],
    [
      'more on either side, each within ten of the others',
      [at(0, 'a'), at(4, 'b'), at(9, 'c'), at(13, 'd')],
      at(9, 'c'),
      'a b c d',
    ],
    ['some beside it are in no such stretch', [at(0, 'a'), at(9, 'b'), at(11, 'c'), at(12, 'd')], at(9, 'b'), 'b c d'],
    ['a stretch that does not hold the run', [at(0, 'z'), at(9, 'a'), at(11, 'b'), at(12, 'c')], at(0, 'z'), ''],
  ])('%s', (_what, runs, run, found) => {
    expect(playersOf(clusterAround(rule, run, runs))).toBe(found);
  });

  it('finds what every stretch that holds the run shows, tried one by one', () => {
    const run = fc.record({
      playerId: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
      minute: fc.integer({ min: 0, max: 40 }),
    });
    fc.assert(
      fc.property(
        fc.array(run, { minLength: 1, maxLength: 14 }),
        fc.integer({ min: 2, max: 5 }),
        fc.nat(),
        (given, players, pick) => {
          const runs = given
            .map(({ playerId, minute }) => at(minute, playerId))
            .sort((a, b) => a.acceptedAtMs - b.acceptedAtMs);
          const own = runs[pick % runs.length]!;
          const members = new Set<EqualRun>();
          for (let minute = -10; minute <= 50; minute += 1) {
            const stretch = runs.filter(
              ({ acceptedAtMs: ms }) => ms >= minute * 60_000 && ms <= (minute + 10) * 60_000,
            );
            if (!stretch.includes(own) || new Set(stretch.map(({ playerId }) => playerId)).size < players) continue;
            for (const one of stretch) members.add(one);
          }
          const near = runs.filter(({ acceptedAtMs: ms }) => Math.abs(ms - own.acceptedAtMs) <= 10 * 60_000);
          expect(clusterAround({ players, minutes: 10 }, own, near)).toEqual(runs.filter((one) => members.has(one)));
        },
      ),
      { numRuns: 1000 },
    );
  });
});

describe('what a board examines', () => {
  it('is off where it is not named, and has defaults where it is', () => {
    expect(withIntegrityDefaults({})).toEqual({ jump: null, rate: null, cluster: null, rules: [], holdAbove: null });
    expect(withIntegrityDefaults({ jump: {}, rate: { runs: 5 }, cluster: {} })).toEqual({
      jump: { factor: 6, runsMin: 5 },
      rate: { runs: 5, seconds: 60 },
      cluster: { players: 10, minutes: 60 },
      rules: [],
      holdAbove: null,
    });
  });
});
