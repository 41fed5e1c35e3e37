import type { Board } from '@laddercast/domain';
import { BoardLayouts, type RetaxDone } from '@laddercast/ledger';
import { monotonicMs } from '@laddercast/platform';
import { Injectable } from '@nestjs/common';

const KNOWN_MS = 1000;

/**
 * How far the next lists of boards are, as it was within the last second or so. It asks nobody for an answer: what is not known
 * yet is 0, and while PostgreSQL is away what was known stands.
 */
@Injectable()
export class RetaxProgress {
  private known: ReadonlyMap<number, RetaxDone> = new Map();
  private askedAtMs = -Infinity;

  constructor(private readonly layouts: BoardLayouts) {}

  /** 0 … 1, of the generation that is being filled; 0 where none is. */
  doneOf({ uid, layouts: { opening } }: Board): number {
    if (opening === null) return 0;
    if (monotonicMs() - this.askedAtMs >= KNOWN_MS) void this.look();
    const found = this.known.get(uid);
    return found?.generation === opening.generation ? found.done : 0;
  }

  /** Reads how far all are. */
  async look(): Promise<void> {
    this.askedAtMs = monotonicMs();
    const all = await this.layouts.retaxesDone().catch(() => null);
    if (all !== null) this.known = new Map(all.map((one) => [one.boardUid, one]));
  }
}
