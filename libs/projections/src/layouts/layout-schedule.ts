import { HeldLease, type PostgresLeases } from '@laddercast/ledger';
import { sleep } from '@laddercast/platform';
import type { LayoutBuilder } from './layout-builder.js';
import type { LayoutGrowth } from './layout-growth.js';
import type { LayoutRemover } from './layout-remover.js';

const LOOK_EVERY_MS = 250;
const LEASE_TTL_MS = 10_000;

/** Builds generations that were opened, removes those that serve no more, and has boards grow, in one process at a time. */
export class LayoutSchedule {
  private readonly lease: HeldLease;

  constructor(
    private readonly builder: Pick<LayoutBuilder, 'look' | 'settled'>,
    private readonly remover: Pick<LayoutRemover, 'look' | 'settled'>,
    private readonly growth: Pick<LayoutGrowth, 'look'>,
    leases: PostgresLeases,
    private readonly options: { holder: string; onFailure: (error: unknown) => void },
  ) {
    const { holder, onFailure } = options;
    const name = 'boards:layouts';
    this.lease = new HeldLease(leases, { name, holder, ttlMs: LEASE_TTL_MS, askEveryMs: 2000, onFailure });
  }

  start(): void {
    this.lease.start(async ({ ending }) => {
      while (!ending.aborted) {
        this.builder.look(ending);
        await this.remover.look(ending).catch(this.options.onFailure);
        await this.growth.look(ending).catch(this.options.onFailure);
        await sleep(LOOK_EVERY_MS, ending);
      }
      await Promise.all([this.builder.settled(), this.remover.settled()]);
    });
  }

  /** Ends what is under way; it is begun anew, here or elsewhere. */
  stop(): Promise<void> {
    return this.lease.stop();
  }
}
