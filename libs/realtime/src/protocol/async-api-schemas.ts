import { RANK_STYLES } from '@laddercast/domain';
import { AROUND_MAX, OFFSET_MAX, RANGE_MAX, SUBSCRIPTION_ID_LENGTH_MAX } from './client-messages.js';

type JsonSchema = Record<string, unknown>;

/** Limits that the schemas repeat from elsewhere. */
export interface SchemaLimits {
  boardPattern: string;
  limitMax: number;
  passedMax: number;
  codes: readonly string[];
}

const text = { type: 'string' };
const wholeNumber = { type: 'integer', minimum: 0 };
const rank = {
  type: 'integer',
  minimum: 1,
  description:
    '1-based, in the style of the snapshot. Rows of equal rank stand in the order of the tie-break: time, then the bytes ' +
    'of the player id. An ordinal gap is the place of a player who is not listed',
};
const time = { type: 'string', format: 'date-time', pattern: 'Z$', description: 'RFC 3339 UTC with milliseconds' };
const id = {
  type: 'string',
  minLength: 1,
  maxLength: SUBSCRIPTION_ID_LENGTH_MAX,
  description: "The subscription's id, unique on its socket",
};
const playerId = { type: 'string', minLength: 1, description: '1-128 bytes of UTF-8' };
const seq = { ...wholeNumber, description: 'Grows with every change, with gaps, and never repeats' };

const ref = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` });
const orNull = (schema: JsonSchema): JsonSchema => ({ oneOf: [schema, { type: 'null' }] });

function object(properties: Record<string, JsonSchema>, optional: readonly string[] = []): JsonSchema {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: 'object', properties, required, additionalProperties: false };
}

/** JSON schemas (2020-12) of every message of `/v1/live`, and of what they hold, by name. */
export function liveMessageSchemas(limits: SchemaLimits): Record<string, JsonSchema> {
  return { ...clientMessages(limits), ...serverMessages(), ...parts(limits) };
}

function clientMessages({ boardPattern, limitMax }: SchemaLimits): Record<string, JsonSchema> {
  const board = {
    rankStyle: {
      type: 'string',
      enum: RANK_STYLES,
      description: "Default: the board's; dense only on boards that keep it",
    },
    board: { type: 'string', pattern: boardPattern },
    window: {
      type: 'string',
      maxLength: 64,
      description:
        'alltime, daily, daily:2026-11-20, season:s1, rolling:24h, cron …, ended ones too; default as in reads',
    },
  };
  const list = { ...board, scope: { type: 'string', description: 'global, region:EU, guild:red, country:US …' } };
  const limit = { type: 'integer', minimum: 1, maximum: limitMax, description: 'Rounded up to 10, 25, 50 or 100' };
  const around = { type: 'integer', minimum: 0, maximum: AROUND_MAX, default: 5 };
  const offset = {
    type: 'integer',
    minimum: 0,
    maximum: OFFSET_MAX,
    description: 'The first row is that of rank offset + 1',
  };
  const places = { type: 'integer', minimum: 1, maximum: RANGE_MAX, default: 10, description: 'Not rounded' };
  const optional = ['rankStyle', 'window', 'scope', 'limit', 'around'];
  const channel = (name: string, fields: Record<string, JsonSchema>, description: string): JsonSchema => ({
    ...object({ channel: { const: name }, ...fields }, optional),
    description,
  });
  const channels = (head: Record<string, JsonSchema>): JsonSchema => ({
    oneOf: [
      channel('top', { ...head, ...list, limit }, 'The first places'),
      channel('player', { ...head, ...list, playerId, around }, 'A player and the rows around'),
      channel('range', { ...head, ...list, offset, limit: places }, 'Some places further down'),
      channel('friends', { ...head, ...list, playerId }, 'A player and its friends, ranked among themselves'),
      channel('guilds', { ...head, ...board, scope: { const: 'global' }, limit }, 'The first guilds'),
    ],
  });
  return {
    subscribe: channels({ type: { const: 'subscribe' }, id }),
    resume: channels({ type: { const: 'resume' }, id, seq }),
    unsubscribe: object({ type: { const: 'unsubscribe' }, id }),
    authenticate: object({ type: { const: 'authenticate' }, token: { type: 'string', minLength: 1 } }),
  };
}

function serverMessages(): Record<string, JsonSchema> {
  const state = {
    asOf: time,
    total: wholeNumber,
    accuracy: {
      const: 'estimated',
      description:
        'Ranks (of friends: those among everybody) and the total are estimated: while entries cross between shards by score, and ' +
        'of players beyond those that are kept exact, whose own row is shown alone. Absent: exact',
    },
    errorBound: { ...wholeNumber, description: 'How far off they are at most, for the list as of asOf' },
  };
  const ofEstimates = ['accuracy', 'errorBound'];
  return {
    snapshot: object(
      {
        type: { const: 'snapshot' },
        id,
        seq,
        ...state,
        rankStyle: {
          type: 'string',
          enum: RANK_STYLES,
          description: 'Of the ranks here and in the deltas that follow',
        },
        entries: { type: 'array', items: ref('Entry') },
      },
      ['rankStyle', ...ofEstimates],
    ),
    delta: object(
      {
        type: { const: 'delta' },
        id,
        seq,
        previousSeq: seq,
        ...state,
        changes: {
          type: 'array',
          items: { oneOf: [ref('EntryChange'), ref('ShiftChange'), ref('LeaveChange')] },
        },
      },
      ofEstimates,
    ),
    error: object({ type: { const: 'error' }, id, problem: ref('Problem') }, ['id']),
    'window-closed': object({ type: { const: 'window-closed' }, id, window: text }),
  };
}

function parts({ passedMax, codes }: SchemaLimits): Record<string, JsonSchema> {
  const entry = {
    rank,
    globalRank: { ...rank, description: 'The rank among everybody in the list, 1-based; in rows of friends alone' },
    playerId: { ...playerId, description: "1-128 bytes of UTF-8; of guilds the guild's id" },
    displayName: orNull(text),
    score: { type: 'number' },
    columns: { type: 'object', additionalProperties: { type: 'number' } },
    achievedAt: orNull(time),
    metadata: orNull({ type: 'object' }),
  };
  const fault = object({ pointer: text, message: text });
  return {
    Entry: object(entry, ['globalRank']),
    EntryChange: {
      ...object(
        {
          ...entry,
          previousRank: orNull(rank),
          previousScore: orNull({ type: 'number' }),
          passed: { type: 'array', items: playerId, maxItems: passedMax },
        },
        ['globalRank'],
      ),
      description:
        'A row that is new or changed (of friends: also one whose globalRank changed): whole, as in the snapshot',
    },
    ShiftChange: { ...object({ playerId, rank, previousRank: rank }), description: 'A row that others shifted' },
    LeaveChange: {
      ...object({ playerId, rank: { type: 'null' }, previousRank: rank }),
      description: 'A row that left the list',
    },
    Problem: {
      type: 'object',
      description: 'RFC 9457',
      properties: {
        type: text,
        title: text,
        status: { type: 'integer', minimum: 400, maximum: 599 },
        detail: text,
        code: { type: 'string', enum: codes },
        instance: text,
        errors: { type: 'array', items: fault },
      },
      required: ['type', 'title', 'status', 'detail', 'code'],
    },
  };
}
