/**
 * Remembers the values of at most `entriesMax` keys; when it is full, the oldest goes. This lib imports nothing;
 * elsewhere `lru-cache` does this.
 */
export class BoundedCache<Key, Value> {
  private readonly made = new Map<Key, Value>();
  /** One iterator for good: a new one would walk over all removed keys each time. */
  private readonly oldest = this.made.keys();

  constructor(private readonly entriesMax: number) {}

  get size(): number {
    return this.made.size;
  }

  /** The key's value, made now if it is not there (any more). An error of `make` is not remembered. */
  get(key: Key, make: () => Value): Value {
    const known = this.made.get(key);
    if (known !== undefined) return known;
    const value = make();
    if (this.made.size >= this.entriesMax) this.made.delete(this.oldest.next().value!);
    this.made.set(key, value);
    return value;
  }
}
