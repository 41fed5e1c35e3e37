import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { AppliedSessions } from './applied-sessions.js';
import { ApplyEntriesCommand } from './commands.js';
import { RankProjection } from './rank-projection.js';

@CommandHandler(ApplyEntriesCommand)
export class ApplyEntriesHandler implements ICommandHandler<ApplyEntriesCommand> {
  constructor(
    private readonly projection: RankProjection,
    private readonly sessions: AppliedSessions,
  ) {}

  async execute({ list, shard, changes, keepUntilMs }: ApplyEntriesCommand): Promise<{ applied: number }> {
    this.sessions.note(this.projection.session());
    return { applied: await this.projection.apply(list, shard, changes, keepUntilMs) };
  }
}
