import { CircleParameters } from '../../http/parameters.js';
import type { OperationDescription } from '../describe-operation.js';
import { CACHE_HEADERS, NOT_MODIFIED, READ_ERRORS, READ_ERRORS_AT } from './ranks.js';

const envelope = {
  board: 'blitz',
  window: { id: 'alltime', startsAt: null, endsAt: null, resetsAt: null },
  scope: 'global',
  total: 31,
  boardVersion: 5120,
  asOf: '2026-11-20T18:00:01.000Z',
  rankStyle: 'ordinal',
  accuracy: 'exact',
};
const row = {
  rank: 2,
  globalRank: 17,
  playerId: 'ada',
  displayName: null,
  score: 1520,
  columns: { moves: 31 },
  achievedAt: '2026-11-20T18:00:00.000Z',
  metadata: { replay: 'r-77' },
};

/** A board of some players among themselves. */
function circleBoard(who: string, callers: string, path: string): OperationDescription {
  return {
    tag: 'Ranks',
    summary: `Rank ${who} among themselves`,
    description:
      `${callers} Players without an entry are left out. A change of the circle shows within a second. ` +
      '`globalRank` is the rank in the list of that window and scope.',
    callers: 'identified',
    query: CircleParameters,
    headers: ['If-None-Match'],
    answers: {
      200: {
        description: 'One page, the best first.',
        schema: 'CirclePage',
        headers: CACHE_HEADERS,
        example: {
          ...envelope,
          members: 44,
          entries: [row],
          next: `/v1/boards/blitz/${path}?window=alltime&limit=1&offset=2`,
          prev: `/v1/boards/blitz/${path}?window=alltime&limit=1&offset=0`,
        },
      },
      304: NOT_MODIFIED,
    },
    errors: READ_ERRORS,
    errorsAt: READ_ERRORS_AT,
  };
}

const OWN = "For the player's own token, and for keys with the scope read.";
const OWN_WRITE = "Needs a key with the scope scores:write, or the player's own token.";

export const CIRCLES = {
  getFriendsBoard: circleBoard('a player and its friends', OWN, 'friends/ada'),
  getFollowsBoard: circleBoard('a player and those it follows', OWN, 'follows/ada'),
  getCircleBoard: {
    ...circleBoard('a named circle', "For players' tokens, and for keys with the scope read.", 'circles/class-of-2026'),
    errors: [...READ_ERRORS, 'CIRCLE_NOT_FOUND'],
    errorsAt: READ_ERRORS_AT,
  },
  getFriends: {
    tag: 'Circles',
    summary: 'List the friends of a player, and the requests that are open',
    description: OWN,
    callers: 'identified',
    answers: {
      200: {
        description: 'Each list in the order of the ids.',
        schema: 'Friends',
        example: { playerId: 'ada', friends: ['bob'], asked: ['cy'], askedBy: [] },
      },
    },
    errors: ['FORBIDDEN'],
  },
  addFriend: {
    tag: 'Circles',
    summary: 'Make two players friends',
    description:
      `${OWN_WRITE} A key makes them friends at once. A player asks: they are friends when the other asks, too. At most 500 ` +
      'friends and 500 unanswered requests for each player, and 1,000 that wait for it. Repeating it changes nothing.',
    callers: 'identified',
    answers: {
      200: {
        description: 'How the two stand now.',
        schema: 'Friendship',
        example: { playerId: 'ada', otherId: 'bob', state: 'asked' },
      },
    },
    errors: ['FORBIDDEN', 'LIMIT_REACHED'],
  },
  removeFriend: {
    tag: 'Circles',
    summary: 'End a friendship, take a request back, or refuse one',
    description: `${OWN_WRITE} On both sides. Repeating it changes nothing.`,
    callers: 'identified',
    answers: { 204: { description: 'The two are no friends, and neither asks.' } },
    errors: ['FORBIDDEN'],
  },
  getFollows: {
    tag: 'Circles',
    summary: 'List whom a player follows',
    description: OWN,
    callers: 'identified',
    answers: {
      200: {
        description: 'In the order of the ids.',
        schema: 'Follows',
        example: { playerId: 'ada', follows: ['bob'] },
      },
    },
    errors: ['FORBIDDEN'],
  },
  follow: {
    tag: 'Circles',
    summary: 'Let a player follow another',
    description: `${OWN_WRITE} One way. At most 500 for each player, and any number of followers. Repeating it changes nothing.`,
    callers: 'identified',
    answers: {
      200: {
        description: 'The first follows the second.',
        schema: 'Follow',
        example: { playerId: 'ada', otherId: 'bob', state: 'follows' },
      },
    },
    errors: ['FORBIDDEN', 'LIMIT_REACHED'],
  },
  unfollow: {
    tag: 'Circles',
    summary: 'Let a player follow another no longer',
    description: `${OWN_WRITE} Repeating it changes nothing.`,
    callers: 'identified',
    answers: { 204: { description: 'The first does not follow the second.' } },
    errors: ['FORBIDDEN'],
  },
  getCircleMembers: {
    tag: 'Circles',
    summary: 'List the members of a named circle',
    description:
      "For players' tokens, and for keys with the scope read. Players who are not listed are shown to keys alone.",
    callers: 'identified',
    answers: {
      200: {
        description: 'In the order of the ids.',
        schema: 'CircleMembers',
        example: { circle: 'class-of-2026', members: ['ada', 'bob'] },
      },
    },
    errors: ['FORBIDDEN', 'CIRCLE_NOT_FOUND'],
  },
  addCircleMember: {
    tag: 'Circles',
    summary: 'Put a player into a named circle',
    description:
      'Needs a key with the scope scores:write. A circle is there as long as it has members, at most 500. Repeating it ' +
      'changes nothing.',
    callers: 'identified',
    answers: {
      200: {
        description: 'The player is a member.',
        schema: 'CircleMember',
        example: { circle: 'class-of-2026', playerId: 'ada', members: 2 },
      },
    },
    errors: ['FORBIDDEN', 'LIMIT_REACHED'],
  },
  removeCircleMember: {
    tag: 'Circles',
    summary: 'Take a player out of a named circle',
    description: 'Needs a key with the scope scores:write. Repeating it changes nothing.',
    callers: 'identified',
    answers: { 204: { description: 'The player is no member.' } },
    errors: ['FORBIDDEN'],
  },
} satisfies Record<string, OperationDescription>;
