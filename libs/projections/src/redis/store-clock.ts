import { nowMs } from '@laddercast/platform';

/**
 * The latest that it is by the ledger's time and by this process's clock, which is near that of the store, Unix ms. Keys go
 * by the store's clock, at a time of the ledger's: whoever must not find them gone asks this.
 */
export const latestOfStoreMs = (ledgerMs: number): number => Math.max(ledgerMs, nowMs());
