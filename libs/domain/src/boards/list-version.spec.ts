import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ListVersions } from './layout.js';
import {
  counterStart,
  firstVersions,
  versionBeyond,
  versionOfCounters,
  versionsAfter,
  versionsOf,
} from './list-version.js';

const STARTS_AT_MS = Date.UTC(2026, 10, 20);
/** By how much clocks of processes are apart, and how long a reader goes on with the generation before. */
const LATE_MS = 30_000;
const MARGIN_MS = 600_000;

/** A list of one generation: its shards' counters begin with their first change. */
class Generation {
  readonly counters: number[];

  constructor(
    readonly shards: number,
    readonly versions: ListVersions,
  ) {
    this.counters = Array.from({ length: shards }, () => 0);
  }

  change(shard: number, changes: number, atMs: number): void {
    const at = shard % this.shards;
    const begun = this.counters[at] || counterStart(this, atMs);
    this.counters[at] = begun + changes;
  }

  get version(): number {
    return versionOfCounters(this, this.counters);
  }
}

interface Step {
  /** null: changes are made; else a generation with so many shards comes to serve. */
  shards: number | null;
  shard: number;
  changes: number;
  takesMs: number;
  /** By how much the clock that says when a generation was opened is off. */
  skewMs: number;
}

const anyStep = (): fc.Arbitrary<Step> =>
  fc.record({
    shards: fc.option(fc.integer({ min: 1, max: 64 }), { freq: 3 }),
    shard: fc.nat({ max: 63 }),
    changes: fc.integer({ min: 1, max: 1000 }),
    takesMs: fc.integer({ min: 10, max: 3_000_000 }),
    skewMs: fc.integer({ min: -LATE_MS, max: LATE_MS }),
  });

/** The versions that readers see, in order: those that are late read the generation before once more after the switch. */
function versionsSeen(steps: readonly Step[], shardsOfList: (shards: number) => number): number[] {
  let atMs = STARTS_AT_MS;
  let shards = 1;
  let serving = new Generation(shardsOfList(shards), { base: 0, floor: 0 });
  const seen = [serving.version];
  for (const { shards: next, shard, changes, takesMs, skewMs } of steps) {
    if (next === null) {
      atMs += takesMs;
      serving.change(shard, changes, atMs);
      seen.push(serving.version);
      continue;
    }
    const openedAtMs = atMs + skewMs;
    const opened = { base: 0, floor: 0 };
    const filled = new Generation(shardsOfList(next), opened);
    // What was there is written at the opening, by a process whose clock may be behind; what changes goes to both.
    if (serving.counters.some((counter) => counter > 0)) filled.change(shard, changes, atMs);
    atMs += takesMs;
    for (const generation of [serving, filled]) generation.change(shard, changes, atMs);
    seen.push(serving.version);
    const versions = versionsAfter({ shards, versions: serving.versions }, openedAtMs - MARGIN_MS, atMs + MARGIN_MS);
    const late = serving;
    for (const generation of [late, filled]) generation.change(shard + 1, changes, atMs + LATE_MS);
    seen.push(late.version);
    atMs += LATE_MS;
    serving = Object.assign(new Generation(shardsOfList(next), versions), { counters: filled.counters });
    shards = next;
    seen.push(serving.version);
    seen.push(versionOfCounters(serving, serving.counters));
  }
  seen.push(versionBeyond(serving, atMs + LATE_MS));
  return seen;
}

