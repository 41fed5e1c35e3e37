import {
  GameBody,
  GAMES_BATCH_MAX,
  GameResultBody,
  orNull,
  PoolDefinitionDto,
  schemaOfClass,
  type JsonSchema,
} from '@laddercast/commands';
import { FED_COLUMNS, FED_VALUES, GAME_PLAYERS_MAX, PERIOD_KINDS } from '@laddercast/domain';
import { GameVoidBody, PredictionBody, RatingLookupBody, SplitBody, VoidsBody } from '../http/bodies.js';
import { RestatementBody } from '../http/moderation-bodies.js';
import { count, list, namedId, object, oneOf, ref, string, time } from './schema-parts.js';

const number = (description?: string): JsonSchema => ({ type: 'number', ...(description ? { description } : {}) });
const next = { ...orNull(string()), description: 'The next cursor.' };
const rules = oneOf('last', 'unrated');

const definition = {
  id: namedId,
  title: orNull(string()),
  algorithm: string('Such as elo.'),
  parameters: { type: 'object', description: 'All of the algorithm.' },
  update: oneOf('per-game', 'per-period'),
  periods: {
    ...orNull(
      object({
        every: oneOf(...PERIOD_KINDS),
        timeZone: string('IANA.'),
        graceSeconds: count('So long after its end a period still takes games; then it closes, and ratings move.'),
      }),
    ),
    description: 'null: ratings move with each game.',
  },
  sides: object({
    min: count('The least sides of a game.', 2),
    max: count('The most.', 2),
    teamMax: count('The most members of a side.', 1),
  }),
  results: object({ disqualified: rules, absent: rules }),
  provisional: orNull(object({ games: orNull(count()), deviationAbove: orNull(number()) })),
  rankable: orNull(
    object({ gamesMin: orNull(count()), deviationMax: orNull(number()), inactiveDaysMax: orNull(number()) }),
  ),
  onVoid: { ...oneOf('recompute', 'refund', 'keep'), description: 'What a void does where it does not say.' },
  history: object({ keepDays: { ...orNull(count()), description: 'How long changes are kept; null: for ever.' } }),
  boards: {
    ...list(
      object({
        board: namedId,
        value: oneOf(...FED_VALUES),
        columns: { type: 'object', additionalProperties: oneOf(...FED_COLUMNS) },
      }),
    ),
    description: 'The boards that the pool feeds.',
  },
  visibility: oneOf('public', 'private'),
};

const place = count("The game's place in the pool's order.", 1);
const change = {
  before: number(),
  after: number(),
  delta: number('after − before.'),
  expected: number(
    "The score that was expected of the player's side, 0-1; of more than two sides the mean over pairs.",
  ),
  k: { ...orNull(number()), description: "Points of a whole surprise, without the game's weight." },
};

const ratedWith = (ofPlayer: Record<string, JsonSchema>): JsonSchema => ({
  anyOf: [
    object({ position: place, players: list(object({ playerId: string(), ...change, ...ofPlayer })) }),
    object({
      position: place,
      players: { ...list(object({ playerId: string(), ...change })), maxItems: 0 },
      gone: { const: true, description: 'What it did is kept no longer: `history.keepDays` of the pool.' },
    }),
    object({
      reason: {
        ...oneOf('TOO_FEW_SIDES', 'NUMERIC', 'VOID'),
        description:
          'Why it moves nobody: fewer than two sides played, its numbers would not be finite, or it is void.',
      },
    }),
    { type: 'null' },
  ],
});

const rated = ratedWith({});

/** As it is answered to who waited. */
const ratedAndRanked = ratedWith({
  rank: {
    anyOf: [ref('RankMovement'), { type: 'null' }],
    description: "On the board that shows the pool's ratings; null: no entry there, or nothing can be said now.",
  },
});

const game = object({
  gameId: string(),
  pool: string(),
  position: place,
  playedAt: time(),
  recordedAt: time(),
  weight: number(),
  players: {
    ...list(
      object({
        playerId: string(),
        place: { ...orNull(count('1 is best.', 1)), description: 'null for those who did not play.' },
        team: orNull(string()),
        home: { type: 'boolean' },
        status: oneOf('played', 'disqualified', 'absent'),
        score: orNull(number()),
      }),
    ),
    maxItems: GAME_PLAYERS_MAX,
  },
  metadata: { type: ['object', 'null'] },
  voided: { ...orNull(oneOf('recompute', 'refund', 'keep')), description: 'What its void does; null: it counts.' },
  rated: { ...rated, description: 'What it did; null while it is not rated.' },
});

const prediction = {
  win: list(number('How likely this side is the first, a draw shared out; they add up to 1.')),
  draw: { ...orNull(number()), description: 'How likely a draw is; null where the algorithm has none.' },
  quality: number('nⁿ·∏win: 1 where all are equally likely to win, 0 where it is decided.'),
};

