import { randomInt } from 'node:crypto';
import { Dice } from '@laddercast/testing';

/** A repeatable source of chance; its seed is printed, and FAULTS_SEED repeats a run. */
export class Chance {
  private readonly next: () => number;

  constructor(readonly seed: number) {
    this.next = new Dice(seed).next;
  }

  /** A new one for a scenario, with a word of its seed. */
  static of(scenario: string): Chance {
    const given = Number(process.env.FAULTS_SEED);
    const seed = Number.isInteger(given) && given > 0 ? given : randomInt(1, 1_000_000_000);
    process.stderr.write(`${scenario}: FAULTS_SEED=${seed}\n`);
    return new Chance(seed);
  }

  /** An integer from 0 to limit − 1. */
  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }

  between(first: number, last: number): number {
    return first + this.below(last - first + 1);
  }

  oneOf<T>(all: readonly T[]): T {
    return all[this.below(all.length)]!;
  }

  /** Whether something happens that does so this often (0 to 1). */
  happens(probability: number): boolean {
    return this.next() < probability;
  }

  /** Another source, for a part of its own: what one draws does not move what another does. */
  fork(number: number): Chance {
    return new Chance((this.seed + 7919 * (number + 1)) >>> 0);
  }
}

/** Whether the long version of the scenarios is run (`npm run test:faults`). */
export const isLong = process.env.FAULTS_LONG === '1';

/** The first in the long version, the second in the short one. */
export const longOr = <T>(long: T, short: T): T => (isLong ? long : short);
