import { LadderError, validationFailed } from '@laddercast/domain';
import type { FriendGraph } from '@laddercast/extension';
import { Circles, Follows, Friendships, type FriendshipState } from '@laddercast/ledger';
import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import {
  AddCircleMemberCommand,
  AddFriendCommand,
  ChangeFollowCommand,
  RemoveCircleMemberCommand,
  RemoveFriendCommand,
} from '../commands.js';
import { assertMayChangeFriends, assertMayWriteCircles } from '@laddercast/identity';

/** Where friends and follows are kept: here, or in a graph that a team has put in place of the service's own. */
export class FriendGraphOwner {
  constructor(
    private readonly ours: FriendGraph,
    /** The team's graph, null when there is none. */
    readonly others: () => FriendGraph | null,
  ) {}

  /** The graph that everything is read from. */
  get graph(): FriendGraph {
    return this.others() ?? this.ours;
  }

  /** @throws NOT_SUPPORTED when what would be written here is read from elsewhere */
  assertOurs(): void {
    const graph = this.others();
    if (graph === null) return;
    const detail = `Friends and follows come from ${graph.constructor.name} here; change them there.`;
    throw new LadderError('NOT_SUPPORTED', detail, { option: 'FriendGraph' });
  }
}

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

@CommandHandler(AddCircleMemberCommand)
export class AddCircleMemberHandler implements ICommandHandler<AddCircleMemberCommand> {
  constructor(private readonly circles: Circles) {}

  async execute({ identity, circleId, playerId }: AddCircleMemberCommand): Promise<number> {
    assertMayWriteCircles(identity);
    return this.circles.add(circleId, playerId);
  }
}

@CommandHandler(RemoveCircleMemberCommand)
export class RemoveCircleMemberHandler implements ICommandHandler<RemoveCircleMemberCommand> {
  constructor(private readonly circles: Circles) {}

  async execute({ identity, circleId, playerId }: RemoveCircleMemberCommand): Promise<void> {
    assertMayWriteCircles(identity);
    await this.circles.remove(circleId, playerId);
  }
}

function assertTwoPlayers(playerId: string, otherId: string): void {
  if (playerId === otherId) throw validationFailed([{ pointer: '{other}', message: 'must be another player' }]);
}
