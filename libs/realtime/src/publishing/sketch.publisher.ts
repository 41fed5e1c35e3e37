import { monotonicMs, nowMs, RateLimitedLog, sleep } from '@laddercast/platform';
import { nameOfRef, SketchBuilder, SketchStore, type ListRef, type SketchStamp } from '@laddercast/projections';
import { ListResolver } from '@laddercast/queries';
import { Injectable } from '@nestjs/common';
import { slotOf, TickSlots } from './tick-slots.js';

/** The most lists that are sketched; for others each process that estimates makes its own sketch every few seconds. */
export const SKETCHED_LISTS_MAX = 2000;
/** How often a list is looked at; it is not sketched more often than that. */
const EVERY_MS = 1000;
const LISTS_AT_ONCE = 8;

/**
 * Keeps the sketches of lists whose ranks are estimated up to date: once a second those that changed, by the process
 * that ticks the list. If two do, the newer sketch stays. Standings need no sketch: their ranks are stored.
 */
@Injectable()
export class SketchPublisher {
  private readonly failures = new RateLimitedLog(SketchPublisher.name);
  private loop: { done: Promise<void>; stop: AbortController } | null = null;

  constructor(
    private readonly store: SketchStore,
    private readonly builder: SketchBuilder,
    private readonly resolver: ListResolver,
    private readonly slots: TickSlots,
  ) {}

  start(): void {
    if (this.loop) return;
    const stop = new AbortController();
    this.loop = { stop, done: this.run(stop.signal) };
  }

  /** Ends the loop, after the sketches that are being made. */
  async stop(): Promise<void> {
    this.loop?.stop.abort();
    await this.loop?.done;
    this.loop = null;
  }

  private async run(stopped: AbortSignal): Promise<void> {
    while (!stopped.aborted) {
      const startedAtMs = monotonicMs();
      await this.renewAll(stopped).catch((error: unknown) =>
        this.failures.warn('Lists to be sketched cannot be looked up', error),
      );
      await sleep(Math.max(0, startedAtMs + EVERY_MS - monotonicMs()), stopped);
    }
  }

  private async renewAll(stopped: AbortSignal): Promise<void> {
    const inUse = await this.store.listsInUse(nowMs(), SKETCHED_LISTS_MAX);
    if (inUse.length === SKETCHED_LISTS_MAX) {
      this.failures.warn('Ranks of too many lists are estimated', `only ${SKETCHED_LISTS_MAX} of them are sketched`);
    }
    const lists = inUse.filter((list) => this.slots.holds(slotOf(list)));
    const stamps = await this.store.stamps(lists);
    const published = new Map(lists.map((list, at) => [nameOfRef(list), stamps[at]!]));
    const renewNext = async (): Promise<void> => {
      for (let list = lists.pop(); list !== undefined && !stopped.aborted; list = lists.pop()) {
        await this.renew(list, published.get(nameOfRef(list)) ?? null);
      }
    };
    await Promise.all(Array.from({ length: LISTS_AT_ONCE }, renewNext));
  }

  private async renew(ref: ListRef, published: SketchStamp | null): Promise<void> {
    try {
      const resolved = await this.resolver.byRef(ref);
      if (resolved?.edition === null) await this.builder.renew(resolved.list, published);
    } catch (error) {
      this.failures.warn('A list cannot be sketched', error);
    }
  }
}
