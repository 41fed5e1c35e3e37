import { LedgerClock } from '@laddercast/ledger';
import { monotonicMs } from '@laddercast/platform';

/** The clock of a ledger whose time is that of this process. */
export function clockOfThisProcess(): LedgerClock {
  const clock = new LedgerClock();
  const atMs = monotonicMs();
  clock.learn(Date.now(), atMs, atMs);
  return clock;
}
