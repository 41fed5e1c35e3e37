// Real: the built service in one process, with its PostgreSQL and Redis; its own document says where null may stand.
import { startStandalone, type RunningStandalone } from '@laddercast/testing';
import type { Problem } from '@laddercast/domain';
import type { Response } from 'supertest';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ServedDocument, type Document } from './openapi-document.js';
import { RestClient } from './rest-client.js';

type Json = Record<string, unknown>;
type Path = (string | number)[];

const run = {
  patch: '1',
  submissionId: 's1',
  playerId: 'ada',
  score: 5,
  operator: 'sum',
  columns: { moves: 1 },
  achievedAt: '2026-11-20T18:00:00.000Z',
  window: 'alltime',
  metadata: { a: 1 },
  sourceId: 'match',
  proof: 'https://replays.example/s1',
  verified: true,
};

const BOARD = {
  id: 'put',
  template: 'putting',
  title: 'Put',
  order: 'desc',
  operator: 'best',
  tiebreak: 'earliest',
  columns: [{ name: 'moves', order: 'asc' }],
  rankStyle: 'ordinal',
  dense: true,
  windows: [
    'alltime',
    { season: 's1', startsAt: '2026-01-01T00:00:00Z', endsAt: '2036-01-01T00:00:00Z', freezeAt: null },
  ],
  timeZone: 'UTC',
  scopes: ['global', 'guild', { attribute: 'country' }],
  sharding: { by: 'range', boundaries: [1, 2] },
  limits: {
    ...{ scoreMin: 0, scoreMax: 9, entriesMax: 100, attemptsMax: 3, entryLifetimeSeconds: 60 },
    columns: { moves: { min: 1, max: 500 } },
  },
  graceSeconds: 1,
  keepEndedSeconds: 1,
  snapshot: { top: 10, keepEveryMinutes: 5, keepDays: 1 },
  retention: { standingsDays: 1 },
  push: { intervalMs: 1000, top: 10 },
  history: { everyMinutes: 5, keepDays: 1 },
  change: true,
  guildAggregate: { kind: 'sum', k: null, onLeave: 'keep' },
  format: { kind: 'number', decimals: 0, unit: 'points' },
  submitters: 'players',
  submissionOperators: null,
  clientTime: true,
  visibility: 'public',
  runs: { keepDays: 30 },
  proof: 'everyone',
  counts: 'verified',
  entriesPer: 'player',
  entriesPerPlayerMax: null,
  integrity: {
    jump: { factor: 6, runsMin: 5 },
    rate: { runs: 30, seconds: 60 },
    cluster: { players: 10, minutes: 60 },
    rules: [],
    holdAbove: 9,
  },
  decay: null,
};

const { id: _id, template: _template, title: _title, ...OPTIONS } = BOARD;
const TEMPLATE = {
  id: 'many',
  definition: { title: 'Many', ...OPTIONS },
  boards: [{ board: 'many-1', title: 'One', overrides: OPTIONS }],
};

const POOL = {
  id: 'put',
  title: 'Put',
  algorithm: 'elo',
  parameters: { differenceMax: 400 },
  update: 'per-game',
  periods: null,
  sides: { min: 2, max: 2, teamMax: 1 },
  results: { disqualified: 'last', absent: 'unrated' },
  provisional: { games: 10, deviationAbove: null },
  rankable: { gamesMin: 10, deviationMax: null, inactiveDaysMax: 30 },
  onVoid: 'recompute',
  history: { keepDays: 90 },
  board: 'fed',
  boards: [{ board: 'fed-wins', value: 'wins', columns: {} }],
  visibility: 'public',
};

const GAME = {
  gameId: 'g1',
  pool: 'rated',
  playedAt: '2026-11-20T18:00:00.000Z',
  weight: 1,
  players: [
    { playerId: 'ada', place: 1, team: 'a', home: true, status: 'played', score: 3 },
    { playerId: 'bob', place: 2, team: 'b', home: false, status: 'played', score: 1 },
  ],
  metadata: { a: 1 },
};

