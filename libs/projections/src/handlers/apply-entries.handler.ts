import { metrics, monotonicMs } from '@laddercast/platform';
import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { AppliedSessions } from '../recovery/applied-sessions.js';
import { ApplyEntriesCommand } from './commands.js';
import { RankProjection } from '../ranks/rank-projection.js';

@CommandHandler(ApplyEntriesCommand)
export class ApplyEntriesHandler implements ICommandHandler<ApplyEntriesCommand> {
  constructor(
    private readonly projection: RankProjection,
    private readonly sessions: AppliedSessions,
  ) {}

  async execute({ list, shard, changes, keepUntilMs }: ApplyEntriesCommand): Promise<{ applied: number }> {
    this.sessions.note(this.projection.session());
    const beganAtMs = monotonicMs();
    const applied = await this.projection.apply(list, shard, changes, keepUntilMs);
    metrics.applySeconds.observe((monotonicMs() - beganAtMs) / 1000);
    metrics.changesApplied.inc(applied);
    return { applied };
  }
}
