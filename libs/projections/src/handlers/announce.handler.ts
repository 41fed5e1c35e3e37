import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Announcements } from '../redis/announcements.js';
import { AnnounceCommand } from './commands.js';

@CommandHandler(AnnounceCommand)
export class AnnounceHandler implements ICommandHandler<AnnounceCommand> {
  constructor(private readonly announcements: Announcements) {}

  execute({ announcement }: AnnounceCommand): Promise<void> {
    return this.announcements.announce(announcement);
  }
}
