import { growingCache } from '@laddercast/platform';
import { Injectable } from '@nestjs/common';

/** Shards whose counter is remembered; the one read longest ago makes room. */
const COUNTERS_MAX = 100_000;

/** The highest counter of each shard that was read, by its key: who reads a lower one reads a store that has lost something. */
@Injectable()
export class ShardCounters {
  private readonly highest = growingCache<string, number>(COUNTERS_MAX);

  /** 0: not known. */
  of(key: string): number {
    return this.highest.get(key) ?? 0;
  }

  note(key: string, counter: number): void {
    if (counter > this.of(key)) this.highest.set(key, counter);
  }

  /** Takes over what was read elsewhere. */
  raiseTo(other: ShardCounters): void {
    // Of a copy: what is noted may be noted there as well, and the order in which it is kept changes by each look-up.
    for (const [key, counter] of [...other.highest.entries()]) this.note(key, counter);
  }
}

/** What was shown by the replica is known of the master, too: another one that lacks it is no whole one. */
export class CountersOfReplica extends ShardCounters {
  constructor(private readonly ofMaster: ShardCounters) {
    super();
  }

  override note(key: string, counter: number): void {
    super.note(key, counter);
    this.ofMaster.note(key, counter);
  }
}
