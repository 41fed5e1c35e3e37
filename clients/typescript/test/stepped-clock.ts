import type { Clock } from '../src/world.js';

interface Timer {
  at: number;
  id: number;
  work: () => void;
}

/** More turns than any chain of promises between two timers takes. */
const TURNS = 60;

/** Lets everything run that waits for nothing but other promises. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < TURNS; turn += 1) await Promise.resolve();
  await new Promise<void>((resolve) => setImmediate(resolve));
  for (let turn = 0; turn < TURNS; turn += 1) await Promise.resolve();
}

/** A clock that stands still until a test moves it. */
export class SteppedClock implements Clock {
  private timers: Timer[] = [];
  private lastId = 0;

  constructor(private ms = Date.parse('2026-11-20T12:00:00.000Z')) {}

  now(): number {
    return this.ms;
  }

  setTimeout(work: () => void, ms: number): number {
    this.lastId += 1;
    this.timers.push({ at: this.ms + ms, id: this.lastId, work });
    return this.lastId;
  }

  clearTimeout(id: unknown): void {
    this.timers = this.timers.filter((timer) => timer.id !== id);
  }

  /** When the next timer is due, from now, ms; null: none is set. */
  get nextInMs(): number | null {
    return this.timers.length === 0 ? null : Math.min(...this.timers.map(({ at }) => at)) - this.ms;
  }

  get timersSet(): number {
    return this.timers.length;
  }

  /** Moves on, timer by timer, and lets what each starts run. */
  async step(ms: number): Promise<void> {
    const until = this.ms + ms;
    await settled();
    for (;;) {
      const [next] = this.timers.filter(({ at }) => at <= until).sort((a, b) => a.at - b.at || a.id - b.id);
      if (!next) break;
      this.clearTimeout(next.id);
      this.ms = Math.max(this.ms, next.at);
      next.work();
      await settled();
    }
    this.ms = until;
    await settled();
  }

  /** Sets the clock, as somebody does who cheats, or as a device does that wakes up; timers that are due run. */
  async jump(ms: number): Promise<void> {
    this.ms += ms;
    await this.step(0);
  }
}
