import { PoolRater } from '@laddercast/ledger';
import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { RatePoolsCommand } from './pool-commands.js';

@CommandHandler(RatePoolsCommand)
export class RatePoolsHandler implements ICommandHandler<RatePoolsCommand> {
  constructor(private readonly rater: PoolRater) {}

  /**
   * Each pool is tried, whatever happens to the others; the first failure is thrown when all are done. No event of a pool is
   * waited for: a long recompute of one holds up no other, nor the lane of the log.
   */
  async execute({ poolUids }: RatePoolsCommand): Promise<void> {
    const done = await Promise.allSettled(poolUids.map((poolUid) => this.rater.ring(poolUid)));
    const failed = done.find((one) => one.status === 'rejected');
    if (failed) throw failed.reason;
  }
}
