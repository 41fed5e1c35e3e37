import { validationFailed } from '@laddercast/domain';
import { Follows } from '@laddercast/ledger';
import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { ChangeFollowCommand } from '../commands.js';
import { assertMayChangeFriends } from '@laddercast/identity';
import { FriendGraphOwner } from './friend-graph-owner.js';

@CommandHandler(ChangeFollowCommand)
export class ChangeFollowHandler implements ICommandHandler<ChangeFollowCommand> {
  constructor(
    private readonly store: Follows,
    private readonly owner: FriendGraphOwner,
  ) {}

  async execute({ identity, followerId, followedId, follows }: ChangeFollowCommand): Promise<void> {
    assertMayChangeFriends(identity, followerId);
    assertTwoPlayers(followerId, followedId);
    this.owner.assertOurs();
    if (follows) await this.store.follow(followerId, followedId);
    else await this.store.unfollow(followerId, followedId);
  }
}

function assertTwoPlayers(playerId: string, otherId: string): void {
  if (playerId === otherId) throw validationFailed([{ pointer: '{other}', message: 'must be another player' }]);
}
