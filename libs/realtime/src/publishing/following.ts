import { monotonicMs } from '@laddercast/platform';
import type { RateLimitedLog } from '../rate-limited-log.js';

const TRY_AGAIN_MS = 1000;

/** Listens to what other processes tell, until it is stopped; a source that is away is tried again every second. */
export class Following {
  private unfollow: (() => Promise<void>) | null = null;
  private timer: NodeJS.Timeout | null = null;
  private running = false;

  /**
   * @param what for the log
   * @param follow begins to listen, and returns how to end that
   */
  constructor(
    private readonly what: string,
    private readonly follow: () => Promise<() => Promise<void>>,
    private readonly failures: RateLimitedLog,
  ) {}

  start(): void {
    if (this.running) return;
    this.running = true;
    void this.begin();
  }

  async stop(): Promise<void> {
    this.running = false;
    if (this.timer) clearTimeout(this.timer);
    await this.unfollow?.().catch(() => undefined);
    this.unfollow = null;
  }

  private async begin(): Promise<void> {
    const startedAtMs = monotonicMs();
    try {
      const unfollow = await this.follow();
      if (this.running) this.unfollow = unfollow;
      else await unfollow();
    } catch (error) {
      this.failures.warn(`${this.what} cannot be followed yet`, error);
      const waitMs = Math.max(0, TRY_AGAIN_MS - (monotonicMs() - startedAtMs));
      if (this.running) this.timer = setTimeout(() => void this.begin(), waitMs);
    }
  }
}
