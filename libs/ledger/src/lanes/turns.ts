import { LadderError } from '@laddercast/domain';
import { monotonicMs } from '@laddercast/platform';

/** The most that wait for their turn. */
const WAITING_MAX = 1000;
/** One transaction at a time: the others wait without a connection. */
export class Turns {
  private last: Promise<unknown> = Promise.resolve();
  private waiting = 0;

  /** @param withinMs who has waited for longer is refused, and nothing is done for one who may be gone */
  constructor(private readonly withinMs: number) {}

  /** @throws OVERLOADED when too many wait; LEDGER_UNAVAILABLE when the turn comes too late */
  async take<T>(work: () => Promise<T>): Promise<T> {
    if (this.waiting >= WAITING_MAX) {
      const detail = 'Too many changes are waiting; send it again shortly.';
      throw new LadderError('OVERLOADED', detail, { retryAfterSeconds: 1 });
    }
    const expiresAtMs = monotonicMs() + this.withinMs;
    this.waiting += 1;
    const turn = this.last.then(() => {
      this.waiting -= 1;
      if (monotonicMs() > expiresAtMs) throw tooLate();
      return work();
    });
    this.last = turn.catch(() => undefined);
    return turn;
  }
}

function tooLate(): LadderError {
  const detail = 'The database took too long for the changes before this one; nothing was stored. Send it again.';
  return new LadderError('LEDGER_UNAVAILABLE', detail, { retryAfterSeconds: 2 });
}