/** Every operation with a body, and one with all of its fields. */
const COMPLETE: Record<string, { path: string; body: Json }> = {
  submitScore: { path: '/v1/boards/moves/scores', body: run },
  submitScores: { path: '/v1/scores', body: { submissions: [{ board: 'moves', ...run }] } },
  lookupPlayers: {
    path: '/v1/boards/moves/lookups',
    body: { playerIds: ['ada'], ranked: true, accuracy: 'exact' },
  },
  lookupRatings: { path: '/v1/pools/rated/lookups', body: { playerIds: ['ada'] } },
  predictGame: { path: '/v1/pools/rated/predictions', body: { sides: [['ada'], ['bob']] } },
  putBoard: { path: '/v1/boards/put', body: BOARD },
  putBoardTemplate: { path: '/v1/board-templates/many?dryRun', body: TEMPLATE },
  putPatch: {
    path: '/v1/patches/2?family=nulls',
    body: { family: 'nulls', publishedAt: '2026-02-01T00:00:00.000Z', sameAs: '1', title: 'Two' },
  },
  putPool: { path: '/v1/pools/put', body: POOL },
  recordGames: { path: '/v1/games', body: GAME },
  voidGame: { path: '/v1/pools/rated/games/g1?dryRun', body: { reason: 'cheated', mode: 'recompute' } },
  voidGames: {
    path: '/v1/pools/rated/voids?dryRun',
    body: {
      ...{ playerId: 'ada', from: '2026-01-01T00:00:00Z', to: '2026-02-01T00:00:00Z', gameIds: ['g1'] },
      ...{ reason: 'cheated', mode: 'keep' },
    },
  },
  correctGame: {
    path: '/v1/pools/rated/games/g1/result?dryRun',
    body: { players: GAME.players, reason: 'swapped' },
  },
  verifyRun: { path: '/v1/boards/moves/submissions/r1/verification', body: { verified: true, reason: 'looked at' } },
  setEntry: { path: '/v1/boards/moves/players/cy', body: { score: 4, columns: { moves: 1 }, reason: 'put right' } },
  closeWindow: { path: '/v1/admin/boards/moves/close-window?dryRun', body: { window: 'season:s1' } },
  restateWindow: { path: '/v1/admin/boards/ended/restate?window=season:s1', body: { reason: 'a test' } },
  proposeBoundaries: { path: '/v1/admin/boards/moves/boundaries?dryRun', body: { shards: 2, window: 'alltime' } },
  putPlayer: {
    path: '/v1/players/ada',
    body: {
      displayName: 'Ada',
      region: 'EU',
      avatarUrl: 'https://example.com/a.png',
      attributes: { country: 'GB' },
      listed: true,
    },
  },
  putSanction: {
    path: '/v1/admin/players/eve/sanction',
    body: {
      ...{ kind: 'ban', reason: 'cheated', publicReason: 'cheating', until: '2036-01-01T00:00:00Z' },
      boards: ['moves'],
    },
  },
  decideFlag: { path: '/v1/admin/flags/none', body: { decision: 'dismiss', reason: 'a test' } },
  putGuild: { path: '/v1/guilds/red', body: { displayName: 'The Reds' } },
  createApiKey: {
    path: '/v1/admin/api-keys',
    body: { name: 'x', scopes: ['read'], expiresAt: '2036-01-01T00:00:00Z' },
  },
  raiseLanes: { path: '/v1/admin/lanes', body: { lanes: 2 } },
  rotateApiKey: { path: 'set below', body: { overlapSeconds: 60, expiresAt: '2036-01-01T00:00:00Z' } },
};

let service: RunningStandalone;
let admin: RestClient;
let served: ServedDocument;

