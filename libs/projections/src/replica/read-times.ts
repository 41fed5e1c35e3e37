import { monotonicMs } from '@laddercast/platform';
import { LRUCache } from 'lru-cache';

/** The most lists that are remembered of each kind; the one noted longest ago makes room. */
const NAMES_MAX = 20_000;

/**
 * When something was last read of each of many names, by the monotonic clock. What is forgotten counts as read when the latest
 * of those was that were forgotten: never earlier than it was.
 */
export class ReadTimes {
  private readonly times: LRUCache<string, number>;
  private forgottenMs = -Infinity;

  constructor(namesMax = NAMES_MAX) {
    this.times = new LRUCache({
      maxSize: namesMax,
      sizeCalculation: () => 1,
      dispose: (atMs, _name, reason) => {
        if (reason === 'evict') this.forgottenMs = Math.max(this.forgottenMs, atMs);
      },
    });
  }

  note(name: string): void {
    this.times.set(name, monotonicMs());
  }

  /** -Infinity: never. */
  of(name: string): number {
    return this.times.get(name) ?? this.forgottenMs;
  }

  /** As {@link of}; a name that is not known is noted, as of now. */
  first(name: string): number {
    const known = this.times.get(name);
    if (known !== undefined) return known;
    this.note(name);
    return this.times.get(name)!;
  }
}
