import {
  BATCH_MAX,
  BatchedSubmissionBody,
  SubmissionBody,
  NUMBERS_BY_NAME,
  orNull,
  schemaOfClass,
  type JsonSchema,
} from '@laddercast/commands';
import { ERRORS, RANK_STYLES, SANCTION_KINDS } from '@laddercast/domain';
import { LISTED_WINDOW_STATES } from '@laddercast/queries';
import { BOARD_DEFINITION_SCHEMA, BOARD_SCHEMA, RANGE_SHARDING } from './board-schemas.js';
import { OF_RUN, ofRun, RUN_SCHEMAS } from './run-schemas.js';
import { SCORE_SCHEMAS } from './score-schemas.js';
import { EntryOverrideBody, PlayerLookupBody, ShardsToBoundBody, WindowToCloseBody } from '../http/bodies.js';
import { CHANGE_SCHEMA, HISTORY_SCHEMA } from './history-schema.js';
import { LAYOUT_SCHEMAS } from './layout-schemas.js';
import { IDENTITY_SCHEMAS } from './identity-schemas.js';
import { MODERATION_SCHEMAS } from './moderation-schemas.js';
import { FACE_SCHEMA, PEOPLE_SCHEMAS } from './people-schemas.js';
import { READINESS_SCHEMA } from './readiness-schema.js';
import { count, list, object, oneOf, ref, score, string, time, withRequestId } from './schema-parts.js';

const shownSanction = (...kinds: string[]): JsonSchema =>
  object({ kind: oneOf(...kinds), until: orNull(time()), publicReason: orNull(string()) });

const problem = object(
  {
    type: string('A URN that ends in the code.'),
    title: string('What this code means, always the same.'),
    status: { type: 'integer', minimum: 400, maximum: 599 },
    detail: string('What was wrong with this request, and what to do.'),
    instance: string('The path that was asked for; for an item of a batch with its place, as `#/submissions/3`.'),
    code: { ...oneOf(...Object.keys(ERRORS)), description: 'Stable: what programs look at.' },
    errors: list(
      object({
        pointer: string(
          'A JSON pointer into the body (into its item of a batch), `?name` for a query parameter, `{name}` for a part of the path.',
        ),
        message: string(),
      }),
    ),
    option: string('NOT_SUPPORTED: the option or parameter that is not built.'),
    player: string('LIMIT_REACHED: the player whose list is full.'),
    total: count('ENTRY_NOT_FOUND: how many entries the list has.'),
    scoreToBeat: {
      ...orNull(object({ rank: count('1-based.', 1), score, columns: NUMBERS_BY_NAME })),
      description: 'ENTRY_NOT_FOUND: the last entry, of a full board the last that is kept; null where there is none.',
    },
    sanction: {
      ...shownSanction(...SANCTION_KINDS),
      description: 'PLAYER_BANNED, and ENTRY_NOT_FOUND: its ban, to the player itself; to moderators what is in force.',
    },
    scoreMin: orNull({ type: 'number' }),
    scoreMax: orNull({ type: 'number' }),
    column: string('COLUMN_OUT_OF_BOUNDS: which column it is.'),
    min: orNull({ type: 'number' }),
    max: orNull({ type: 'number' }),
    missing: list(string('COLUMNS_MISMATCH: a column that is not there.')),
    unknown: list(string('COLUMNS_MISMATCH: a column that the board does not have.')),
    differing: list(string('BOARD_NOT_OF_TEMPLATE: an option that differs from what the template says.')),
    check: string('SUBMISSION_REJECTED: the check that said no.'),
    decision: string('FLAG_DECIDED: what was decided.'),
    limit: string('RATE_LIMITED: which limit it was: key, player, address, failed-identity, probe or sockets.'),
    known: list(string('ALGORITHM_UNKNOWN: an algorithm that there is.')),
    initial: {
      ...object({
        rating: { type: 'number' },
        deviation: orNull({ type: 'number' }),
        volatility: orNull({ type: 'number' }),
      }),
      description: 'RATING_NOT_FOUND: what the first game of the player begins with.',
    },
    retryAfterSeconds: { type: 'number', minimum: 0, description: 'When the same request may succeed.' },
  },
  [
    'errors',
    'option',
    'decision',
    'player',
    'total',
    'scoreToBeat',
    'sanction',
    'scoreMin',
    'scoreMax',
    'column',
    'min',
    'max',
    'missing',
    'unknown',
    'differing',
    'check',
    'limit',
    'known',
    'initial',
    'retryAfterSeconds',
  ],
);

const entry = {
  rank: count('1-based.', 1),
  playerId: string(),
  displayName: orNull(string()),
  player: FACE_SCHEMA,
  score,
  columns: NUMBERS_BY_NAME,
  achievedAt: { ...orNull(time()), description: 'null only while the database, which alone keeps it, is away.' },
  metadata: { type: ['object', 'null'] },
};
/** What not every row has. */
const OF_ROW = ['player', ...OF_RUN];
const ranked = { ...entry, ...ofRun, change: CHANGE_SCHEMA };

