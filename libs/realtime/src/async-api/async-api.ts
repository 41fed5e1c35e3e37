import { ERRORS, PASSED_MAX } from '@laddercast/domain';
import { liveMessageSchemas } from './async-api-schemas.js';

/** An AsyncAPI 3.0 document, as plain JSON. */
export type AsyncApiDocument = Record<string, unknown>;

const SENT_BY_CLIENTS = ['subscribe', 'resume', 'unsubscribe', 'authenticate'] as const;
const SENT_BY_US = ['snapshot', 'delta', 'rating', 'error', 'window-closed', 'standings-revised', 'ping'] as const;

const SUMMARIES: Record<(typeof SENT_BY_CLIENTS)[number] | (typeof SENT_BY_US)[number], string> = {
  subscribe: 'Asks for a channel; answered by its snapshot, then by deltas, or by an error.',
  resume:
    'Asks for a channel from a seq on, after a reconnect or a gap; answered by what changed since (top, rating), or by a snapshot.',
  unsubscribe: 'Ends a subscription; an unknown id is no error.',
  authenticate: 'Renews the identity; only a refusal is answered.',
  snapshot: 'The channel whole.',
  delta:
    'What changed. Ignore it with seq ≤ yours; apply it if previousSeq ≤ yours < seq; else resume. Numbers grow, with gaps, and never repeat.',
  rating:
    "A game changed the player's rating. Games come in the order of seq, each once; where they are too many, or ratings were computed again, a snapshot comes instead, also with a lower seq.",
  error: 'What was wrong with a message, or why a subscription ended; the body is the problem that REST would answer.',
  'window-closed':
    'The window takes no more runs, and its final standings are written. The subscription stays on it; subscribe again by the running name (daily) to follow the next.',
  'standings-revised':
    'The final standings of the window have another edition: an act voided or restored a run, or took a player out of the ranks. Rows of the channel that differ follow as a delta.',
  ping: 'Comes every 5 s while the connection lives, so that a quiet list can be told from a dead connection. Lists are as their last frames said as of asOf; where the gateway cannot tell that (what ranks are kept in is away, ticks stopped) pings go on, and asOf stays.',
};

/** Describes `/v1/live` for machines (AsyncAPI 3.0): every message of both directions with the schema of its JSON. */
export function buildAsyncApi(version: string): AsyncApiDocument {
  const names = [...SENT_BY_CLIENTS, ...SENT_BY_US];
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Laddercast live',
      version,
      description:
        'Leaderboards that move: GET /v1/live as a WebSocket, one JSON object a text frame, subprotocol ladder.v1. ' +
        'Clients ignore types that they do not know. A client that follows the rule of the delta message holds, at every seq, exactly what a snapshot at that seq would show. ' +
        'Limits: a socket may send 20 messages a second and have 50 subscriptions (TOO_MANY_MESSAGES, SUBSCRIPTION_LIMIT). ' +
        'New sockets, and subscribe and resume, count as requests of the player, the key, or without identity the address: ' +
        'over the limit a socket is refused at the upgrade (429 with Retry-After), and a message is answered RATE_LIMITED with ' +
        'retryAfterSeconds; the socket stays, so ask again then. A player, a key or an address that has as many sockets as it may ' +
        'is told RATE_LIMITED, and closed with 1013. Where origins are listed (CORS_ORIGINS), pages of others are refused (403).',
    },
    defaultContentType: 'application/json',
    channels: { live: liveChannel(names) },
    operations: {
      receiveFromClients: operation('receive', SENT_BY_CLIENTS),
      sendToClients: operation('send', SENT_BY_US),
    },
    components: {
      messages: Object.fromEntries(
        names.map((name) => [
          name,
          { name, summary: SUMMARIES[name], payload: { $ref: `#/components/schemas/${name}` } },
        ]),
      ),
      schemas: liveMessageSchemas({
        passedMax: PASSED_MAX,
        codes: Object.keys(ERRORS),
      }),
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description:
            "An API key with the scope read or a player's JWT: in the Authorization header, as the subprotocol pair " +
            'ladder.v1, bearer.<jwt>, or as ?token=. Not needed for public boards. Without a valid one the socket closes with 4401.',
        },
      },
    },
  };
}

function liveChannel(names: readonly string[]): object {
  return {
    address: '/v1/live',
    title: 'Live lists, players, circles and ratings',
    messages: Object.fromEntries(names.map((name) => [name, { $ref: `#/components/messages/${name}` }])),
    bindings: {
      ws: {
        method: 'GET',
        query: {
          type: 'object',
          properties: { token: { type: 'string', description: 'The identity.' } },
          additionalProperties: false,
        },
        headers: {
          type: 'object',
          properties: { 'Sec-WebSocket-Protocol': { type: 'string', examples: ['ladder.v1'] } },
        },
      },
    },
  };
}

const operation = (action: 'send' | 'receive', names: readonly string[]): object => ({
  action,
  channel: { $ref: '#/channels/live' },
  messages: names.map((name) => ({ $ref: `#/channels/live/messages/${name}` })),
});
