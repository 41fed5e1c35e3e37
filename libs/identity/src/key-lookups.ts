import { LadderError } from '@laddercast/domain';
import type { ApiKeyStore, KeyLook } from '@laddercast/ledger';
import { nowMs } from '@laddercast/platform';

/** The most secrets in one query. */
const BATCH_MAX = 500;
/** The most unknown secrets that wait for a query; beyond, the answer is to come back later. */
export const LOOKUPS_WAITING_MAX = 2000;

/** The key that was found, and when the database was asked, Unix ms. */
export interface DatedLook {
  look: KeyLook;
  askedAtMs: number;
}

interface Waiting {
  secret: string;
  resolve: (found: DatedLook) => void;
  reject: (error: unknown) => void;
}

/**
 * Looks secrets up with one query at a time; those that come meanwhile share the next. So wrong keys take one
 * connection, however many are tried.
 */
export class KeyLookups {
  private readonly waiting: Waiting[] = [];
  private isLooking = false;

  constructor(private readonly keys: Pick<ApiKeyStore, 'look'>) {}

  /**
   * @param isKnown whether the key was good a moment ago: then it goes first, and there is always room for it
   * @throws IDENTITY_UNAVAILABLE, and what the database throws
   */
  look(secret: string, isKnown: boolean): Promise<DatedLook> {
    if (!isKnown && this.waiting.length >= LOOKUPS_WAITING_MAX) {
      const detail = 'Too many keys are being checked; try again shortly.';
      return Promise.reject(new LadderError('IDENTITY_UNAVAILABLE', detail, { retryAfterSeconds: 1 }));
    }
    return new Promise((resolve, reject) => {
      const one = { secret, resolve, reject };
      if (isKnown) this.waiting.unshift(one);
      else this.waiting.push(one);
      if (!this.isLooking) void this.lookUntilNoneWaits();
    });
  }

  private async lookUntilNoneWaits(): Promise<void> {
    this.isLooking = true;
    while (this.waiting.length > 0) {
      const batch = this.waiting.splice(0, BATCH_MAX);
      const askedAtMs = nowMs();
      try {
        const looks = await this.keys.look(batch.map(({ secret }) => secret));
        for (const [index, { resolve }] of batch.entries()) resolve({ look: looks[index]!, askedAtMs });
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    this.isLooking = false;
  }
}
