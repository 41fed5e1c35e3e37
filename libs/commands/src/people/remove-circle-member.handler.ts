import { Circles } from '@laddercast/ledger';
import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { RemoveCircleMemberCommand } from '../commands.js';
import { assertMayWriteCircles } from '@laddercast/identity';

@CommandHandler(RemoveCircleMemberCommand)
export class RemoveCircleMemberHandler implements ICommandHandler<RemoveCircleMemberCommand> {
  constructor(private readonly circles: Circles) {}

  async execute({ identity, circleId, playerId }: RemoveCircleMemberCommand): Promise<void> {
    assertMayWriteCircles(identity);
    await this.circles.remove(circleId, playerId);
  }
}
