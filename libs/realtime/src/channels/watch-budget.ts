import { LadderError } from '@laddercast/domain';

/** No party may have more than a tenth, or this many if that is less. */
const SHARE_OF = 10;
const SHARE_LEAST = 10;

/**
 * What a process can still read on every tick, and each party's share of that, so that one party cannot take it from
 * all others. API keys have no limit of their own: they are few, and known.
 */
export class WatchBudget {
  /** How much each party has taken. */
  private readonly taken = new Map<string, number>();
  private readonly share: number;

  /** @param what for the refusal: `channels`, `members of circles` */
  constructor(
    private left: number,
    private readonly what: string,
  ) {
    this.share = Math.max(SHARE_LEAST, Math.floor(left / SHARE_OF));
  }

  /** Whether a party (null: an API key) can take so much. */
  has(party: string | null, count = 1): boolean {
    return this.left >= count && this.sharesFor(party, count);
  }

  /** @throws SUBSCRIPTION_LIMIT when no more can be watched */
  take(party: string | null, count = 1): void {
    if (!this.has(party, count)) {
      const detail = this.sharesFor(party, count)
        ? `This gateway watches as many ${this.what} as it can; ask for the top, or connect to another.`
        : `This gateway watches ${this.share} ${this.what} at most for one player or address; ask for the top.`;
      throw new LadderError('SUBSCRIPTION_LIMIT', detail);
    }
    this.add(party, count);
  }

  /** Gives back what the same party has taken. */
  give(party: string | null, count = 1): void {
    this.add(party, -count);
  }

  private sharesFor(party: string | null, count: number): boolean {
    return party === null || (this.taken.get(party) ?? 0) + count <= this.share;
  }

  private add(party: string | null, count: number): void {
    this.left -= count;
    if (party === null) return;
    const taken = (this.taken.get(party) ?? 0) + count;
    if (taken > 0) this.taken.set(party, taken);
    else this.taken.delete(party);
  }
}
