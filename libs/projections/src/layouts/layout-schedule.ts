import { LeasedTask, type PostgresLeases } from '@laddercast/ledger';
import type { LayoutBuilder } from './layout-builder.js';
import type { LayoutGrowth } from './layout-growth.js';
import type { LayoutRemover } from './layout-remover.js';

const LOOK_EVERY_MS = 250;
const LEASE_TTL_MS = 10_000;

/** Builds generations that were opened, removes those that serve no more, and has boards grow, in one process at a time. */
export class LayoutSchedule {
  private readonly task: LeasedTask;

  constructor(
    builder: Pick<LayoutBuilder, 'look' | 'settled'>,
    remover: Pick<LayoutRemover, 'look' | 'settled'>,
    growth: Pick<LayoutGrowth, 'look'>,
    leases: PostgresLeases,
    who: { holder: string; onFailure: (error: unknown) => void },
  ) {
    // One after another; what one of them cannot do now holds up no other.
    const look = async (signal: AbortSignal): Promise<void> => {
      builder.look(signal);
      await remover.look(signal).catch(who.onFailure);
      await growth.look(signal).catch(who.onFailure);
    };
    this.task = new LeasedTask(leases, {
      ...who,
      name: 'boards:layouts',
      ttlMs: LEASE_TTL_MS,
      askEveryMs: 2000,
      duties: [{ everyMs: LOOK_EVERY_MS, run: look }],
      onTerm: () => () => Promise.all([builder.settled(), remover.settled()]),
    });
  }

  start(): void {
    this.task.start();
  }

  /** Ends what is under way; it is begun anew, here or elsewhere. */
  stop(): Promise<void> {
    return this.task.stop();
  }
}
