import { OPAQUE_ID_SCHEMA, propertiesOf, schemaOfClass, type JsonSchema } from '@laddercast/commands';
import {
  CLEAN_TEXT_PATTERN,
  ERRORS,
  OPAQUE_ID_PATTERN,
  WINDOW_ID_LENGTH_MAX,
  type ErrorCode,
} from '@laddercast/domain';
import { namedId, ref } from './schema-parts.js';

/** A parameter, header or answer of the document, as plain JSON. */
type Part = Record<string, unknown>;

/** What a success looks like. */
export interface AnswerDescription {
  description: string;
  /** The name of its schema; without one the answer has no body. */
  schema?: string;
  /** Instead of JSON: an example of each media type. */
  text?: Record<string, string>;
  /** Names of `components.headers` that it always carries. */
  headers?: readonly (keyof typeof HEADERS)[];
  example?: unknown;
}

/** What the document says of one operation, beside its address. */
export interface OperationDescription {
  tag: 'Scores' | 'Runs' | 'Ranks' | 'Boards' | 'Players' | 'Circles' | 'Ratings' | 'Administration' | 'Health';
  summary: string;
  description?: string;
  /** Who may call it. `anyone`: no identity is looked at; `reader`: public boards need none. */
  callers: 'anyone' | 'reader' | 'identified';
  /** The class that validates the query string. */
  query?: new () => object;
  /** What parameters of its query string are, where they are not what they are elsewhere. */
  parameters?: Record<string, string>;
  headers?: readonly (keyof typeof REQUEST_HEADERS)[];
  /** `isOptional`: it may be left out. */
  body?: { schema: string; examples: Record<string, unknown>; isOptional?: true };
  answers: Record<number, AnswerDescription>;
  /** What it can be refused for, beside what every operation can ({@link COMMON_ERRORS}). */
  errors: readonly ErrorCode[];
  /** Those that have another status here than elsewhere. */
  errorsAt?: Readonly<Record<number, readonly ErrorCode[]>>;
}

/** Every operation that looks at an identity can answer these. */
const COMMON_ERRORS: readonly ErrorCode[] = [
  'VALIDATION_FAILED',
  'UNAUTHENTICATED',
  'IDENTITY_UNAVAILABLE',
  'LEDGER_UNAVAILABLE',
  'INTERNAL',
];
/** And every operation at all these. */
const LIMIT_ERRORS: readonly ErrorCode[] = ['RATE_LIMITED', 'URI_TOO_LONG', 'HEADERS_TOO_LARGE'];
const BODY_ERRORS: readonly ErrorCode[] = ['MALFORMED_JSON', 'PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'];

export const HEADERS = {
  ETag: { description: 'Changes with what was answered; for If-None-Match and If-Match.', schema: { type: 'string' } },
  'Cache-Control': {
    description: 'public, max-age only for anonymous reads of public boards with ticks of a second or more.',
    schema: { type: 'string' },
  },
  Vary: { schema: { type: 'string' } },
  'Content-Disposition': { description: 'The name of the file.', schema: { type: 'string' } },
  'RateLimit-Policy': {
    description: 'The limit that the caller counts by: q requests in w seconds, over all processes.',
    schema: { type: 'string' },
    example: '"player";q=200;w=4',
  },
  RateLimit: {
    description: 'About how many are left (r), and in how many seconds (t) all of them are again.',
    schema: { type: 'string' },
    example: '"player";r=187;t=1',
  },
  'Retry-After': { description: 'Seconds until the same request may succeed.', schema: { type: 'string' } },
  'WWW-Authenticate': { schema: { type: 'string', enum: ['Bearer'] } },
} satisfies Record<string, Part>;

const REQUEST_HEADERS = {
  'Idempotency-Key': {
    description: 'The submissionId, when the body has none; not both and different. 1-128 characters of ASCII.',
    schema: { type: 'string', minLength: 1, maxLength: 128, pattern: OPAQUE_ID_PATTERN },
    example: 'b1c0ffee',
  },
  Prefer: {
    description:
      '`wait=N`: wait up to N seconds (at most 10) until this submission is projected in the list that `rank` is of, for an ' +
      'exact rank.',
    schema: { type: 'string' },
    example: 'wait=1',
  },
  'Prefer: wait for ratings': {
    name: 'Prefer',
    description:
      '`wait=N`: wait up to N seconds (at most 10) until the games are rated, and answer what they did; `rated` is null ' +
      'where that takes longer.',
    schema: { type: 'string' },
    example: 'wait=1',
  },
  'If-Match': { description: 'Only if it still has this ETag; else 412.', schema: { type: 'string' } },
  'If-None-Match: *': {
    name: 'If-None-Match',
    description: '`*`: only if there is none of that id yet; else 412.',
    schema: { type: 'string', enum: ['*'] },
  },
  'If-None-Match': { description: 'Answer 304 if the ETag is still this one.', schema: { type: 'string' } },
} satisfies Record<string, Part>;