beforeAll(async () => {
  service = await startStandalone({ RATE_LIMIT_KEY_PER_SECOND: '0' });
  admin = new RestClient(service.url, service.adminKey);
  served = new ServedDocument((await admin.get('/openapi.json')).body as Document);
  const windows = ['alltime', { season: 's1', startsAt: '2026-01-01T00:00:00Z', endsAt: '2036-01-01T00:00:00Z' }];
  const boards = [{ board: 'put' }];
  const made = await admin.put('/v1/board-templates/putting', { definition: OPTIONS, boards });
  expect(made.status, made.text).toBe(201);
  const first = { family: 'nulls', publishedAt: '2026-01-01T00:00:00.000Z' };
  expect((await admin.put('/v1/patches/1', first)).status).toBe(201);
  expect((await admin.put('/v1/pools/rated', { algorithm: 'elo' })).status).toBe(201);
  for (const id of ['fed', 'fed-wins']) await admin.makeBoard(id, { order: 'desc', operator: 'latest' });
  await admin.makeBoard('moves', { columns: [{ name: 'moves', order: 'asc' }], windows, runs: { keepDays: 30 } });
  const submissions = [1, 2, 3].map((score) => ({
    board: 'moves',
    submissionId: `r${score}`,
    playerId: `p${score}`,
    score,
    columns: { moves: 1 },
  }));
  expect((await admin.post('/v1/scores', { submissions }, { Prefer: 'wait=10' })).status).toBe(200);
  const key = (await admin.post('/v1/admin/api-keys', { name: 'rotated', scopes: ['read'] })).body as { keyId: string };
  COMPLETE['rotateApiKey']!.path = `/v1/admin/api-keys/${key.keyId}/rotate`;
});
afterAll(() => service?.stop());

/** Where every field of a value stands. */
function pathsOf(value: unknown, at: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, field]) => {
    const path = [...at, Array.isArray(value) ? Number(name) : name];
    return [path, ...pathsOf(field, path)];
  });
}

/** The fields of a body; of one item or many, those of the one. */
function fieldsOf(schema: Json): string[] {
  const resolved = (schema['$ref'] ? served.resolve(schema['$ref'] as string) : schema) as Json;
  const [one] = (resolved['anyOf'] ?? []) as Json[];
  return one ? fieldsOf(one) : Object.keys(resolved['properties'] as Json);
}

/** The value with null in one place. */
function withNull(value: unknown, [name, ...rest]: Path): unknown {
  if (name === undefined) return null;
  if (Array.isArray(value)) return value.map((item: unknown, at) => (at === name ? withNull(item, rest) : item));
  return { ...(value as Json), [name]: withNull((value as Json)[name], rest) };
}

/** What is wrong with the submission of a batch, by the schema of one: that of the batch takes anything. */
function faultOfItem(sent: unknown): string | null {
  const { submissions } = sent as { submissions?: unknown[] };
  return submissions ? served.fault({ $ref: '#/components/schemas/BatchedSubmission' }, submissions[0]) : null;
}

/** The problem of an answer, or of the one submission in it. */
function problemOf({ status, body }: Response): Problem | null {
  const { results } = body as { results?: unknown };
  const [first] = (Array.isArray(results) ? results : []) as { problem?: Problem }[];
  return status >= 400 ? (body as Problem) : (first?.problem ?? null);
}

describe('null in a field of a body', () => {
  it('is tried in every field of every body that the document has', () => {
    const withBody = served.operations.filter(({ requestBody }) => requestBody !== undefined);
    expect(Object.keys(COMPLETE).sort()).toEqual(withBody.map(({ operationId }) => operationId).sort());
    for (const { operationId, requestBody } of withBody) {
      const { schema } = requestBody!.content['application/json']!;
      expect(Object.keys(COMPLETE[operationId]!.body).sort(), operationId).toEqual(fieldsOf(schema).sort());
      expect(served.fault(schema, COMPLETE[operationId]!.body), operationId).toBeNull();
    }
  });

  it.each(Object.keys(COMPLETE))(
    'is taken where the document allows it, and else refused by its field: %s',
    async (id) => {
      const { method, requestBody } = served.operation(id);
      const { schema } = requestBody!.content['application/json']!;
      const { path, body } = COMPLETE[id]!;
      for (const place of pathsOf(body)) {
        const sent = withNull(body, place);
        const answer = await admin.send(method, path, sent);
        const problem = problemOf(answer);
        const what = `${id} ${place.join('/')}: ${answer.text.slice(0, 300)}`;
        expect(answer.status, what).toBeLessThan(500);
        const pointer = `/${place.join('/')}`.replace(/^\/submissions\/0/, '');
        if (served.fault(schema, sent) === null && faultOfItem(sent) === null) {
          // Without it, other fields may not go together any more.
          expect(problem?.errors?.map((fault) => fault.pointer) ?? [], what).not.toContain(pointer);
          continue;
        }
        expect(problem?.code, what).toBe('VALIDATION_FAILED');
        for (const fault of problem!.errors!) expect(`${pointer}/`, what).toContain(`${fault.pointer}/`);
      }
    },
  );
});
