import {
  ATTRIBUTES_MAX,
  AVATAR_URL_LENGTH_MAX,
  DISPLAY_NAME_LENGTH_MAX,
  orNull,
  type JsonSchema,
} from '@laddercast/commands';
import {
  ASKED_BY_MAX,
  ASKED_MAX,
  ATTRIBUTE_NAME_PATTERN,
  CIRCLE_MEMBERS_MAX,
  FOLLOWED_MAX,
  FRIENDS_MAX,
  SCOPE_VALUE_BYTES_MAX,
} from '@laddercast/domain';
import { count, list, object, oneOf, string, text, time } from './schema-parts.js';

const scopeValue = {
  ...text(SCOPE_VALUE_BYTES_MAX),
  format: 'scope-value',
  description: `1-${SCOPE_VALUE_BYTES_MAX} bytes of UTF-8 without control characters or lone surrogates.`,
};
const profile: Record<string, JsonSchema> = {
  displayName: orNull(text(DISPLAY_NAME_LENGTH_MAX)),
  region: orNull(scopeValue),
  avatarUrl: orNull({ type: 'string', format: 'http-url', pattern: '^https?://', maxLength: AVATAR_URL_LENGTH_MAX }),
  attributes: {
    type: 'object',
    maxProperties: ATTRIBUTES_MAX,
    propertyNames: { pattern: ATTRIBUTE_NAME_PATTERN },
    additionalProperties: scopeValue,
  },
  listed: { type: 'boolean', description: 'Whether others see the player in lists.' },
};
const guildName = orNull(text(DISPLAY_NAME_LENGTH_MAX));

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
  Player: object({ playerId: string(), ...profile, guildId: orNull(string()) }, ['listed']),
  PlayerProfile: object(
    Object.fromEntries(
      Object.entries(profile).map(([name, schema]) => [name, Array.isArray(schema['type']) ? schema : orNull(schema)]),
    ),
    Object.keys(profile),
  ),
  Guild: object({ guildId: string(), displayName: guildName, memberCount: count() }),
  GuildDefinition: object({ displayName: guildName }, ['displayName']),
  GuildMembers: object({
    guildId: string(),
    members: list(object({ playerId: string(), displayName: orNull(string()), joinedAt: time() })),
    next: { ...orNull(string()), description: 'The next cursor.' },
  }),
  GuildMembership: object({
    guildId: string(),
    playerId: string(),
    joinedAt: time(),
    leftGuildId: { ...orNull(string()), description: 'The guild that it left for this one.' },
  }),
};
