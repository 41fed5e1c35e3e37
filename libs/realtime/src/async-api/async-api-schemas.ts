import { propertiesOf, schemaOfClass, type JsonSchema } from '@laddercast/commands';
import { RANK_STYLES, TIEBREAKS } from '@laddercast/domain';
import { CHANNEL_MESSAGES, CHANNELS, WATCHES } from '../channels/channel-table.js';
import { AuthenticateMessage, IdentifiedMessage } from '../protocol/client-messages.js';

/** Limits that the schemas repeat from elsewhere. */
export interface SchemaLimits {
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
const id = propertiesOf(IdentifiedMessage)['id']!;
const playerId = propertiesOf(CHANNELS['player']!.message)['playerId']!;
const entryId: JsonSchema = {
  type: 'string',
  description: 'The id of the submission, on boards where each run is an entry: with the player it names the row',
};
const seq = { ...wholeNumber, description: 'Grows with every change, with gaps, and never repeats' };

const ref = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` });
const orNull = (schema: JsonSchema): JsonSchema => ({ oneOf: [schema, { type: 'null' }] });

function object(properties: Record<string, JsonSchema>, optional: readonly string[] = []): JsonSchema {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: 'object', properties, required, additionalProperties: false };
}

/** JSON schemas (2020-12) of every message of `/v1/live` and its parts, by name. */
export function liveMessageSchemas(limits: SchemaLimits): Record<string, JsonSchema> {
  return { ...clientMessages(), ...serverMessages(), ...parts(limits) };
}

function clientMessages(): Record<string, JsonSchema> {
  const channels = (type: 'subscribe' | 'resume'): JsonSchema => ({
    oneOf: [...CHANNEL_MESSAGES[type]].map(([channel, message]) => ({
      ...messageSchema(message, { type, channel }),
      description: WATCHES[channel]!.description,
    })),
  });
  return {
    subscribe: channels('subscribe'),
    resume: channels('resume'),
    unsubscribe: messageSchema(IdentifiedMessage, { type: 'unsubscribe' }),
    authenticate: messageSchema(AuthenticateMessage, { type: 'authenticate' }),
  };
}

/** The schema of a message's class, with its defaults and the fields that name the message. */
function messageSchema(message: new () => object, names: Record<string, string>): JsonSchema {
  const properties = propertiesOf(message);
  for (const [name, value] of Object.entries(new message())) properties[name] = { ...properties[name], default: value };
  for (const [name, value] of Object.entries(names)) properties[name] = { const: value };
  return { ...schemaOfClass(message), properties };
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
  const number = { type: 'number' };
  const flag = { type: 'boolean' };
  const ofRating = object({
    type: { const: 'snapshot' },
    id,
    seq: { ...wholeNumber, description: 'Of the last game that changed it; 0 without one' },
    asOf: time,
    rating: {
      ...orNull(
        object({
          ...{ rating: number, deviation: orNull(number), conservative: number },
          ...{ games: wholeNumber, wins: wholeNumber, draws: wholeNumber, losses: wholeNumber },
          ...{ provisional: flag, rankable: flag },
        }),
      ),
      description: 'null before the first rated game, and of a player who is not listed',
    },
  });
  return {
    snapshot: { anyOf: [snapshotOfList(state, ofEstimates), ofRating] },
    rating: object({
      type: { const: 'rating' },
      id,
      seq: { ...wholeNumber, description: "The game's position in its pool: grows, with gaps, and never repeats" },
      gameId: text,
      before: number,
      after: number,
      delta: { ...number, description: 'after − before' },
      asOf: time,
    }),
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
    'standings-revised': object({
      type: { const: 'standings-revised' },
      id,
      window: text,
      edition: { type: 'integer', minimum: 2, description: 'The number of the edition that reads answer from now on.' },
    }),
    ping: object({
      type: { const: 'ping' },
      asOf: {
        ...time,
        description:
          'As of when the lists that this socket follows are as it was told; never falls while they stay the same lists',
      },
    }),
  };
}

/** The snapshot of a list's channel. */
const snapshotOfList = (state: Record<string, JsonSchema>, optional: readonly string[]): JsonSchema =>
  object(
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
      tiebreak: {
        type: 'string',
        enum: TIEBREAKS,
        description:
          'Of the rows of equal rank here and in the deltas that follow: which achievedAt stands first; none: times do not count, ' +
          'the bytes of the player id alone',
      },
      entries: { type: 'array', items: ref('Entry') },
    },
    ['rankStyle', 'tiebreak', ...optional],
  );

function parts({ passedMax, codes }: SchemaLimits): Record<string, JsonSchema> {
  const entry = {
    rank,
    globalRank: { ...rank, description: 'The rank among everybody in the list, 1-based; in rows of friends alone' },
    playerId: { ...playerId, description: "1-128 bytes of UTF-8; of guilds the guild's id" },
    entryId,
    displayName: orNull(text),
    player: {
      ...object({
        avatarUrl: orNull(text),
        region: orNull(text),
        attributes: { type: 'object', additionalProperties: text },
      }),
      description:
        'With fields: ["player"], of players: their face as it is now. A row whose face changed comes among the changes',
    },
    score: { type: 'number' },
    columns: { type: 'object', additionalProperties: { type: 'number' } },
    achievedAt: orNull(time),
    metadata: orNull({ type: 'object' }),
    verified: {
      type: 'boolean',
      description:
        'On boards that keep runs, of players: whether somebody has looked at the run that the entry rests on; false of sums, ' +
        'and of what is no longer kept as a run',
    },
    proof: {
      ...orNull({ type: 'string' }),
      description: 'Of that run, an https URL: on boards with `proof: everyone`',
    },
    rawScore: { type: 'number', description: 'On boards with decay: the score without its tax' },
    patch: { type: 'string', description: 'On boards with decay: the patch as which the run counts' },
    patchesBehind: { ...wholeNumber, description: 'On boards with decay: how many patches that is behind the latest' },
  };
  const optional = ['globalRank', 'entryId', 'player', 'verified', 'proof', 'rawScore', 'patch', 'patchesBehind'];
  const fault = object({ pointer: text, message: text });
  return {
    Entry: object(entry, optional),
    EntryChange: {
      ...object(
        {
          ...entry,
          previousRank: orNull(rank),
          previousScore: orNull({ type: 'number' }),
          passed: { type: 'array', items: playerId, maxItems: passedMax },
        },
        optional,
      ),
      description:
        'A row that is new or changed (of friends: also one whose globalRank changed): whole, as in the snapshot',
    },
    ShiftChange: {
      ...object({ playerId, entryId, rank, previousRank: rank }, ['entryId']),
      description: 'A row that others shifted',
    },
    LeaveChange: {
      ...object({ playerId, entryId, rank: { type: 'null' }, previousRank: rank }, ['entryId']),
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
