import { actorOf, assertAdmin } from '@laddercast/identity';
import { LaneRaiser, type LaneMap } from '@laddercast/ledger';
import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { RaiseLanesCommand } from '../commands.js';

@CommandHandler(RaiseLanesCommand)
export class RaiseLanesHandler implements ICommandHandler<RaiseLanesCommand> {
  constructor(private readonly raiser: LaneRaiser) {}

  execute({ identity, lanes }: RaiseLanesCommand): Promise<readonly LaneMap[]> {
    assertAdmin(identity);
    return this.raiser.raise(lanes, actorOf(identity));
  }
}
