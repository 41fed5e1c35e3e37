import { validationFailed } from '@laddercast/domain';
import { Friendships } from '@laddercast/ledger';
import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { RemoveFriendCommand } from '../commands.js';
import { assertMayChangeFriends } from '@laddercast/identity';
import { FriendGraphOwner } from './friend-graph-owner.js';

@CommandHandler(RemoveFriendCommand)
export class RemoveFriendHandler implements ICommandHandler<RemoveFriendCommand> {
  constructor(
    private readonly friendships: Friendships,
    private readonly owner: FriendGraphOwner,
  ) {}

  async execute({ identity, playerId, otherId }: RemoveFriendCommand): Promise<void> {
    assertMayChangeFriends(identity, playerId);
    assertTwoPlayers(playerId, otherId);
    this.owner.assertOurs();
    await this.friendships.part(playerId, otherId);
  }
}

function assertTwoPlayers(playerId: string, otherId: string): void {
  if (playerId === otherId) throw validationFailed([{ pointer: '{other}', message: 'must be another player' }]);
}
