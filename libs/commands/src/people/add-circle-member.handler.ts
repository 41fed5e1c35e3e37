import { Circles } from '@laddercast/ledger';
import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { AddCircleMemberCommand } from '../commands.js';
import { assertMayWriteCircles } from '@laddercast/identity';

@CommandHandler(AddCircleMemberCommand)
export class AddCircleMemberHandler implements ICommandHandler<AddCircleMemberCommand> {
  constructor(private readonly circles: Circles) {}

  async execute({ identity, circleId, playerId }: AddCircleMemberCommand): Promise<number> {
    assertMayWriteCircles(identity);
    return this.circles.add(circleId, playerId);
  }
}
