import { GuildsParameters } from '../../controllers/guild-boards.controller.js';
import { MembersParameters } from '../../controllers/guilds.controller.js';
import type { OperationDescription } from '../describe-operation.js';
import { FROM_REPLICA, CACHE_HEADERS, NOT_MODIFIED, PAGE_ERRORS, READ_ERRORS_AT } from './ranks.js';

const player = {
  playerId: 'ada',
  displayName: 'Ada',
  region: 'EU',
  avatarUrl: 'https://cdn.example/ada.png',
  attributes: { country: 'GB' },
  guildId: 'red',
};
const guild = { guildId: 'red', displayName: 'The Reds', memberCount: 44 };
const profile = { ...player, playerId: undefined, guildId: undefined };
const KEYS = 'Needs a key with the scope scores:write.';

export const PEOPLE = {
  getPlayerProfile: {
    tag: 'Players',
    summary: 'Read what is known of a player beside its scores',
    description:
      'Keys with the scope read, and the player itself, also see `listed`; others see listed players alone. Nothing is known of a player until a ' +
      'profile is put, or it is in a guild.',
    callers: 'identified',
    answers: { 200: { description: 'The profile, and the guild.', schema: 'Player', example: player } },
    errors: ['PLAYER_NOT_FOUND'],
  },
  putPlayer: {
    tag: 'Players',
    summary: "Replace a player's profile",
    description:
      `${KEYS} The whole profile is replaced: what is absent, or null, becomes the default: no name, no region, no avatar, no ` +
      'attributes, listed. A new name shows on every list and channel within a second, and so does a new face where `fields=player` asks for it. Another region, or other attributes, ' +
      'move the running entries into the lists of their new scopes; ended windows keep what was. A player who is not listed is ' +
      'ranked and counted all the same, and shown to itself and to keys that ask for it, but in no list of others.',
    callers: 'identified',
    body: {
      schema: 'PlayerProfile',
      examples: {
        name: { displayName: 'Ada' },
        full: JSON.parse(JSON.stringify({ ...profile, listed: true })) as object,
      },
    },
    answers: { 200: { description: 'The profile.', schema: 'Player', example: { ...player, listed: true } } },
    errors: ['FORBIDDEN', 'OVERLOADED'],
  },
  getGuild: {
    tag: 'Players',
    summary: 'Read a guild',
    callers: 'identified',
    answers: { 200: { description: 'The guild.', schema: 'Guild', example: guild } },
    errors: ['GUILD_NOT_FOUND'],
  },
  putGuild: {
    tag: 'Players',
    summary: 'Create a guild, or give it another name',
    description: `${KEYS} Without a name, or with null, it has none.`,
    callers: 'identified',
    body: { schema: 'GuildDefinition', examples: { red: { displayName: 'The Reds' } } },
    answers: {
      200: { description: 'It was there.', schema: 'Guild', example: guild },
      201: { description: 'Created.', schema: 'Guild', example: { ...guild, memberCount: 0 } },
    },
    errors: ['FORBIDDEN', 'OVERLOADED'],
  },
  deleteGuild: {
    tag: 'Players',
    summary: 'Delete a guild that nobody is in',
    description: `${KEYS} What leavers left to it in running windows goes too.`,
    callers: 'identified',
    answers: { 204: { description: 'Deleted.' } },
    errors: ['FORBIDDEN', 'GUILD_NOT_FOUND', 'GUILD_NOT_EMPTY', 'OVERLOADED'],
  },
  getGuildMembers: {
    tag: 'Players',
    summary: 'List the members of a guild',
    description: 'Keys with the scope read see everyone; others see those who are listed, and players themselves, too.',
    callers: 'identified',
    query: MembersParameters,
    answers: {
      200: {
        description: 'In the order of the ids.',
        schema: 'GuildMembers',
        example: {
          guildId: 'red',
          members: [{ playerId: 'ada', displayName: 'Ada', joinedAt: '2026-11-20T18:00:00.000Z' }],
          next: 'ada',
        },
      },
    },
    errors: ['GUILD_NOT_FOUND'],
  },
  joinGuild: {
    tag: 'Players',
    summary: 'Put a player into a guild',
    description:
      `${KEYS} Out of the one it was in: a player is in one guild. Its running entries are ranked and counted there at once; what ` +
      'becomes of its part in the guild it left is what each board says (`guildAggregate.onLeave`). At most 10,000 members. ' +
      'Repeating it changes nothing.',
    callers: 'identified',
    answers: {
      200: {
        description: 'The player is a member.',
        schema: 'GuildMembership',
        example: { guildId: 'red', playerId: 'ada', joinedAt: '2026-11-20T18:00:00.000Z', leftGuildId: 'blue' },
      },
    },
    errors: ['FORBIDDEN', 'GUILD_NOT_FOUND', 'LIMIT_REACHED', 'OVERLOADED'],
  },
  leaveGuild: {
    tag: 'Players',
    summary: 'Take a player out of a guild',
    description: "Needs a key with the scope scores:write, or the player's own token. Repeating it changes nothing.",
    callers: 'identified',
    answers: { 204: { description: 'The player is no member.' } },
    errors: ['FORBIDDEN', 'GUILD_NOT_FOUND', 'OVERLOADED'],
  },
  getGuilds: {
    tag: 'Ranks',
    summary: "Rank guilds by their members' scores",
    description:
      'For boards with the scope guild; `guildAggregate` says how. `playerId` is the id of the guild, `displayName` its name, and ' +
      'metadata say how many members count.',
    callers: 'reader',
    query: GuildsParameters,
    parameters: { from: FROM_REPLICA },
    headers: ['If-None-Match'],
    answers: {
      200: {
        description: 'One page, the best first.',
        schema: 'EntriesPage',
        headers: CACHE_HEADERS,
        example: {
          board: 'blitz',
          window: { id: 'alltime', startsAt: null, endsAt: null, resetsAt: null },
          scope: 'guilds',
          total: 12,
          boardVersion: 5120,
          asOf: '2026-11-20T18:00:01.000Z',
          rankStyle: 'ordinal',
          accuracy: 'exact',
          entries: [
            {
              rank: 1,
              playerId: 'red',
              displayName: 'The Reds',
              score: 48210,
              columns: {},
              achievedAt: '2026-11-20T18:00:00.000Z',
              metadata: { members: 44 },
            },
          ],
          next: '/v1/boards/blitz/guilds?window=alltime&limit=1&offset=1',
          prev: null,
        },
      },
      304: NOT_MODIFIED,
    },
    errors: PAGE_ERRORS,
    errorsAt: READ_ERRORS_AT,
  },
} satisfies Record<string, OperationDescription>;
