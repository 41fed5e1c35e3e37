import { GuildBody, orNull, PlayerBody, propertiesOf, schemaOfClass, type JsonSchema } from '@laddercast/commands';
import { ASKED_BY_MAX, ASKED_MAX, CIRCLE_MEMBERS_MAX, FOLLOWED_MAX, FRIENDS_MAX } from '@laddercast/domain';
import { count, list, object, oneOf, string, time } from './schema-parts.js';

const { displayName, region, avatarUrl, attributes, listed } = propertiesOf(PlayerBody);

/** What rows of players show to who asks for `fields=player`. */
export const FACE_SCHEMA: JsonSchema = {
  ...object({ avatarUrl: orNull(avatarUrl!), region: orNull(region!), attributes: attributes! }),
  description:
    'With `fields=player`: the face of the player as it is now, also in lists of what was. Of attributes those that ' +
    'PLAYER_ATTRIBUTES_SHOWN names; null and none where nothing is known, or can be looked up now.',
};

/** Schemas of players, whom they know, and guilds. */
export const PEOPLE_SCHEMAS = {
  Friends: object({
    playerId: string(),
    friends: { ...list(string()), maxItems: FRIENDS_MAX },
    asked: { ...list(string()), maxItems: ASKED_MAX, description: 'Whom the player has asked.' },
    askedBy: { ...list(string()), maxItems: ASKED_BY_MAX, description: 'Who has asked the player.' },
  }),
  Friendship: object({
    playerId: string(),
    otherId: string(),
    state: { ...oneOf('friends', 'asked'), description: 'asked: it waits until the other player asks, too.' },
  }),
  Follows: object({ playerId: string(), follows: { ...list(string()), maxItems: FOLLOWED_MAX } }),
  Follow: object({ playerId: string(), otherId: string(), state: oneOf('follows') }),
  CircleMembers: object({ circle: string(), members: { ...list(string()), maxItems: CIRCLE_MEMBERS_MAX } }),
  CircleMember: object({ circle: string(), playerId: string(), members: count('How many it has now.', 1) }),
  Player: object(
    {
      playerId: string(),
      displayName: orNull(displayName!),
      region: orNull(region!),
      avatarUrl: orNull(avatarUrl!),
      attributes: attributes!,
      listed: listed!,
      guildId: orNull(string()),
    },
    ['listed'],
  ),
  PlayerProfile: schemaOfClass(PlayerBody),
  Guild: object({ guildId: string(), displayName: orNull(displayName!), memberCount: count() }),
  GuildDefinition: schemaOfClass(GuildBody),
  GuildMembers: object({
    guildId: string(),
    members: list(
      object({ playerId: string(), displayName: orNull(string()), player: FACE_SCHEMA, joinedAt: time() }, ['player']),
    ),
    next: { ...orNull(string()), description: 'The next cursor.' },
  }),
  GuildMembership: object({
    guildId: string(),
    playerId: string(),
    joinedAt: time(),
    leftGuildId: { ...orNull(string()), description: 'The guild that it left for this one.' },
  }),
};
