import {
  EntriesParameters,
  PercentilesParameters,
  PlayerParameters,
  RowParameters,
  ScoreParameters,
} from '../../http/parameters.js';
import type { OperationDescription } from '../describe-operation.js';

const envelope = {
  board: 'blitz',
  window: { id: 'alltime', startsAt: null, endsAt: null, resetsAt: null },
  scope: 'global',
  total: 1042,
  boardVersion: 5120,
  asOf: '2026-11-20T18:00:01.000Z',
  rankStyle: 'ordinal',
  accuracy: 'exact',
};
const entry = {
  rank: 17,
  playerId: 'ada',
  displayName: null,
  score: 1520,
  columns: { moves: 31 },
  achievedAt: '2026-11-20T18:00:00.000Z',
  metadata: { replay: 'r-77' },
};

export const READ_ERRORS = [
  'FORBIDDEN',
  'BOARD_NOT_FOUND',
  'WINDOW_NOT_FOUND',
  'SCOPE_NOT_FOUND',
  'NOT_SUPPORTED',
  'SNAPSHOT_GONE',
  'EDITION_NOT_FOUND',
  'RANK_STYLE_NOT_KEPT',
  'PROJECTION_UNAVAILABLE',
  'PROJECTION_BEHIND',
] as const;
/** Of reads that page by cursor, and to a place. */
/** Those that have another status here than their code has elsewhere. */
export const READ_ERRORS_AT = { 404: ['PATCH_UNKNOWN'] } as const;

export const FROM_REPLICA =
  '`replica`: a page by offset may be read from a replica of Redis, where the service has one. It is `estimated` then: off by ' +
  'nothing but its `errorBound` as of its `boardVersion`, which is that of a moment ago, and never below `minVersion` or what ' +
  'the same process answered before to who asked so. Else the page is as without it.';

export const PAGE_ERRORS = [...READ_ERRORS, 'CURSOR_EXPIRED', 'ENTRY_NOT_FOUND'] as const;
export const CACHE_HEADERS = ['ETag', 'Cache-Control', 'Vary'] as const;
export const NOT_MODIFIED = { description: 'Still what If-None-Match names.', headers: CACHE_HEADERS };

export const RANKS = {
  getEntries: {
    tag: 'Ranks',
    summary: 'Read a list',
    description:
      'Pages by offset, and around a rank, a score or a player, are live: each is of its own boardVersion. `cursor=start` ' +
      'opens pages that hold still, with one of the three also around that place: `next` and `prev` show the list of one ' +
      'moment, both ways, for at most 5 minutes; 410 CURSOR_EXPIRED when it is not kept any more. `asOf` says which moment: ' +
      'many readers share one, so it can be some minutes ago; with `minVersion` it is no older than that.',
    callers: 'reader',
    query: EntriesParameters,
    parameters: { from: FROM_REPLICA },
    headers: ['If-None-Match'],
    answers: {
      200: {
        description: 'One page, the best first.',
        schema: 'EntriesPage',
        headers: CACHE_HEADERS,
        example: {
          ...envelope,
          entries: [entry],
          next: '/v1/boards/blitz/entries?window=alltime&limit=1&offset=17',
          prev: '/v1/boards/blitz/entries?window=alltime&limit=1&offset=15',
        },
      },
      304: NOT_MODIFIED,
    },
    errors: PAGE_ERRORS,
    errorsAt: READ_ERRORS_AT,
  },
  getPlayer: {
    tag: 'Ranks',
    summary: 'Read a player with rank, percentile and neighbours',
    description:
      'With `accuracy=estimated` the rank is out of the sketch of the list, which is some seconds old at most: cheap at any ' +
      'size, never further off than `errorBound` as of `asOf`, and without neighbours. Where there is no sketch (of ended ' +
      'windows, say) the answer is exact, and says so.',
    callers: 'reader',
    query: PlayerParameters,
    headers: ['If-None-Match'],
    answers: {
      200: {
        description: 'The entry, and the neighbours in order, the player included.',
        schema: 'PlayerRank',
        headers: CACHE_HEADERS,
        example: { ...envelope, entry: { ...entry, percentile: 98.463, accuracy: 'exact' }, neighbours: [entry] },
      },
      304: NOT_MODIFIED,
    },
    errors: [...READ_ERRORS, 'ENTRY_NOT_FOUND'],
    errorsAt: READ_ERRORS_AT,
  },
  getRankOfScore: {
    tag: 'Ranks',
    summary: 'Ask which rank a score would get',
    description:
      'In ordinal style after equal ones where ties go to the earliest, before them where they go to the latest; in ' +
      'other styles with them. `accuracy=estimated` as for a player. A score may be outside of the limits of the board; with ' +
      '`patch` it is that of a run, and one that the board would not take is refused.',
    callers: 'reader',
    query: ScoreParameters,
    headers: ['If-None-Match'],
    answers: {
      200: {
        description: 'The rank that the score would get now.',
        schema: 'RankOfScore',
        headers: CACHE_HEADERS,
        example: { ...envelope, rank: 18 },
      },
      304: NOT_MODIFIED,
    },
    errors: [...READ_ERRORS, 'COLUMNS_MISMATCH', 'SCORE_OUT_OF_BOUNDS', 'COLUMN_OUT_OF_BOUNDS'],
    errorsAt: READ_ERRORS_AT,
  },
  getPercentiles: {
    tag: 'Ranks',
    summary: 'Read the scores at some percentiles',
    description:
      'The percentile of a rank is 100 × (total − rank) / max(1, total − 1): 100 for the first place. For each that is asked ' +
      'for `rank` is the nearest ordinal rank (of two the better), and `score` that of an entry whose own rank is at most ' +
      '`errorBound` away from it. Out of the sketch of the list; with `accuracy=exact` read row by row.',
    callers: 'reader',
    query: PercentilesParameters,
    headers: ['If-None-Match'],
    answers: {
      200: {
        description: 'In the order asked; rank and score are null where there are no entries.',
        schema: 'Percentiles',
        headers: CACHE_HEADERS,
        example: {
          ...envelope,
          total: 1_000_000,
          accuracy: 'estimated',
          percentiles: [{ percentile: 99, rank: 10_001, score: 2410, errorBound: 1 }],
        },
      },
      304: NOT_MODIFIED,
    },
    errors: READ_ERRORS.filter((code) => code !== 'RANK_STYLE_NOT_KEPT'),
    errorsAt: READ_ERRORS_AT,
  },
  lookupPlayers: {
    tag: 'Ranks',
    summary: 'Read up to 500 players at once',
    description:
      '`accuracy: estimated` as for a single player: each entry has its `errorBound`. Counts as one request for every 25 ' +
      'players asked for.',
    callers: 'reader',
    query: RowParameters,
    body: { schema: 'PlayerLookup', examples: { two: { playerIds: ['ada', 'bob'], ranked: false } } },
    answers: {
      200: {
        description: 'In the order asked, null where there is no entry; with `ranked` only entries, the best first.',
        schema: 'PlayersLookup',
        example: { ...envelope, accuracy: 'exact', entries: [entry, null] },
      },
    },
    errors: READ_ERRORS,
    errorsAt: READ_ERRORS_AT,
  },
} satisfies Record<string, OperationDescription>;
