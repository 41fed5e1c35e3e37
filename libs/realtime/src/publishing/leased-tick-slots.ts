import { type Lease, PostgresLeases } from '@laddercast/ledger';
import { monotonicMs, RateLimitedLog, sleep } from '@laddercast/platform';
import { Injectable } from '@nestjs/common';
import { TICK_SLOTS, TickSlots } from './tick-slots.js';

const TTL_MS = 5000;
const ASK_EVERY_MS = 1000;

const SLOTS = Array.from({ length: TICK_SLOTS }, (_, slot) => slot);
const nameOf = (slot: number): string => `rank-ticks:${slot}`;
const NAMES = SLOTS.map(nameOf);

/**
 * Shares slots by leases in PostgreSQL: a process ticks every list except those that another process is known to tick.
 * So nothing waits for a lease. A slot without a holder is ticked by all. While PostgreSQL is away each process goes on
 * with its own slots and, once the others' leases would have lapsed, with all. A process takes one free slot a second,
 * so that processes that start together share them; one that holds them all keeps them until it ends.
 */
@Injectable()
export class LeasedTickSlots extends TickSlots {
  private readonly held = new Map<number, Lease>();
  private ofOthers: ReadonlySet<number> = new Set();
  private knownUntilMs = -Infinity;
  private readonly failures = new RateLimitedLog(LeasedTickSlots.name);
  private readonly stopped = new AbortController();
  private running: Promise<void> | null = null;

  constructor(private readonly leases: PostgresLeases) {
    super();
  }

  override holds(slot: number): boolean {
    return !this.ofOthers.has(slot) || monotonicMs() > this.knownUntilMs;
  }

  /** For metrics: how many leases this process holds. */
  heldCount(): number {
    return this.held.size;
  }

  start(): void {
    this.running ??= this.run();
  }

  /** Gives the slots back, so that others need not wait for them. */
  async stop(): Promise<void> {
    this.stopped.abort();
    await this.running;
    await Promise.allSettled([...this.held.values()].map((lease) => this.leases.release(lease)));
    this.held.clear();
  }

  private async run(): Promise<void> {
    while (!this.stopped.signal.aborted) {
      await this.ask().catch((error: unknown) => this.failures.warn('Tick slots cannot be shared out', error));
      await sleep(ASK_EVERY_MS * (1 + Math.random() / 4), this.stopped.signal);
    }
  }

  private async ask(): Promise<void> {
    const askedAtMs = monotonicMs();
    await Promise.all([...this.held].map(([slot, lease]) => this.renew(slot, lease)));
    const holders = await this.leases.holders(NAMES);
    const holderOf = new Map(holders.map(({ name, holder }) => [name, holder]));
    const free = SLOTS.filter((slot) => !holderOf.has(nameOf(slot)));
    if (free.length > 0) await this.acquire(free[Math.floor(Math.random() * free.length)]!);
    this.ofOthers = new Set(
      SLOTS.filter((slot) => (holderOf.get(nameOf(slot)) ?? this.leases.holder) !== this.leases.holder),
    );
    this.knownUntilMs = askedAtMs + TTL_MS;
  }

  private async renew(slot: number, lease: Lease): Promise<void> {
    if (!(await this.leases.renew(lease, TTL_MS))) this.held.delete(slot);
  }

  private async acquire(slot: number): Promise<void> {
    const lease = await this.leases.acquire(nameOf(slot), this.leases.holder, TTL_MS);
    if (lease) this.held.set(slot, lease);
  }
}
