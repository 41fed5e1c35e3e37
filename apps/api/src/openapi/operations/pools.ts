import { DryRunParameters, GamesParameters, PageParameters, RatingHistoryParameters } from '../../http/parameters.js';
import type { OperationDescription } from '../describe-operation.js';

const given = { title: 'Ranked blitz', algorithm: 'elo', parameters: { k: 32 }, provisional: { games: 10 } };
const pool = {
  id: 'blitz',
  title: 'Ranked blitz',
  algorithm: 'elo',
  parameters: { initial: 1500, k: 32, scale: 400, differenceMax: null, homeAdvantage: 0, floor: null },
  update: 'per-game',
  periods: null,
  sides: { min: 2, max: 100, teamMax: 10 },
  results: { disqualified: 'last', absent: 'unrated' },
  provisional: { games: 10, deviationAbove: null },
  rankable: null,
  onVoid: 'recompute',
  history: { keepDays: null },
  boards: [],
  visibility: 'public',
};
const newGame = {
  gameId: 'g-77',
  pool: 'blitz',
  playedAt: '2026-11-20T18:00:00.000Z',
  players: [
    { playerId: 'ada', place: 1 },
    { playerId: 'bob', place: 2 },
  ],
};
const rated = {
  position: 48213,
  players: [
    { playerId: 'ada', before: 1500, after: 1516, delta: 16, expected: 0.5, k: 32 },
    { playerId: 'bob', before: 1500, after: 1484, delta: -16, expected: 0.5, k: 32 },
  ],
};
const player = { team: null, home: false, status: 'played', score: null };
const game = {
  ...{ gameId: 'g-77', pool: 'blitz', position: 48213 },
  ...{ playedAt: '2026-11-20T18:00:00.000Z', recordedAt: '2026-11-20T18:00:31.204Z', weight: 1 },
  players: [
    { playerId: 'ada', place: 1, ...player },
    { playerId: 'bob', place: 2, ...player },
  ],
  metadata: null,
  voided: null,
  rated,
};
const result = { gameId: 'g-77', pool: 'blitz', outcome: 'recorded', replayed: false, position: 48213, rated: null };
const drawn = newGame.players.map(({ playerId }) => ({ playerId, place: 1 }));
const OF_CORRECTIONS = [
  'FORBIDDEN',
  'POOL_NOT_FOUND',
  'GAME_NOT_FOUND',
  'GAME_VOIDED',
  'RECOMPUTE_TOO_LARGE',
  'ALGORITHM_MISSING',
  'OVERLOADED',
] as const;
const CORRECTED = {
  200: {
    description: 'Done, or what would be done; `players` is null where it is recorded, and done a little later.',
    schema: 'Correction',
    example: { games: 1, players: [{ playerId: 'ada', before: 1515.297533, after: 1500.736307, delta: -14.561226 }] },
  },
};
const ofGames = { cursor: 'The `next` of the page before.', limit: 'Default 50, at most 100.' };

const rating = {
  ...{ pool: 'blitz', playerId: 'ada', rating: 1516, deviation: null, storedDeviation: null, volatility: null },
  ...{ conservative: 1516, interval95: null, games: 1, wins: 1, draws: 0, losses: 0, provisional: true },
  peak: { rating: 1516, at: '2026-11-20T18:00:00.000Z', gameId: 'g-77' },
  ...{ lastPlayedAt: '2026-11-20T18:00:00.000Z', rankable: true, missing: [], rankableUntil: null },
  ...{ position: 48213, pending: 0, asOf: '2026-11-20T18:00:31.230Z' },
};