const PATH_PARAMETERS: Record<string, Part> = {
  board: { description: 'The id of the board.', schema: namedId, example: 'blitz' },
  patch: { description: 'The id of the patch in its family.', schema: namedId, example: '1.30' },
  template: { description: 'The id of the template.', schema: namedId, example: 'eu4' },
  pool: { description: 'The id of the rating pool.', schema: namedId, example: 'blitz' },
  game: { description: 'The id of a game: percent-encoded UTF-8.', schema: OPAQUE_ID_SCHEMA, example: 'g-77' },
  player: {
    description: "Percent-encoded UTF-8; `me` is the player of the caller's token.",
    schema: { ...OPAQUE_ID_SCHEMA, pattern: CLEAN_TEXT_PATTERN },
    example: 'São Tomé',
  },
  other: { description: 'Another player: percent-encoded UTF-8.', schema: OPAQUE_ID_SCHEMA, example: 'bob' },
  circle: { description: 'The id of a named circle.', schema: namedId, example: 'class-of-2026' },
  guild: { description: 'The id of a guild: percent-encoded UTF-8.', schema: OPAQUE_ID_SCHEMA, example: 'red' },
  submission: { description: 'The id of a run: percent-encoded UTF-8.', schema: OPAQUE_ID_SCHEMA, example: 'b1c0ffee' },
  window: {
    description: 'The id of the window, or a name such as `daily`.',
    schema: { type: 'string', minLength: 1, maxLength: WINDOW_ID_LENGTH_MAX },
    example: 'daily:2026-11-19',
  },
  flag: {
    description: 'The id of a flag.',
    schema: OPAQUE_ID_SCHEMA,
    example: 'x0T5Zk3mJrYw1vQeUo8b2A',
  },
  key: { description: 'The keyId of an API key.', schema: { type: 'string', minLength: 1, maxLength: 128 } },
  letter: { description: 'The id of a dead letter.', schema: { type: 'string', minLength: 1 }, example: '17' },
};

const QUERY_PARAMETERS: Record<string, string> = {
  window: '`daily` is the running one, `daily:2026-11-20` that one. Default: alltime, or the first of the board.',
  scope: '`global`, or one of the board: `region:EU`, `guild:red`, `country:US`.',
  asOf: 'RFC 3339: as the board stood then, where it keeps that (`snapshot.keepEveryMinutes`); else 410 SNAPSHOT_GONE.',
  edition:
    'The final standings of an ended window as that edition: 1 is the first. Those before the last are for keys with the scope moderate.',
  dryRun: 'Alone or `true`: only says what would be written.',
  rankStyle: 'ordinal 1234, competition 1224, dense 1223 (on boards that keep it). Default: what the board says.',
  minVersion: 'A boardVersion that was seen: nothing older is answered; waits up to 1 s, then 503 PROJECTION_BEHIND.',
  limit: 'Default 50.',
  offset: '0-based.',
  cursor: 'The `next` of the page before; of entries and guilds `start`, and then the paths in `next` and `prev`.',
  aroundRank: 'The page with this place in its middle: 1 is the best entry, whatever the rankStyle.',
  aroundScore: 'The page with the first entry in its middle that is not better than this JSON number.',
  aroundPlayer: 'The page with this player in its middle, of guilds with this guild; `me` is the player of the token.',
  around: 'Neighbours above and below. Default 5.',
  above: 'Neighbours above, instead of around.',
  below: 'Neighbours below, instead of around.',
  runs: '`1`: on boards with decay, with the runs of the player that stand or can stand again.',
  fallback: '`last`: for a player without entry, the end of the list instead of 404.',
  accuracy: 'exact: counted; estimated: by the sketch of the list, with an `errorBound`.',
  score: 'A JSON number.',
  patch: 'On boards with decay: of which patch the run is; without it the score is taken as a taxed one.',
  columns: '`columns.moves=31`: one parameter for each extra column; those left out are taken as the worst there are.',
  at: 'Percentiles, separated by commas: `50,90,99`.',
  state: 'Only windows in this state.',
  player: 'Only games of this player; `me` is the player of the token.',
  fields: '`player`: rows show the face of their player, too: avatar, region, attributes, as they are now.',
  format: 'Default csv.',
  sourceId: 'Only what the client named it by elsewhere is this.',
  reason: 'Why it is done: for the audit log, and for other moderators.',
  guard: '`formulas`, of CSV: text that a spreadsheet would take for a formula gets a single quote before it.',
  family: 'The family of patches; needed where two families have a patch of that id.',
  group: 'Only those of this consumer group.',
  from: 'RFC 3339: nothing before it.',
  to: 'RFC 3339: nothing from it on.',
  actor: 'Only acts of this API key: its keyId.',
  action: 'Only this act: `board.reset`.',
  subject: 'Only what was done to this: a board, a key, `board/player`, `player:ada`.',
};

/** What the text of a query parameter has to be, where that is looked at after the class. */
const QUERY_FORMATS: Record<string, JsonSchema> = {
  asOf: { format: 'timestamp' },
  from: { format: 'timestamp' },
  to: { format: 'timestamp' },
  aroundPlayer: { ...OPAQUE_ID_SCHEMA, pattern: CLEAN_TEXT_PATTERN },
  player: { ...OPAQUE_ID_SCHEMA, pattern: CLEAN_TEXT_PATTERN },
  family: namedId,
  cursor: { format: 'cursor' },
};

