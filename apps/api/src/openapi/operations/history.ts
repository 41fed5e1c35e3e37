import { TimeRangeParameters } from '../../http/time-range.js';
import type { OperationDescription } from '../describe-operation.js';
import { CACHE_HEADERS, NOT_MODIFIED } from './ranks.js';

export const HISTORY = {
  getPlayerHistory: {
    tag: 'Ranks',
    summary: 'Read the score and rank of a player over time',
    description:
      'On boards with `history`: one point for each stretch of `everyMinutes` in which the entry changed, the last state of it, ' +
      'the newest first, in the list of everybody. Points are written behind the scores, a moment later. The rank is looked up ' +
      'when the point is written: it is `exact` where the list showed this very state then, `estimated` where it was behind or ' +
      'ahead, and null where it was not answered for, where more was to be looked up than the service does in a second, or ' +
      'where the point was written more than a stretch too late. A removal is a point, too. Of a player who is not listed, or ' +
      'never played, there are no points. While a window is frozen, all but admins see what was before.',
    callers: 'reader',
    query: TimeRangeParameters,
    headers: ['If-None-Match'],
    answers: {
      200: {
        description: 'One page.',
        schema: 'PlayerHistory',
        headers: CACHE_HEADERS,
        example: {
          board: 'blitz',
          window: { id: 'alltime', startsAt: null, endsAt: null, resetsAt: null },
          playerId: 'ada',
          everyMinutes: 60,
          points: [
            {
              at: '2026-11-20T18:00:00.000Z',
              score: 1520,
              columns: { moves: 31 },
              version: 48213,
              rank: { rank: 17, total: 1042, accuracy: 'exact', errorBound: 0, asOf: '2026-11-20T18:00:00.031Z' },
            },
          ],
          next: '1795132800000',
        },
      },
      304: NOT_MODIFIED,
    },
    errors: ['FORBIDDEN', 'BOARD_NOT_FOUND', 'WINDOW_NOT_FOUND', 'HISTORY_NOT_KEPT'],
  },
} satisfies Record<string, OperationDescription>;
