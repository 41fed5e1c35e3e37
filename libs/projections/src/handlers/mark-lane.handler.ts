import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { AppliedSessions } from '../recovery/applied-sessions.js';
import { MarkLaneCommand } from './commands.js';
import { CommittedPositions } from '../recovery/committed-positions.js';
import { RankProjection } from '../ranks/rank-projection.js';

@CommandHandler(MarkLaneCommand)
export class MarkLaneHandler implements ICommandHandler<MarkLaneCommand> {
  /** What this process marked last, in which session: the offset before its next batch, without asking the log. */
  private readonly marked = new Map<number, { position: number; session: number }>();

  constructor(
    private readonly projection: RankProjection,
    private readonly sessions: AppliedSessions,
    private readonly committed: CommittedPositions,
  ) {}

  async execute({ lane, position }: MarkLaneCommand): Promise<void> {
    const session = this.sessions.ofLane(lane, this.projection.session());
    const last = this.marked.get(lane);
    // A new session may be with another server, and another process may have had the lane meanwhile.
    const from = last?.session === session ? last.position : await this.committed.of(lane);
    this.marked.delete(lane);
    await this.projection.advanceMark(lane, from, position, session);
    await this.committed.record(lane, position);
    this.marked.set(lane, { position: Math.max(from, position), session });
  }
}
