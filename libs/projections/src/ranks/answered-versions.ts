import { LRUCache } from 'lru-cache';
import { nameOfRef, type ListRef } from './snapshot-store.js';

/** The most lists that are remembered; the one used longest ago makes room. */
const LISTS_MAX = 20_000;

/**
 * The newest version of each list that this process read from the shards and answered as exact: what is in memory may be
 * behind it, and must not be answered after it. Of a list that is not known, or was forgotten, nothing may be answered
 * from memory until it was read again.
 */
export class AnsweredVersions {
  private readonly versions: LRUCache<string, number>;

  constructor(listsMax = LISTS_MAX) {
    this.versions = new LRUCache({ max: listsMax });
  }

  /** A version that was read from the shards; one that is older than what is known changes nothing. */
  note(list: ListRef, version: number): void {
    const name = nameOfRef(list);
    if (version > (this.versions.get(name) ?? -Infinity)) this.versions.set(name, version);
  }

  /** Whether what is in memory of a list, of this version, may be answered as exact. */
  admits(list: ListRef, version: number): boolean {
    const known = this.versions.get(nameOfRef(list));
    return known !== undefined && known <= version;
  }
}
