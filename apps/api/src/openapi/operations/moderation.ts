import { ReasonParameters } from '../../http/moderation-bodies.js';
import { PageParameters } from '../../http/parameters.js';
import type { OperationDescription } from '../describe-operation.js';

const sanction = {
  ...{ sanctionId: 7, kind: 'ban', reason: 'Speed hack in three games.', publicReason: 'Cheating.' },
  ...{ until: '2026-12-20T18:00:00.000Z', boards: null, putBy: 'k7Yw0aQx3Lr2', putAt: '2026-11-20T18:00:00.000Z' },
  ...{ endedAt: null, endedBy: null, endReason: null, progress: { isDone: true, entries: 3 } },
};
const put = { playerId: 'ada', sanction };
const lifted = {
  ...put,
  sanction: {
    ...sanction,
    ...{ endedAt: '2026-11-21T18:00:00.000Z', endedBy: 'k7Yw0aQx3Lr2', endReason: 'It was a bug of ours.' },
  },
};

export const MODERATION = {
  putSanction: {
    tag: 'Administration',
    summary: 'Ban, hide or shadow a player',
    description:
      'Needs the scope moderate. Banned: for others as if it had no entry, and its submissions are refused (403 `PLAYER_BANNED`). ' +
      'Shadowed: for others the same, but its submissions are taken as ever. Hidden: ranked and counted, but its row is shown to ' +
      'nobody else. A player has one sanction: this one takes the place of the one before, and the same again changes nothing. ' +
      'Running windows show it within a second.',
    callers: 'identified',
    body: {
      schema: 'NewSanction',
      examples: {
        ban: { kind: 'ban', reason: 'Speed hack in three games.', publicReason: 'Cheating.', until: sanction.until },
        hide: { kind: 'hide', reason: 'An offensive name.', boards: ['blitz'] },
      },
    },
    answers: {
      200: { description: 'All entries of the player follow it.', schema: 'PutSanction', example: put },
      202: {
        description: 'It is in force, and more than 1,000 entries follow it in a moment.',
        schema: 'PutSanction',
        example: { ...put, sanction: { ...sanction, progress: { isDone: false, entries: 1000 } } },
      },
    },
    errors: ['FORBIDDEN', 'BOARD_NOT_FOUND', 'OVERLOADED'],
  },
  liftSanction: {
    tag: 'Administration',
    summary: 'Lift the sanction of a player',
    description:
      'Needs the scope moderate. Everything that the player had is back, bit for bit; of a shadowed one also what it scored ' +
      'meanwhile. Where none is in force nothing changes.',
    callers: 'identified',
    query: ReasonParameters,
    answers: {
      200: { description: 'All entries of the player are ranked again.', schema: 'LiftedSanction', example: lifted },
      202: {
        description: 'It is lifted, and more than 1,000 entries are ranked again in a moment.',
        schema: 'LiftedSanction',
        example: lifted,
      },
    },
    errors: ['FORBIDDEN', 'OVERLOADED'],
  },
  listSanctions: {
    tag: 'Administration',
    summary: 'All sanctions that there ever were of a player',
    description: 'Needs the scope moderate. The newest first; one of them at most is in force.',
    callers: 'identified',
    query: PageParameters,
    answers: {
      200: {
        description: 'The newest first.',
        schema: 'SanctionList',
        example: { playerId: 'ada', sanctions: [lifted.sanction], next: null },
      },
    },
    errors: ['FORBIDDEN'],
  },
} satisfies Record<string, OperationDescription>;
