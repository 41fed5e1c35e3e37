import { BATCH_MAX, BATCHED_SUBMISSION_SCHEMA, BoardDefinitionDto, SUBMISSION_SCHEMA } from '@laddercast/commands';
import { COLUMNS_MAX, ERRORS, NAMED_ID_PATTERN, SHARDS_MAX, WINDOW_KINDS } from '@laddercast/domain';
import { KEY_SCOPES } from '@laddercast/ledger';
import { orNull, schemaOfClass, type JsonSchema } from './class-schema.js';

const string = (description?: string): JsonSchema => ({ type: 'string', ...(description ? { description } : {}) });
const time = (description?: string): JsonSchema => ({ ...string(description), format: 'date-time' });
const count = (description?: string, minimum = 0): JsonSchema => ({
  type: 'integer',
  minimum,
  ...(description ? { description } : {}),
});
const oneOf = (...values: string[]): JsonSchema => ({ type: 'string', enum: values });
const list = (items: JsonSchema): JsonSchema => ({ type: 'array', items });
const score: JsonSchema = { type: 'number', description: 'An IEEE double, bit for bit as it was submitted.' };
const numbersByName: JsonSchema = {
  type: 'object',
  maxProperties: COLUMNS_MAX,
  additionalProperties: { type: 'number' },
};

