import { LadderError } from '@laddercast/domain';

/** What is left of what a process can look at on every tick. */
export class WatchBudget {
  /** @param what for the refusal: `channels`, `members of circles` */
  constructor(
    private left: number,
    private readonly what: string,
  ) {}

  /** Whether so much can be taken. */
  has(count = 1): boolean {
    return this.left >= count;
  }

  /** @throws SUBSCRIPTION_LIMIT when no more can be watched */
  take(count = 1): void {
    if (!this.has(count)) {
      const detail = `This gateway watches as many ${this.what} as it can; ask for the top, or connect to another.`;
      throw new LadderError('SUBSCRIPTION_LIMIT', detail);
    }
    this.left -= count;
  }

  give(count = 1): void {
    this.left += count;
  }
}
