import { BoardFeeder } from '@laddercast/ledger';
import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { FeedBoardsCommand } from './pool-commands.js';

@CommandHandler(FeedBoardsCommand)
export class FeedBoardsHandler implements ICommandHandler<FeedBoardsCommand> {
  constructor(private readonly feeder: BoardFeeder) {}

  execute({ poolUid, players, lastFeed }: FeedBoardsCommand): Promise<void> {
    return this.feeder.feed(poolUid, players, lastFeed);
  }
}