/** The OpenAPI operation of a description. */
export function describeOperation(operationId: string, path: string, about: OperationDescription): Part {
  const errors = [
    ...(about.callers === 'anyone' ? [] : COMMON_ERRORS),
    ...LIMIT_ERRORS,
    ...(about.body ? BODY_ERRORS : []),
    ...(namesPlayer(path, about) ? (['NOT_A_PLAYER'] as const) : []),
    ...about.errors,
  ];
  return {
    operationId,
    tags: [about.tag],
    summary: about.summary,
    ...(about.description ? { description: about.description } : {}),
    ...securityOf(about.callers),
    parameters: [...pathParameters(path), ...queryParameters(about), ...headerParameters(about.headers ?? [])],
    ...(about.body ? { requestBody: requestBody(about.body) } : {}),
    responses: {
      ...Object.fromEntries(Object.entries(about.answers).map(([status, answer]) => [status, success(answer)])),
      ...problemsByStatus([
        ...errors.map((code): [ErrorCode, number] => [code, ERRORS[code].status]),
        ...Object.entries(about.errorsAt ?? {}).flatMap(([status, codes]) =>
          codes.map((code): [ErrorCode, number] => [code, Number(status)]),
        ),
      ]),
    },
  };
}

/** Where `me` may stand for a player. */
const namesPlayer = (path: string, { query }: OperationDescription): boolean =>
  path.includes('{player}') ||
  (query !== undefined && ['aroundPlayer', 'player'].some((name) => name in propertiesOf(query)));

function securityOf(callers: OperationDescription['callers']): Part {
  const bearer = { bearer: [] };
  return { security: { anyone: [], reader: [{}, bearer], identified: [bearer] }[callers] };
}

const pathParameters = (path: string): Part[] =>
  [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    ...PATH_PARAMETERS[name!],
  }));

function queryParameters({ query, parameters = {} }: OperationDescription): Part[] {
  if (!query) return [];
  const schema = schemaOfClass(query, { optionalMayBeNull: false });
  const required = (schema['required'] ?? []) as string[];
  return Object.entries(schema['properties'] as Record<string, JsonSchema>).map(([name, parameter]) => {
    const description = parameters[name] ?? QUERY_PARAMETERS[name];
    if (!description) throw new Error(`?${name} has no description in QUERY_PARAMETERS.`);
    // Lists are one parameter, separated by commas.
    const form = parameter['type'] === 'array' ? { style: 'form', explode: false } : {};
    return {
      name,
      in: 'query',
      required: required.includes(name),
      description,
      ...form,
      schema: 'enum' in parameter ? parameter : { ...parameter, ...QUERY_FORMATS[name] },
    };
  });
}

const headerParameters = (names: readonly (keyof typeof REQUEST_HEADERS)[]): Part[] =>
  names.map((name) => ({ name, in: 'header', required: false, ...REQUEST_HEADERS[name] }));

function requestBody({ schema, examples, isOptional }: NonNullable<OperationDescription['body']>): Part {
  const named = Object.fromEntries(Object.entries(examples).map(([name, value]) => [name, { value }]));
  return { required: isOptional !== true, content: { 'application/json': { schema: ref(schema), examples: named } } };
}

const headerRefs = (names: readonly (keyof typeof HEADERS)[]): Part =>
  names.length === 0
    ? {}
    : { headers: Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }])) };

function success({ description, schema, text, headers = [], example }: AnswerDescription): Part {
  if (text) {
    const content = Object.entries(text).map(([type, one]) => [type, { schema: { type: 'string' }, example: one }]);
    return { description, ...headerRefs(headers), content: Object.fromEntries(content) as Part };
  }
  const content = {
    'application/json': { schema: schema && ref(schema), ...(example === undefined ? {} : { example }) },
  };
  return { description, ...headerRefs(headers), ...(schema ? { content } : {}) };
}

const HEADERS_OF_PROBLEMS: Record<number, readonly (keyof typeof HEADERS)[]> = {
  401: ['WWW-Authenticate'],
  429: ['Retry-After', 'RateLimit', 'RateLimit-Policy'],
  503: ['Retry-After'],
};

/** One answer for each status, with the codes that stand behind it. */
function problemsByStatus(errors: readonly [ErrorCode, number][]): Record<string, Part> {
  const statuses = [...new Set(errors.map(([, status]) => status))];
  return Object.fromEntries(
    statuses.map((status) => {
      const those = errors.filter(([, of]) => of === status).map(([code]) => code);
      const description = those.map((code) => `${code}: ${ERRORS[code].title}.`).join(' ');
      const schema = {
        ...ref('Problem'),
        type: 'object',
        properties: { status: { const: status }, code: { enum: those } },
      };
      const headers = headerRefs(HEADERS_OF_PROBLEMS[status] ?? []);
      return [status, { description, ...headers, content: { 'application/problem+json': { schema } } }];
    }),
  );
}
