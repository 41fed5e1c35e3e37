import { LadderError } from '@laddercast/domain';

/** What is left of what a process can keep exact at every tick. */
export class WatchBudget {
  /** @param what for the refusal: `channels`, `members of circles` */
  constructor(
    private left: number,
    private readonly what: string,
  ) {}

  /** @throws SUBSCRIPTION_LIMIT when no more can be kept exact */
  take(count = 1): void {
    if (this.left < count) {
      const detail = `This gateway watches as many ${this.what} as it can keep exact; ask for the top, or connect to another.`;
      throw new LadderError('SUBSCRIPTION_LIMIT', detail);
    }
    this.left -= count;
  }

  give(count = 1): void {
    this.left += count;
  }
}