export const POOLS = {
  listPools: {
    tag: 'Ratings',
    summary: 'List the rating pools',
    description: "The public ones; the private ones, too, with a key with the scope read, or a player's token.",
    callers: 'reader',
    query: PageParameters,
    parameters: { cursor: ofGames.cursor },
    answers: { 200: { description: 'Pools by id.', schema: 'PoolList', example: { pools: [pool], next: 'blitz' } } },
    errors: [],
  },
  getPool: {
    tag: 'Ratings',
    summary: 'Read a pool, and how far its ratings are',
    callers: 'reader',
    answers: {
      200: {
        description: 'The definition with every default filled in. The ETag is of the definition.',
        schema: 'PoolState',
        headers: ['ETag', 'Cache-Control'],
        example: {
          ...pool,
          ratedPosition: 48213,
          pending: 0,
          players: 2,
          games: 1,
          refunded: 0,
          historyFrom: null,
          period: null,
        },
      },
    },
    errors: ['FORBIDDEN', 'POOL_NOT_FOUND'],
  },
  putPool: {
    tag: 'Ratings',
    summary: 'Create or replace a pool',
    description:
      'Needs the scope admin. Only `algorithm` is required; null means the default, except within `parameters`. Title, ' +
      'visibility, provisional, rankable and boards are free to change; sides and results hold for games that are accepted from ' +
      'then on; algorithm, parameters and update are fixed once a game was recorded. A board that is named is fed by the ' +
      'pool: it exists, is desc and latest, and empty when it is first named. Options of the contract that are not ' +
      'built are refused by name.',
    callers: 'identified',
    headers: ['If-Match', 'If-None-Match: *'],
    body: { schema: 'PoolDefinition', examples: { least: { algorithm: 'elo' }, blitz: given } },
    answers: {
      200: { description: 'Replaced.', schema: 'Pool', headers: ['ETag'], example: pool },
      201: { description: 'Created.', schema: 'Pool', headers: ['ETag'], example: pool },
    },
    errors: [
      'FORBIDDEN',
      'BOARD_IN_USE',
      'POOL_HAS_GAMES',
      'PRECONDITION_FAILED',
      'NOT_SUPPORTED',
      'ALGORITHM_UNKNOWN',
      'OVERLOADED',
    ],
  },
  deletePool: {
    tag: 'Ratings',
    summary: 'Delete a pool with its games and ratings',
    description:
      'Needs the scope admin. A pool made again under the same id is empty. Boards that it fed stand as they are.',
    callers: 'identified',
    headers: ['If-Match'],
    answers: { 204: { description: 'Deleted.' } },
    errors: ['FORBIDDEN', 'POOL_NOT_FOUND', 'PRECONDITION_FAILED', 'OVERLOADED'],
  },
  recordGames: {
    tag: 'Ratings',
    summary: 'Record a game, or up to 1,000',
    description:
      'Needs a key with the scope scores:write. Answered once the game is durable; it is rated a moment later, in the order ' +
      'of `position`, with `Prefer: wait` before the answer where that is in time. `gameId` makes retries safe: it is unique ' +
      'in its pool for as long as the game is kept. In a batch each game succeeds or fails by itself, in the order of the ' +
      'array. Equal places are a draw; places say only who was before whom.',
    callers: 'identified',
    headers: ['Prefer: wait for ratings'],
    body: { schema: 'GameOrGames', examples: { game: newGame, batch: { games: [newGame] } } },
    answers: { 200: { description: 'The game counts.', schema: 'GameResultOrResults', example: result } },
    errors: [
      'FORBIDDEN',
      'POOL_NOT_FOUND',
      'GAME_ID_REUSED',
      'GAME_TOO_LARGE',
      'PLAYERS_NOT_SUPPORTED',
      'NOT_SUPPORTED',
      'METADATA_TOO_LARGE',
      'ACHIEVED_AT_IN_FUTURE',
      'ALGORITHM_MISSING',
      'OVERLOADED',
      'OUTBOX_FULL',
    ],
  },
  listGames: {
    tag: 'Ratings',
    summary: 'Read the games of a pool, the newest first',
    callers: 'reader',
    query: GamesParameters,
    parameters: ofGames,
    answers: {
      200: {
        description: 'One page.',
        schema: 'GamesPage',
        headers: ['Cache-Control'],
        example: { games: [game], next: null },
      },
    },
    errors: ['FORBIDDEN', 'POOL_NOT_FOUND'],
  },
  getGame: {
    tag: 'Ratings',
    summary: 'Read a game and what it did to each player',
    callers: 'reader',
    answers: {
      200: { description: 'The game.', schema: 'RecordedGame', headers: ['Cache-Control'], example: game },
    },
    errors: ['FORBIDDEN', 'POOL_NOT_FOUND', 'GAME_NOT_FOUND'],
  },
  voidGame: {
    tag: 'Ratings',
    summary: 'Make a game void',
    description:
      'Needs the scope admin, and is kept in the audit log. Ratings, counts and peaks are then what they would be had the game ' +
      'never been, to the last bit; with `mode: keep` it is only marked. Done in the order of the pool, behind all that was ' +
      'recorded before: where that takes longer than 20 s, `players` is null. With `dryRun` nothing changes.',
    callers: 'identified',
    query: DryRunParameters,
    body: { schema: 'GameVoid', examples: { cheated: { reason: 'Played by a bot.' } } },
    answers: CORRECTED,
    errors: OF_CORRECTIONS,
  },
  voidGames: {
    tag: 'Ratings',
    summary: 'Make all games void that fit',
    description:
      'As for one game, for those that fit everything that is said: of a player, played in a time, of these ids. At least one ' +
      'must be said. Games that are void already are left out, unless they are named.',
    callers: 'identified',
    query: DryRunParameters,
    body: { schema: 'Voids', examples: { cheater: { playerId: 'ada', from: newGame.playedAt, reason: 'Cheated.' } } },
    answers: CORRECTED,
    errors: OF_CORRECTIONS,
  },
  correctGame: {
    tag: 'Ratings',
    summary: 'Give a game the result that it really had',
    description:
      'Needs the scope admin. The game keeps its place in the order; it and all that depends on it are computed again.',
    callers: 'identified',
    query: DryRunParameters,
    body: { schema: 'GameCorrection', examples: { draw: { players: drawn, reason: 'The flag had not fallen.' } } },
    answers: CORRECTED,
    errors: [...OF_CORRECTIONS, 'GAME_TOO_LARGE', 'PLAYERS_NOT_SUPPORTED', 'NOT_SUPPORTED'],
  },
  getRating: {
    tag: 'Ratings',
    summary: 'Read the rating of a player',
    description:
      'From PostgreSQL, as of now. Before the first rated game, and for a player who is not listed, 404 with the `initial` ' +
      'values of the pool.',
    callers: 'reader',
    answers: {
      200: {
        description: 'Where the player stands.',
        schema: 'PlayerRating',
        headers: ['Cache-Control'],
        example: rating,
      },
    },
    errors: ['FORBIDDEN', 'POOL_NOT_FOUND', 'RATING_NOT_FOUND', 'ALGORITHM_MISSING'],
  },
  getRatingHistory: {
    tag: 'Ratings',
    summary: "Read each change of a player's rating, the newest first",
    callers: 'reader',
    query: RatingHistoryParameters,
    parameters: ofGames,
    answers: {
      200: {
        description: 'One page.',
        schema: 'RatingHistory',
        headers: ['Cache-Control'],
        example: {
          pool: 'blitz',
          playerId: 'ada',
          changes: [
            {
              ...{ kind: 'game', gameId: 'g-77', position: 48213, playedAt: '2026-11-20T18:00:00.000Z' },
              ...{ before: 1500, after: 1516, delta: 16, expected: 0.5, k: 32, outcome: 'win', opponents: ['bob'] },
              ...{ engine: 'elo@1', recomputedBy: null },
            },
          ],
          next: null,
        },
      },
    },
    errors: ['FORBIDDEN', 'POOL_NOT_FOUND'],
  },
  getRatingDistribution: {
    tag: 'Ratings',
    summary: 'Read how the ratings of a pool are spread',
    description:
      'Inflation is seen, not guessed: `sum` and `mean` of a pool whose games are zero-sum move with its newcomers alone. ' +
      'Computed from all ratings, and kept for some seconds, of large pools for up to five minutes: `asOf` says when.',
    callers: 'reader',
    answers: {
      200: {
        description: 'The buckets with players, the lowest first.',
        schema: 'RatingDistribution',
        headers: ['Cache-Control'],
        example: {
          ...{
            pool: 'blitz',
            players: 2,
            sum: 3000,
            mean: 1500,
            median: 1500,
            active: 2,
            newcomers: 2,
            bucketWidth: 25,
          },
          histogram: [
            { from: 1475, players: 1 },
            { from: 1500, players: 1 },
          ],
          ...{ ratedPosition: 48213, asOf: '2026-11-20T18:00:31.230Z' },
        },
      },
    },
    errors: ['FORBIDDEN', 'POOL_NOT_FOUND', 'ALGORITHM_MISSING', 'OVERLOADED'],
  },
  lookupRatings: {
    tag: 'Ratings',
    summary: 'Read the ratings of up to 500 players at once',
    description: 'All of one moment. Counts as one request for every 25 players asked for.',
    callers: 'reader',
    body: { schema: 'RatingLookup', examples: { two: { playerIds: ['ada', 'nobody'] } } },
    answers: {
      200: {
        description: 'In the order asked; null before the first rated game, and for players who are not listed.',
        schema: 'RatingsLookup',
        headers: ['Cache-Control'],
        example: { ratings: [rating, null] },
      },
    },
    errors: ['FORBIDDEN', 'POOL_NOT_FOUND', 'ALGORITHM_MISSING'],
  },
  predictGame: {
    tag: 'Ratings',
    summary: 'Predict a game, or find the fairest split of players',
    description:
      'Of two sides `win` is the score that the algorithm expects, of more its mean over the pairs. With `players` and ' +
      '`sidesOf` the answer is the split of up to 12 players that has the best quality of all there are; of several the ' +
      'first in the order of ids. A player without games is as a newcomer, and so is one who is not listed. Counts as ' +
      'more requests the more pairs there are to look at: as 25 for 100 sides, or for a split of 12 players.',
    callers: 'reader',
    body: {
      schema: 'GameOrSplit',
      examples: {
        game: { sides: [['ada'], ['bob', 'cy']] },
        split: { players: ['ada', 'bob', 'cy', 'di'], sidesOf: 2 },
      },
    },
    answers: {
      200: {
        description: 'What the ratings let expect; of a split with its sides.',
        schema: 'Prediction',
        headers: ['Cache-Control'],
        example: { win: [0.519934, 0.480066], draw: null, quality: 0.998411 },
      },
    },
    errors: [
      'FORBIDDEN',
      'POOL_NOT_FOUND',
      'GAME_TOO_LARGE',
      'PLAYERS_NOT_SUPPORTED',
      'ALGORITHM_MISSING',
      'OVERLOADED',
    ],
  },
} satisfies Record<string, OperationDescription>;
