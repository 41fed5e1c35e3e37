import { metrics, monotonicMs, sleep } from '@laddercast/platform';
import { Logger } from '@nestjs/common';

/** Gauges that are computed when they are asked for. */
export interface MetricsSource {
  name: string;
  /** Reads them anew. It may take its time: who scrapes does not wait for long. */
  read(): unknown;
  /** Takes their values away: they are too old to be shown, or another process says them. */
  clear?(): void;
  /** Whether it is for this process to say them now; always when not given. */
  isOurs?(): boolean;
  /** How long a reading is good for, ms; 1,000 when not given. */
  everyMs?: number;
}

interface SourceState {
  source: MetricsSource;
  reading: Promise<void> | null;
  startedAtMs: number;
  readAtMs: number;
  /** Not before: what takes long is read less often. */
  nextAtMs: number;
}

const EVERY_MS = 1000;
/** How long a scrape waits for all sources; what is read later is shown by the next one. */
const WAIT_MS = 1000;
/** Values older than this are left out. */
const SHOWN_FOR_MS = 60_000;
/** A source is read for a fifth of the time at most. */
const REST_PER_READING = 4;

/**
 * Reads the sources of a process for each scrape: one reading of each at a time, none for longer than a second in the
 * way of the scrape. A store that hangs leaves the last values, for a minute, and then none.
 */
export class MetricsCollection {
  private readonly log = new Logger('metrics');
  private readonly states: SourceState[];

  constructor(
    sources: readonly MetricsSource[],
    private readonly waitMs = WAIT_MS,
  ) {
    const now = monotonicMs();
    this.states = sources.map((source) => {
      source.clear?.();
      return { source, reading: null, startedAtMs: 0, readAtMs: now, nextAtMs: -Infinity };
    });
  }

  /** Has the gauges of all sources as new as they can be had in a second; it never rejects. */
  async collect(): Promise<void> {
    const over = new AbortController();
    const readings = this.states.map((state) => this.read(state));
    await Promise.race([Promise.all(readings), sleep(this.waitMs, over.signal)]);
    over.abort();
    const now = monotonicMs();
    for (const state of this.states) {
      const { source } = state;
      const isOurs = source.isOurs?.() ?? true;
      if (!isOurs) state.readAtMs = now;
      if (isOurs) metrics.collectionAgeSeconds.set({ source: source.name }, (now - state.readAtMs) / 1000);
      else metrics.collectionAgeSeconds.remove({ source: source.name });
      if (!isOurs || now - state.readAtMs > SHOWN_FOR_MS) source.clear?.();
    }
  }

  private read(state: SourceState): Promise<void> | null {
    if (state.reading !== null || monotonicMs() < state.nextAtMs) return state.reading;
    if (state.source.isOurs?.() === false) return null;
    state.startedAtMs = monotonicMs();
    state.reading = this.readOnce(state).then((isRead) => {
      const now = monotonicMs();
      const { everyMs = EVERY_MS } = state.source;
      const restMs = isRead ? REST_PER_READING * (now - state.startedAtMs) : EVERY_MS;
      state.nextAtMs = Math.max(state.startedAtMs + everyMs, now + restMs);
      state.reading = null;
    });
    return state.reading;
  }

  private async readOnce(state: SourceState): Promise<boolean> {
    try {
      await state.source.read();
      state.readAtMs = monotonicMs();
      return true;
    } catch (error) {
      // Its age says so; what is wrong is said by who needs the store for more than this.
      this.log.debug({ err: error }, `The metrics of ${state.source.name} cannot be read now`);
      return false;
    }
  }
}
