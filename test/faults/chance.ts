import { Dice, seedOfRun } from '@laddercast/testing';

/** Dice of a scenario; their seed is printed, and FAULTS_SEED repeats a run. */
export class Chance extends Dice {
  constructor(readonly seed: number) {
    super(seed);
  }

  /** A new one for a scenario, with a word of its seed. */
  static of(scenario: string): Chance {
    const given = Number(process.env.FAULTS_SEED);
    const seed = Number.isInteger(given) && given > 0 ? given : seedOfRun();
    process.stderr.write(`${scenario}: FAULTS_SEED=${seed}\n`);
    return new Chance(seed);
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