export const ref = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` });

/** An object that has exactly these fields, all of them unless said otherwise. */
function object(properties: Record<string, JsonSchema>, optional: string[] = []): JsonSchema {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: 'object', additionalProperties: false, required, properties };
}

const opaqueId = {
  type: 'string',
  format: 'opaque-id',
  maxLength: 128,
  description:
    '1-128 bytes of UTF-8 without control characters or lone surrogates; not ".", ".." or "me"; compared byte by byte.',
};

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
    total: count('ENTRY_NOT_FOUND: how many entries the list has.'),
    scoreMin: orNull({ type: 'number' }),
    scoreMax: orNull({ type: 'number' }),
    missing: list(string('COLUMNS_MISMATCH: a column that is not there.')),
    unknown: list(string('COLUMNS_MISMATCH: a column that the board does not have.')),
    check: string('SUBMISSION_REJECTED: the check that said no.'),
    retryAfterSeconds: { type: 'number', minimum: 0, description: 'When the same request may succeed.' },
  },
  ['errors', 'option', 'total', 'scoreMin', 'scoreMax', 'missing', 'unknown', 'check', 'retryAfterSeconds'],
);

const board = object({
  id: { type: 'string', pattern: NAMED_ID_PATTERN },
  title: orNull(string()),
  order: oneOf('asc', 'desc'),
  operator: oneOf('best', 'latest', 'sum'),
  tiebreak: oneOf('earliest', 'latest', 'none'),
  columns: { ...list(object({ name: string(), order: oneOf('asc', 'desc') })), maxItems: COLUMNS_MAX },
  rankStyle: oneOf('ordinal', 'competition'),
  windows: { ...list(oneOf(...WINDOW_KINDS)), minItems: 1, uniqueItems: true },
  timeZone: oneOf('UTC'),
  scopes: list(oneOf('global')),
  sharding: object({ by: oneOf('hash'), count: { ...count(undefined, 1), maximum: SHARDS_MAX } }),
  limits: object({ scoreMin: orNull({ type: 'number' }), scoreMax: orNull({ type: 'number' }) }),
  graceSeconds: count('How late a submission may still enter an ended window.'),
  keepEndedSeconds: count('How long an ended window can be read.'),
  push: object({ intervalMs: count(undefined, 1), top: count(undefined, 1) }),
  format: object({ kind: oneOf('number', 'time', 'currency'), decimals: count(), unit: orNull(string()) }),
  submitters: oneOf('servers', 'players'),
  clientTime: { type: 'boolean' },
  visibility: oneOf('public', 'private'),
});

const entry = {
  rank: count('1-based.', 1),
  playerId: string(),
  displayName: orNull(string()),
  score,
  columns: numbersByName,
  achievedAt: { ...orNull(time()), description: 'null only while the database, which alone keeps it, is away.' },
  metadata: { type: ['object', 'null'] },
};

const envelope = {
  board: string(),
  window: object({
    id: string(),
    startsAt: orNull(time()),
    endsAt: orNull(time()),
    resetsAt: { ...orNull(time()), description: 'When the running window ends and the next begins.' },
  }),
  scope: oneOf('global'),
  total: count('How many entries the list has.'),
  boardVersion: count('Of the projection that answered; it never falls.'),
  asOf: time('The moment that the answer is of.'),
  rankStyle: oneOf('ordinal', 'competition'),
};

const movement = object({
  before: { ...orNull(count(undefined, 1)), description: 'The rank that the previous entry would have now.' },
  after: count(undefined, 1),
  delta: { type: ['integer', 'null'], description: 'before − after: positive when the player moved up.' },
  accuracy: oneOf('exact', 'estimated'),
  errorBound: count('How far off `before` and `after` can be, as of asOf.'),
  total: count(),
  asOf: time(),
});

const submissionResult = object({
  submissionId: string(),
  board: string(),
  playerId: string(),
  outcome: oneOf('created', 'improved', 'changed', 'unchanged'),
  replayed: {
    type: 'boolean',
    description: 'true: this submissionId was seen before, and this is the first answer again.',
  },
  score: { ...score, description: 'Of the named window, else of the first of the board.' },
  previousScore: orNull({ type: 'number' }),
  version: count('Grows with each change of the entry; not a count.'),
  windows: list(string()),
  rank: { anyOf: [ref('RankMovement'), { type: 'null' }], description: 'null when nothing can be said now.' },
});

const apiKey = { keyId: string(), name: string(), scopes: list(oneOf(...KEY_SCOPES)) };

/** `components.schemas`: the bodies of every request and answer. */
export const SCHEMAS: Record<string, JsonSchema> = {
  Problem: problem,
  BoardDefinition: schemaOfClass(BoardDefinitionDto, { optionalMayBeNull: true }),
  Board: board,
  BoardList: object({ boards: list(ref('Board')), next: { ...orNull(string()), description: 'The next cursor.' } }),
  Submission: SUBMISSION_SCHEMA,
  BatchedSubmission: BATCHED_SUBMISSION_SCHEMA,
  SubmissionBatch: object({
    submissions: {
      type: 'array',
      minItems: 1,
      maxItems: BATCH_MAX,
      description: 'Each a BatchedSubmission; one that is not well formed fails alone.',
    },
  }),
  RankMovement: movement,
  SubmissionResult: submissionResult,
  SubmissionResults: object({
    results: list({ anyOf: [ref('SubmissionResult'), object({ problem: ref('Problem') })] }),
  }),
  EntryOverride: object(
    { score: { type: 'number' }, columns: numbersByName, reason: { type: 'string', minLength: 1, maxLength: 500 } },
    ['columns'],
  ),
  EntryChange: object({ board: string(), playerId: string(), windows: list(string()), version: count() }),
  RankedEntry: object(entry),
  EntriesPage: object({
    ...envelope,
    entries: list(ref('RankedEntry')),
    next: { ...orNull(string()), description: 'The path of the page after this one.' },
    prev: orNull(string()),
  }),
  PlayerRank: object({
    ...envelope,
    entry: {
      anyOf: [
        object({ ...entry, percentile: { type: 'number', minimum: 0, maximum: 100 }, accuracy: oneOf('exact') }),
        { type: 'null' },
      ],
    },
    neighbours: list(ref('RankedEntry')),
  }),
  RankOfScore: object({ ...envelope, rank: count(undefined, 1), accuracy: oneOf('exact') }),
  PlayerLookup: object(
    {
      playerIds: { ...list(opaqueId), minItems: 1, maxItems: 500 },
      ranked: { type: 'boolean', description: 'Order the players among themselves.' },
    },
    ['ranked'],
  ),
  PlayersLookup: object({ ...envelope, entries: list({ anyOf: [ref('RankedEntry'), { type: 'null' }] }) }),
  NewApiKey: object({
    name: { type: 'string', minLength: 1, maxLength: 100 },
    scopes: { ...list(oneOf(...KEY_SCOPES)), minItems: 1 },
  }),
  CreatedApiKey: object({ ...apiKey, secret: string('Shown this once, and stored nowhere.') }),
  ApiKeyList: object({
    keys: list(object({ ...apiKey, createdAt: time(), revokedAt: orNull(time()) })),
    next: { ...orNull(string()), description: 'The next cursor.' },
  }),
  Liveness: object({ status: oneOf('ok') }),
  Readiness: object({ status: oneOf('ok', 'missing'), missing: list(string('What does not answer.')) }),
};
