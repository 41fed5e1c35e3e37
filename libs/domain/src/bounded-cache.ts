/**
 * Remembers what was made for at most `entriesMax` keys; when it is full, the one made first goes. For this lib, which
 * imports nothing; elsewhere `lru-cache` does it.
 */
export class BoundedCache<Key, Value> {
  private readonly made = new Map<Key, Value>();
  /** Stays where it is: a new one would walk over all that went before, each time. */
  private readonly oldest = this.made.keys();

  constructor(private readonly entriesMax: number) {}

  get size(): number {
    return this.made.size;
  }

  /** What was made for the key; made now if it is not there (any more). What `make` throws is not remembered. */
  get(key: Key, make: () => Value): Value {
    const known = this.made.get(key);
    if (known !== undefined) return known;
    const value = make();
    if (this.made.size >= this.entriesMax) this.made.delete(this.oldest.next().value!);
    this.made.set(key, value);
    return value;
  }
}