describe('the version of a list', () => {
  it.each([
    ['of everybody', (shards: number): number => shards],
    ['of a scope, which has one shard in every generation', (): number => 1],
  ])('%s never falls over generations, whatever their shards, and is an exact number', (_, shardsOfList) => {
    fc.assert(
      fc.property(fc.array(anyStep(), { maxLength: 30 }), (steps) => {
        const seen = versionsSeen(steps, shardsOfList);
        expect(seen).toEqual([...seen].sort((a, b) => a - b));
        expect(seen.every(Number.isSafeInteger)).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  it('grows with every change, also before a generation has changed in all of its shards', () => {
    const versions = versionsAfter({ shards: 4, versions: { base: 0, floor: 0 } }, STARTS_AT_MS, STARTS_AT_MS + 1000);
    const list = new Generation(4, versions);
    const seen = [list.version];
    for (const shard of [2, 2, 0, 3]) {
      list.change(shard, 1, STARTS_AT_MS + 5000);
      seen.push(list.version);
    }
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen).toEqual([...seen].sort((a, b) => a - b));
  });

  it('of what ended long ago is not below what it was before the board was re-sharded', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 64 }), fc.integer({ min: 1, max: 64 }), fc.nat(), (before, next, agoMs) => {
        const serving = { shards: before, versions: { base: 0, floor: 0 } };
        const versions = versionsAfter(serving, STARTS_AT_MS, STARTS_AT_MS + MARGIN_MS);
        const endedAtMs = STARTS_AT_MS - agoMs;
        const ended = versionBeyond({ shards: next, versions }, endedAtMs);
        expect(ended).toBeGreaterThanOrEqual(versionBeyond(serving, endedAtMs));
      }),
    );
  });
});

/** What happens to a board with a list for each window of a name: changes, the next window, a reset, made anew. */
interface Turn {
  kind: 'change' | 'window' | 'reset' | 'remade';
  shards: number;
  shard: number;
  changes: number;
  takesMs: number;
}

const anyTurn = (): fc.Arbitrary<Turn> =>
  fc.record({
    kind: fc.constantFrom('change', 'change', 'window', 'window', 'reset', 'remade'),
    shards: fc.integer({ min: 1, max: 64 }),
    shard: fc.nat({ max: 63 }),
    changes: fc.integer({ min: 1, max: 1000 }),
    takesMs: fc.integer({ min: 10, max: 90_000_000 }),
  });

describe('the version of a name', () => {
  it('never falls when the next window begins, or its board is reset or made again, and grows with every change', () => {
    fc.assert(
      fc.property(
        fc.array(anyTurn(), { maxLength: 40 }),
        fc.integer({ min: -LATE_MS, max: 0 }),
        fc.boolean(),
        (turns, skewMs, isOfAnEarlierRelease) => {
          let atMs = STARTS_AT_MS;
          let board = new Generation(4, isOfAnEarlierRelease ? { base: 0, floor: 0 } : firstVersions(atMs));
          let list = board;
          const seen = [list.version];
          const windowOf = (startsAtMs: number) => new Generation(board.shards, versionsOf(board, startsAtMs));
          for (const { kind, shards, shard, changes, takesMs } of turns) {
            atMs += takesMs;
            if (kind === 'reset') board = new Generation(shards, versionsAfter(board, atMs, atMs));
            if (kind === 'remade') board = new Generation(shards, firstVersions(atMs));
            list = kind === 'change' ? list : windowOf(atMs);
            const before = list.version;
            seen.push(before);
            // By a process whose clock is behind that of the ledger.
            list.change(shard, changes, atMs + skewMs);
            expect(list.version).toBeGreaterThanOrEqual(before + changes);
            seen.push(list.version);
          }
          expect(seen).toEqual([...seen].sort((a, b) => a - b));
          expect(seen.every(Number.isSafeInteger)).toBe(true);
        },
      ),
      { numRuns: 500 },
    );
  });

  it('of a window that ends is beyond all that was read of it, and below the next one', () => {
    const board = new Generation(4, firstVersions(STARTS_AT_MS));
    const dayMs = 86_400_000;
    const [first, second] = [STARTS_AT_MS + dayMs, STARTS_AT_MS + 2 * dayMs].map((at) => versionsOf(board, at));
    const ended = versionBeyond({ shards: 4, versions: first! }, STARTS_AT_MS + 2 * dayMs);
    expect(ended).toBeGreaterThan(first!.base);
    expect(second!.base).toBeGreaterThan(ended);
    expect(versionsOf(board, null)).toEqual(board.versions);
    // A season that began before the board was reset.
    expect(versionsOf(board, STARTS_AT_MS - dayMs)).toEqual(board.versions);
  });
});