/** What answers and bodies of rating pools look like. */
export const POOL_SCHEMAS: Record<string, JsonSchema> = {
  PoolDefinition: schemaOfClass(PoolDefinitionDto),
  Pool: object(definition),
  PoolState: object({
    ...definition,
    ratedPosition: count('Of the last game that was rated; 0 before the first.'),
    pending: count('Games that are recorded and not rated yet.'),
    players: count('With a rated game.'),
    games: count('That were recorded.'),
    refunded: number('Points that voids gave back, all together: they were not in the pool before.'),
    historyFrom: {
      ...orNull(time()),
      description: 'Changes by games that were played before are not all kept; null: all are.',
    },
    period: {
      ...orNull(
        object({
          period: string('Such as monthly:2026-11.'),
          startsAt: time(),
          endsAt: time(),
          closesAt: time('When its games are rated: the end and the grace.'),
        }),
      ),
      description: 'The running one; null where ratings move with each game.',
    },
  }),
  PoolList: object({ pools: list(ref('Pool')), next }),
  Game: schemaOfClass(GameBody),
  GameOrGames: {
    anyOf: [
      ref('Game'),
      object({
        games: {
          type: 'array',
          minItems: 1,
          maxItems: GAMES_BATCH_MAX,
          items: ref('Game'),
          description: 'One that is not well formed fails alone: its result is a problem.',
        },
      }),
    ],
  },
  GameResult: object({
    gameId: string(),
    pool: string(),
    outcome: oneOf('recorded'),
    replayed: { type: 'boolean', description: 'true: this gameId was recorded before, with the same body.' },
    position: place,
    rated: {
      ...ratedAndRanked,
      description: 'With `Prefer: wait`, what it did; null while it is not rated, or nobody waited.',
    },
  }),
  GameResultOrResults: {
    anyOf: [
      ref('GameResult'),
      object({ results: list({ anyOf: [ref('GameResult'), object({ problem: ref('Problem') })] }) }),
    ],
  },
  RecordedGame: game,
  GamesPage: object({ games: list(ref('RecordedGame')), next }),
  PlayerRating: object({
    pool: string(),
    playerId: string(),
    rating: number(),
    deviation: { ...orNull(number()), description: 'As of now; null where the algorithm has none.' },
    storedDeviation: { ...orNull(number()), description: 'After the last game.' },
    volatility: orNull(number()),
    conservative: number('What the player has at least, with great likelihood; with elo the rating.'),
    interval95: { ...orNull({ type: 'array', items: number(), minItems: 2, maxItems: 2 }) },
    games: count(),
    wins: count('First places of games with more than two sides, too.'),
    draws: count('Of two sides only.'),
    losses: count(),
    provisional: { type: 'boolean' },
    peak: orNull(object({ rating: number(), at: time(), gameId: string() })),
    lastPlayedAt: orNull(time()),
    rankable: { type: 'boolean' },
    missing: list(string('A rule of `rankable` that fails now.')),
    rankableUntil: { ...orNull(time()), description: 'If the player stays away; null: for ever, or not even now.' },
    position: count('Of the last game that changed it.'),
    pending: count('Games of the pool that are recorded and not rated yet.'),
    asOf: time(),
  }),
  RatingLookup: schemaOfClass(RatingLookupBody),
  RatingsLookup: object({ ratings: list({ anyOf: [ref('PlayerRating'), { type: 'null' }] }) }),
  GameOrSplit: { anyOf: [schemaOfClass(PredictionBody), schemaOfClass(SplitBody)] },
  Prediction: { anyOf: [object(prediction), object({ sides: list(list(string())), ...prediction })] },
  RatingDistribution: object({
    pool: string(),
    players: count('With a rated game, listed or not.'),
    sum: number('Of all ratings.'),
    mean: orNull(number()),
    median: orNull(number()),
    active: count('Whose last game was played within the last seven days.'),
    newcomers: count('Whose first game was, too.'),
    bucketWidth: number('In points: 25, less where ratings are closer together, more where 400 buckets would not do.'),
    histogram: list(object({ from: number('The lowest rating of the bucket.'), players: count(undefined, 1) })),
    ratedPosition: count('Of the last game that is in it.'),
    asOf: time('When it was computed.'),
  }),
  RatingHistory: object({
    pool: string(),
    playerId: string(),
    changes: list(
      object({
        kind: {
          ...oneOf('game', 'recomputed', 'refund'),
          description:
            'recomputed: after a correction of an earlier game; refund: points lost in the game, given back when it was made void.',
        },
        gameId: string(),
        position: place,
        playedAt: time(),
        ...change,
        expected: { ...orNull(change.expected), description: `${change.expected['description']} null of a refund.` },
        outcome: { ...orNull(oneOf('win', 'draw', 'loss')), description: 'null of a refund.' },
        engine: string('What computed it, with its version, such as elo@1.'),
        recomputedBy: orNull(count('The position of the correction after which it was computed again.')),
        opponents: list(string('A player of another side.')),
      }),
    ),
    next,
  }),
  Restatement: schemaOfClass(RestatementBody),
  RestatedStandings: object({
    board: string(),
    window: string(),
    pool: string('Which feeds the board.'),
    outcome: {
      ...oneOf('restated', 'unchanged', 'restating'),
      description: 'unchanged: the standings said already what the pool says; restating: it goes on.',
    },
    playersRead: count('Players of the pool that were looked at.'),
    entries: {
      ...orNull(count()),
      description: 'How many differ, parts that guilds keep of leavers among them; null: not known yet.',
    },
    edition: { ...orNull(count(undefined, 1)), description: 'The newest of the window.' },
  }),
  GameVoid: schemaOfClass(GameVoidBody),
  Voids: schemaOfClass(VoidsBody),
  GameCorrection: schemaOfClass(GameResultBody),
  Correction: object({
    games: count('That were corrected.'),
    players: orNull(
      list(object({ playerId: string(), before: number(), after: number(), delta: number('after − before.') })),
    ),
  }),
};
