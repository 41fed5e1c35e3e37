import { nameOfRef, type ListRef } from './snapshot-store.js';

/** The most lists that are remembered; at the limit the half of them that was used longest ago is forgotten at once. */
const LISTS_MAX = 20_000;

/**
 * The newest version of each list that this process read from the shards and answered as exact: what is in memory may be
 * behind it, and must not be answered after it. Of a list that is not known, or was forgotten, nothing may be answered
 * from memory until it was read again.
 */
export class AnsweredVersions {
  private newer = new Map<string, { version: number }>();
  private older = new Map<string, { version: number }>();

  constructor(private readonly listsMax = LISTS_MAX) {}

  /** A version that was read from the shards; one that is older than what is known changes nothing. */
  note(list: ListRef, version: number): void {
    const name = nameOfRef(list);
    const known = this.known(name);
    if (known === undefined) this.remember(name, { version });
    else if (known.version < version) known.version = version;
  }

  /** Whether what is in memory of a list, of this version, may be answered as exact. */
  admits(list: ListRef, version: number): boolean {
    const known = this.known(nameOfRef(list));
    return known !== undefined && known.version <= version;
  }

  private known(name: string): { version: number } | undefined {
    const known = this.newer.get(name);
    if (known !== undefined) return known;
    const used = this.older.get(name);
    if (used !== undefined) this.remember(name, used);
    return used;
  }

  private remember(name: string, known: { version: number }): void {
    if (this.newer.size >= this.listsMax / 2) {
      this.older = this.newer;
      this.newer = new Map();
    }
    this.newer.set(name, known);
  }
}
