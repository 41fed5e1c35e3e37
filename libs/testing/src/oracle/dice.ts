/**
 * The seed of random tests: `SEED`, which repeats a run, else that of this run of all tests (a second look at a failed file
 * meets the same chances), else a new one. Put it in the name of the test.
 */
export function seedOfRun(): number {
  const { SEED, TEST_RUN_SEED } = process.env;
  return Number(SEED ?? TEST_RUN_SEED ?? Math.floor(Math.random() * 2 ** 31));
}

/** Random choices that a seed decides (Mulberry32). Its functions may be taken out of it. */
export class Dice {
  constructor(private state: number) {}

  /** From 0 to below 1. */
  readonly next = (): number => {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };

  /** An integer from 0 to limit − 1. */
  readonly below = (limit: number): number => Math.floor(this.next() * limit);

  /** An integer from the least to the most. */
  readonly from = (least: number, most: number): number => least + this.below(most - least + 1);

  readonly oneOf = <T>(items: readonly T[]): T => items[this.below(items.length)]!;

  /** The items in any order (Fisher-Yates). */
  readonly shuffled = <T>(items: readonly T[]): T[] => {
    const shuffled = [...items];
    for (let last = shuffled.length - 1; last > 0; last -= 1) {
      const other = this.below(last + 1);
      [shuffled[last], shuffled[other]] = [shuffled[other]!, shuffled[last]!];
    }
    return shuffled;
  };

  /** Whether something happens that does so this often (0 to 1). */
  readonly isUnder = (chance: number): boolean => this.next() < chance;
}
