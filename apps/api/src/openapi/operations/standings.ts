import { StandingsParameters } from '../../http/parameters.js';
import type { OperationDescription } from '../describe-operation.js';
import { CACHE_HEADERS, NOT_MODIFIED } from './ranks.js';

export const STANDINGS = {
  getStandings: {
    tag: 'Ranks',
    summary: 'Read where a player stands on all boards and in all running windows',
    description:
      'Every board that the caller may read, by id, and of each its running windows in the order of its definition, where the ' +
      'player has an entry among everybody. A page is of boards, so it may hold fewer standings, or none, before the last. A ' +
      'frozen window shows the standing of its freeze, to everyone. Boards that cannot be read now are left out and named in ' +
      '`unavailable`; 503 when that is all of them. Who is not listed looks to others like a player without entries. Counts ' +
      'as one request for every 25 boards of `limit`. With `template` it is of the boards of that template, and without a ' +
      '`limit` of all of them.',
    callers: 'reader',
    query: StandingsParameters,
    parameters: {
      window: 'Only windows of this kind.',
      template: 'Only boards of this template.',
      limit: 'How many boards the page is about. Default 100; with `template` all of them.',
    },
    headers: ['If-None-Match'],
    answers: {
      200: {
        description: 'Where the player stands.',
        schema: 'StandingsPage',
        headers: CACHE_HEADERS,
        example: {
          playerId: 'ada',
          asOf: '2026-11-20T18:00:01.000Z',
          standings: [
            {
              board: 'blitz',
              title: 'Ranked blitz',
              window: { id: 'alltime', startsAt: null, endsAt: null, resetsAt: null },
              rank: 17,
              total: 1042,
              percentile: 98.463,
              score: 1520,
              columns: { moves: 31 },
              achievedAt: '2026-11-20T18:00:00.000Z',
              rankStyle: 'ordinal',
              accuracy: 'exact',
              boardVersion: 5120,
              frozenAt: null,
            },
          ],
          unavailable: ['sprint'],
          next: 'sprint',
        },
      },
      304: NOT_MODIFIED,
    },
    errors: ['TEMPLATE_NOT_FOUND', 'PROJECTION_UNAVAILABLE'],
  },
} satisfies Record<string, OperationDescription>;