const shownWindow = object(
  {
    id: string(),
    startsAt: orNull(time()),
    endsAt: orNull(time()),
    resetsAt: {
      ...orNull(time()),
      description:
        'When the running window ends and the next begins; of a rolling one, when the oldest hour leaves it.',
    },
    edition: count(
      'Of an ended window whose final standings are written: which of them the answer is of; 1 is the first.',
    ),
    revising: {
      type: 'boolean',
      description: 'true while an act is decided that the newest edition does not show yet.',
    },
  },
  ['edition', 'revising'],
);

const envelope = {
  board: string(),
  window: shownWindow,
  scope: string('`global`, `region:EU`, `guild:red`, `country:US`; `guilds` where the entries are guilds.'),
  total: count('How many entries the list has.'),
  players: {
    ...orNull(count()),
    description:
      'On boards where each run is an entry: how many players the list has, as of some seconds ago; null: not known, of ' +
      'lists as they stood and where it cannot be counted in time.',
  },
  boardVersion: count('Of the projection; for one name of a list, such as `daily`, it never falls.'),
  asOf: time('The moment that the answer is of; of standings, that of which they are.'),
  rankStyle: oneOf(...RANK_STYLES),
  accuracy: {
    ...oneOf('exact', 'estimated'),
    description: 'estimated: by the sketch of the list, or entries moved between its shards while it was read.',
  },
  errorBound: count('Of estimated answers: how far off ranks and total are at most, as of asOf.'),
  decay: {
    ...object({
      latest: { ...orNull(string()), description: 'The newest patch that the tax counts; null: none is published.' },
      since: { ...orNull(time()), description: 'Since when lists under this tax are served.' },
      perPatch: { type: 'number', description: 'What each patch takes.' },
      retaxing: {
        anyOf: [object({ to: orNull(string()), done: { type: 'number', minimum: 0, maximum: 1 } }), { type: 'null' }],
        description: 'The tax that comes next, and how far its lists are; null: this is the newest.',
      },
    }),
    description: 'On boards with decay: the tax that all scores of the answer are under.',
  },
};
/** What not every answer has. */
const OF_ENVELOPE = ['players', 'errorBound', 'decay'];

const errorBound = count('How far off an estimated rank is at most, as of asOf.');
const accuracy = { accuracy: oneOf('exact', 'estimated'), errorBound };

const percentile: JsonSchema = {
  type: 'number',
  minimum: 0,
  maximum: 100,
  description: '100 × (total − rank) / max(1, total − 1); in dense with the competition rank, which ties share too.',
};

