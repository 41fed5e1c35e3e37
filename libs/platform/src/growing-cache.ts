import { LRUCache } from 'lru-cache';

/**
 * A cache of at most so many entries, from which the one goes first that was used longest ago. It grows with its entries:
 * given `max`, an LRUCache takes room for all of them at once, 30 bytes each, in each process.
 */
export const growingCache = <Key extends object | string | number, Value extends NonNullable<unknown>>(
  entriesMax: number,
): LRUCache<Key, Value> => new LRUCache({ maxSize: entriesMax, sizeCalculation: () => 1 });
