import { monotonicMs } from '@laddercast/platform';
import { Inject, Injectable, Logger, Optional } from '@nestjs/common';
import { LeftoverSweeper } from './leftover-sweeper.js';
import { RedisConnection } from '../redis/redis-connection.js';
import { RestoredLedgerCheck } from './restored-ledger-check.js';

const SWEEP_EVERY_MS = 3_600_000;
/** After a connection was replaced: recovery comes first. */
const SWEEP_AFTER_MS = 30_000;

/** Looks after the store as a whole. */
@Injectable()
export class StoreMaintenance {
  private readonly log = new Logger('recovery');
  private sweepAtMs = Infinity;

  constructor(
    @Inject(RestoredLedgerCheck)
    private readonly ledgerCheck: Pick<RestoredLedgerCheck, 'isAhead' | 'advance' | 'empty'>,
    @Inject(LeftoverSweeper) private readonly leftovers: Pick<LeftoverSweeper, 'sweep'>,
    @Inject(RedisConnection) private readonly redis: Pick<RedisConnection, 'onReady'>,
    @Optional() private readonly sweepAfterMs = SWEEP_AFTER_MS,
  ) {}

  /** From here on the keys are swept, a while after now and after each reconnection; returns how to end that. */
  begin(): () => void {
    const sweepLater = (): void => void (this.sweepAtMs = monotonicMs() + this.sweepAfterMs);
    sweepLater();
    return this.redis.onReady(sweepLater);
  }

  /** Removes keys of lists that are gone, when it is time to. It reads every key there is. */
  async sweep(signal: AbortSignal): Promise<void> {
    if (monotonicMs() < this.sweepAtMs) return;
    this.sweepAtMs = monotonicMs() + SWEEP_EVERY_MS;
    const keys = await this.leftovers.sweep(signal);
    if (keys > 0) this.log.warn({ msg: 'Redis held keys of lists that are gone; they were removed.', keys });
  }

  /** Empties a store that is ahead of the ledger; says to another that the ledger is there. */
  async look(signal: AbortSignal): Promise<void> {
    if (!(await this.ledgerCheck.isAhead())) return this.ledgerCheck.advance();
    const keys = await this.ledgerCheck.empty(signal);
    this.log.error({
      msg: 'Redis was ahead of PostgreSQL, which was restored; it was emptied, and is filled anew.',
      keys,
    });
  }
}
