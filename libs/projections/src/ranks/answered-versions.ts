import type { LRUCache } from 'lru-cache';
import { Injectable, Optional } from '@nestjs/common';
import { nameOfRef, type ListRef } from './snapshot-store.js';
import { growingCache } from '@laddercast/platform';

/** A version, and when it was answered for the first time, Unix ms. */
interface Answered {
  version: number;
  sinceMs: number;
}

/** The most lists that are remembered; the one used longest ago makes room. */
const LISTS_MAX = 20_000;

/**
 * The newest version of each list that this process read from the shards and answered as exact: what is in memory may be
 * behind it, and must not be answered after it. Of a list that is not known, or was forgotten, nothing may be answered
 * from memory until it was read again.
 */
@Injectable()
export class AnsweredVersions {
  private readonly answered: LRUCache<string, Answered>;

  constructor(@Optional() listsMax = LISTS_MAX) {
    this.answered = growingCache(listsMax);
  }

  /** A version that was read from the shards by now, Unix ms; one that is older than what is known changes nothing. */
  note(list: ListRef, version: number, nowMs: number): void {
    const name = nameOfRef(list);
    if (version > this.newest(list)) this.answered.set(name, { version, sinceMs: nowMs });
  }

  /** Whether what is in memory of a list, of this version, may be answered as exact. */
  admits(list: ListRef, version: number): boolean {
    const known = this.answered.get(nameOfRef(list));
    return known !== undefined && known.version <= version;
  }

  /** The newest version that is known to have been answered; -Infinity: none is known. */
  newest(list: ListRef): number {
    return this.answered.get(nameOfRef(list))?.version ?? -Infinity;
  }

  /**
   * Whether what is in memory of a list is older than what was answered, and yet of a later time: then it was read after a
   * loss, and is of no time at all.
   */
  isOfLoss(list: ListRef, version: number, asOfMs: number): boolean {
    const known = this.answered.get(nameOfRef(list));
    return known !== undefined && version < known.version && asOfMs > known.sinceMs;
  }
}
