import type { PostgresLeases } from '@laddercast/ledger';
import { sleep } from '@laddercast/platform';
import { reasonOf, type LogLine } from '../delivery/log-line.js';
import { SHARE_EVERY_MS, type PostgresGroupConsumer } from './postgres-group-consumer.js';

/** Looks for all consumers of a process who has which lane, and lets each take part in sharing out those of its group. */
export class PostgresLaneSharing {
  private readonly stopped = new AbortController();
  private running: Promise<void> | null = null;

  constructor(
    private readonly leases: PostgresLeases,
    private readonly consumers: ReadonlySet<PostgresGroupConsumer>,
    private readonly log: LogLine,
  ) {}

  start(): void {
    this.running ??= this.run();
  }

  async stop(): Promise<void> {
    this.stopped.abort();
    await this.running;
  }

  private async run(): Promise<void> {
    const { signal } = this.stopped;
    while (!signal.aborted) {
      // At random, so that processes do not give and take in step.
      await sleep(SHARE_EVERY_MS * (0.75 + Math.random() / 2), signal);
      if (signal.aborted) return;
      try {
        await this.share();
      } catch (error) {
        this.log('debug', `The lanes of the outbox cannot be shared out now: ${reasonOf(error)}`);
      }
    }
  }

  private async share(): Promise<void> {
    const consumers = [...this.consumers];
    if (consumers.length === 0) return;
    const holders = await this.leases.holders(consumers.flatMap(({ leaseNames }) => leaseNames));
    for (const consumer of consumers) await consumer.share(holders);
  }
}
