import {
  AddCircleMemberHandler,
  AddFriendHandler,
  ChangeFollowHandler,
  FriendGraphOwner,
  RemoveCircleMemberHandler,
  RemoveFriendHandler,
} from '@laddercast/commands';
import { Circles, Follows, Friendships, PostgresDatabase, PostgresFriendGraph } from '@laddercast/ledger';
import {
  CircleMembers,
  GetCircleHandler,
  GetCircleMembersHandler,
  GetFollowsHandler,
  GetFriendsHandler,
} from '@laddercast/queries';
import type { Provider } from '@nestjs/common';
import { ExtensionRegistry } from '../extension-registry.js';

/** Who is in whose circle: what every process that reads boards or watches them has. */
export const circleReadingProviders: Provider[] = [
  {
    provide: FriendGraphOwner,
    inject: [PostgresDatabase, ExtensionRegistry],
    useFactory: (database: PostgresDatabase, registry: ExtensionRegistry) =>
      new FriendGraphOwner(new PostgresFriendGraph(database), () => registry.friendGraph),
  },
  Circles,
  Friendships,
  Follows,
  {
    provide: CircleMembers,
    inject: [FriendGraphOwner, Circles],
    useFactory: (owner: FriendGraphOwner, circles: Circles) => new CircleMembers(() => owner.graph, circles),
  },
];

/** What changes circles, and reads them over REST. */
export const circleHandlers: Provider[] = [
  AddFriendHandler,
  RemoveFriendHandler,
  ChangeFollowHandler,
  AddCircleMemberHandler,
  RemoveCircleMemberHandler,
  GetFriendsHandler,
  GetFollowsHandler,
  GetCircleMembersHandler,
  GetCircleHandler,
];