/** `components.schemas`: the bodies of every request and answer. */
export const SCHEMAS: Record<string, JsonSchema> = {
  Problem: {
    ...withRequestId(problem),
    // A request that is not well formed is told each fault.
    if: { type: 'object', properties: { code: { const: 'VALIDATION_FAILED' } } },
    then: { type: 'object', properties: { errors: { type: 'array', minItems: 1 } }, required: ['errors'] },
  },
  WindowToClose: schemaOfClass(WindowToCloseBody),
  ShardsToBound: schemaOfClass(ShardsToBoundBody),
  BoundariesProposal: object({
    board: string(),
    window: string(),
    total: count('How many entries were looked at.'),
    sharding: RANGE_SHARDING,
    entries: list(count('Of a shard, the best first.')),
    isLimitedByTies: { type: 'boolean', description: 'Equal scores allow no more shards than these.' },
    dryRun: { type: 'boolean' },
  }),
  ClosedWindow: object({
    board: string(),
    window: object({ id: string(), startsAt: orNull(time()), endsAt: orNull(time()) }),
    dryRun: { type: 'boolean' },
    scopes: list(
      object({
        scope: string('`global`, `region:EU`; `guilds` for the list whose entries are guilds.'),
        total: count('Entries of the list.'),
        top: list(
          object(
            { rank: count("1-based, in the board's style.", 1), playerId: string(), entryId: ofRun.entryId, score },
            ['entryId'],
          ),
        ),
      }),
    ),
  }),
  BoardDefinition: BOARD_DEFINITION_SCHEMA,
  Board: BOARD_SCHEMA,
  BoardList: object({ boards: list(ref('Board')), next: { ...orNull(string()), description: 'The next cursor.' } }),
  Submission: schemaOfClass(SubmissionBody),
  BatchedSubmission: schemaOfClass(BatchedSubmissionBody),
  SubmissionBatch: object({
    submissions: {
      type: 'array',
      minItems: 1,
      maxItems: BATCH_MAX,
      items: ref('BatchedSubmission'),
      description: 'One that is not well formed fails alone: its result is a problem.',
    },
  }),
  ...SCORE_SCHEMAS,
  SubmissionResults: object({
    results: list({ anyOf: [ref('SubmissionResult'), object({ problem: ref('Problem') })] }),
  }),
  EntryOverride: schemaOfClass(EntryOverrideBody),
  ...RUN_SCHEMAS,
  RankedEntry: object(ranked, ['change', ...OF_ROW]),
  EntriesPage: object(
    {
      ...envelope,
      entries: list(ref('RankedEntry')),
      next: { ...orNull(string()), description: 'The path of the page after this one.' },
      prev: orNull(string()),
      cursorExpiresAt: {
        ...orNull(time()),
        description: 'Of pages by cursor: until when, at the latest; null: as long as the standings are kept.',
      },
    },
    ['cursorExpiresAt', ...OF_ENVELOPE],
  ),
  PlayerRank: object(
    {
      ...envelope,
      entry: {
        anyOf: [object({ ...ranked, percentile, ...accuracy }, ['change', 'errorBound', ...OF_ROW]), { type: 'null' }],
      },
      entries: {
        ...list(ref('RankedEntry')),
        description: 'With `entriesPer: run`: all entries of the player, the best first; `entry` is that one.',
      },
      neighbours: list(ref('RankedEntry')),
      runs: {
        ...list(
          object({
            score,
            rawScore: ofRun.rawScore,
            patch: ofRun.patch,
            patchesBehind: ofRun.patchesBehind,
            columns: NUMBERS_BY_NAME,
            achievedAt: time(),
            metadata: { type: ['object', 'null'] },
          }),
        ),
        description:
          'With `runs=1`, on boards with decay: what stands, or can stand again under a later tax; the standing one first.',
      },
      sanction: {
        ...shownSanction(...SANCTION_KINDS),
        description: 'For keys with the scope moderate: what is in force on this player.',
      },
    },
    [...OF_ENVELOPE, 'entries', 'runs', 'sanction'],
  ),
  PlayerHistory: HISTORY_SCHEMA,
  RankOfScore: object({ ...envelope, rank: count(undefined, 1) }, OF_ENVELOPE),
  Percentiles: object(
    {
      ...envelope,
      percentiles: list(
        object({
          percentile: { type: 'number', minimum: 0, maximum: 100 },
          rank: orNull(count('The nearest to the percentile.', 1)),
          score: orNull({ type: 'number' }),
          errorBound: count("How far the rank of the score's entry is from `rank` at most, as of asOf."),
        }),
      ),
    },
    OF_ENVELOPE,
  ),
  CirclePage: object(
    {
      ...envelope,
      total: count('How many of the circle have an entry.'),
      members: count('How many players the circle has; of friends and follows the player is one of them.'),
      entries: list(
        object(
          {
            ...entry,
            ...ofRun,
            rank: count('1-based, among the circle.', 1),
            globalRank: count('1-based, in the list of the window and scope.', 1),
          },
          OF_ROW,
        ),
      ),
      next: { ...orNull(string()), description: 'The path of the page after this one.' },
      prev: orNull(string()),
    },
    OF_ENVELOPE,
  ),
  ...PEOPLE_SCHEMAS,
  ...MODERATION_SCHEMAS,
  PlayerLookup: schemaOfClass(PlayerLookupBody),
  PlayersLookup: object(
    {
      ...envelope,
      entries: list({
        anyOf: [object({ ...entry, ...ofRun, errorBound }, ['errorBound', ...OF_ROW]), { type: 'null' }],
      }),
    },
    OF_ENVELOPE,
  ),
  ...IDENTITY_SCHEMAS,
  ...LAYOUT_SCHEMAS,
  WindowsPage: object({
    board: string(),
    windows: list(
      object({
        id: string(),
        kind: oneOf('alltime', 'daily', 'weekly', 'monthly', 'season', 'rolling', 'cron'),
        state: oneOf(...LISTED_WINDOW_STATES),
        startsAt: orNull(time()),
        endsAt: orNull(time()),
        resetsAt: orNull(time()),
        freezeAt: orNull(time('From here to the end everyone but admins sees it as it stood.')),
        isFrozen: { type: 'boolean' },
        version: orNull(count('Of the final standings.')),
        entries: orNull(count('Of the final standings, in the list of everybody.')),
      }),
    ),
    next: { ...orNull(string()), description: 'The next cursor.' },
  }),
  EditionsPage: object({
    board: string(),
    window: shownWindow,
    editions: list(
      object({
        edition: count('1 is the first.'),
        at: time('When it was written.'),
        reason: orNull(string('Why its acts were done; null for the first, and without the scope moderate.')),
        acts: list(count('The id of the record in the audit log.')),
      }),
    ),
    next: { ...orNull(string()), description: 'The next cursor.' },
  }),
  StandingsPage: object({
    playerId: string(),
    asOf: time(),
    standings: list(
      object(
        {
          board: string(),
          title: orNull(string()),
          window: envelope.window,
          rank: count('1-based.', 1),
          total: envelope.total,
          percentile,
          score,
          columns: NUMBERS_BY_NAME,
          achievedAt: entry.achievedAt,
          ...ofRun,
          rankStyle: envelope.rankStyle,
          accuracy: oneOf('exact'),
          boardVersion: envelope.boardVersion,
          frozenAt: {
            ...orNull(time()),
            description: 'The moment that the standing is of, where the window is frozen.',
          },
        },
        OF_RUN,
      ),
    ),
    unavailable: list(string('A board of this page that could not be read now.')),
    next: { ...orNull(string()), description: 'The next cursor.' },
  }),
  Liveness: object({ status: oneOf('ok') }),
  Readiness: READINESS_SCHEMA,
};
