import { GuildTotals } from '@laddercast/ledger';
import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { RecomputeGuildTotalsCommand } from '../commands.js';

@CommandHandler(RecomputeGuildTotalsCommand)
export class RecomputeGuildTotalsHandler implements ICommandHandler<RecomputeGuildTotalsCommand> {
  constructor(private readonly totals: GuildTotals) {}

  async execute({ targets }: RecomputeGuildTotalsCommand): Promise<void> {
    await this.totals.recompute(targets);
  }
}
