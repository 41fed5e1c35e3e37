import { LeasedTask, type PostgresLeases } from '@laddercast/ledger';
import type { DeadLetterStore } from './postgres-dead-letter-store.js';

const EVERY_MS = 60_000;
const LEASE_TTL_MS = 30_000;

/** Keeps the dead letters bounded; one process at a time. */
export class DeadLetterPruner {
  private readonly task: LeasedTask;

  constructor(
    letters: DeadLetterStore,
    leases: PostgresLeases,
    { keptDays, ...who }: { holder: string; keptDays: number; onFailure: (error: unknown) => void },
  ) {
    const duties = [{ everyMs: EVERY_MS, run: (signal: AbortSignal) => letters.prune(keptDays, signal) }];
    this.task = new LeasedTask(leases, { name: 'dead-letters:prune', ttlMs: LEASE_TTL_MS, duties, ...who });
  }

  start(): void {
    this.task.start();
  }

  stop(): Promise<void> {
    return this.task.stop();
  }
}
