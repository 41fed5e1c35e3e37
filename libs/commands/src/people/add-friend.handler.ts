import { validationFailed } from '@laddercast/domain';
import { Friendships, type FriendshipState } from '@laddercast/ledger';
import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { AddFriendCommand } from '../commands.js';
import { assertMayChangeFriends } from '@laddercast/identity';
import { FriendGraphOwner } from './friend-graph-owner.js';

@CommandHandler(AddFriendCommand)
export class AddFriendHandler implements ICommandHandler<AddFriendCommand> {
  constructor(
    private readonly friendships: Friendships,
    private readonly owner: FriendGraphOwner,
  ) {}

  async execute({ identity, playerId, otherId }: AddFriendCommand): Promise<FriendshipState> {
    assertMayChangeFriends(identity, playerId);
    assertTwoPlayers(playerId, otherId);
    this.owner.assertOurs();
    if (identity.kind === 'player') return this.friendships.ask(playerId, otherId);
    return this.friendships.join(playerId, otherId);
  }
}

function assertTwoPlayers(playerId: string, otherId: string): void {
  if (playerId === otherId) throw validationFailed([{ pointer: '{other}', message: 'must be another player' }]);
}
