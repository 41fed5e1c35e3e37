import { Logger } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { monotonicMs } from '../clock.js';

const EVERY_MS = 10_000;
const KINDS_MAX = 100;

/**
 * A log for failures that may come with every try: each kind is written at most once in ten seconds, with their
 * number.
 */
export class RateLimitedLog {
  private readonly kinds = new LRUCache<string, { writtenAtMs: number; left: number }>({ max: KINDS_MAX });
  private readonly log: Logger;

  constructor(context: string) {
    this.log = new Logger(context);
  }

  /** @param names what the line says beside */
  warn(kind: string, error: unknown, names: object = {}): void {
    const now = monotonicMs();
    const known = this.kinds.get(kind);
    if (known && now - known.writtenAtMs < EVERY_MS) {
      known.left += 1;
      return;
    }
    const more = known?.left ? ` (and ${known.left} more in between)` : '';
    this.kinds.set(kind, { writtenAtMs: now, left: 0 });
    const reason = error instanceof Error ? error.message : String(error);
    this.log.warn({ ...names, err: error, msg: `${kind}: ${reason}${more}` });
  }
}
