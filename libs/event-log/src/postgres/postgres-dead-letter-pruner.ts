import { HeldLease, type PostgresLeases } from '@laddercast/ledger';
import { sleep } from '@laddercast/platform';
import type { DeadLetterStore } from './postgres-dead-letter-store.js';

const EVERY_MS = 60_000;
const LEASE_TTL_MS = 30_000;

/** Keeps the dead letters bounded; one process at a time. */
export class DeadLetterPruner {
  private readonly lease: HeldLease;

  constructor(
    private readonly letters: DeadLetterStore,
    leases: PostgresLeases,
    private readonly options: { holder: string; keptDays: number; onFailure: (error: unknown) => void },
  ) {
    const { holder, onFailure } = options;
    const name = 'dead-letters:prune';
    this.lease = new HeldLease(leases, { name, holder, ttlMs: LEASE_TTL_MS, askEveryMs: LEASE_TTL_MS, onFailure });
  }

  start(): void {
    this.lease.start(async ({ ending }) => {
      while (!ending.aborted) {
        await this.letters.prune(this.options.keptDays, ending).catch(this.options.onFailure);
        await sleep(EVERY_MS, ending);
      }
    });
  }

  stop(): Promise<void> {
    return this.lease.stop();
  }
}
