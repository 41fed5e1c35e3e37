// Real: the built service in one process, with its PostgreSQL and Redis. Every way to read that its documents name is asked
// before a player was there, while it is, and under each sanction: what nobody put into the tables below fails.
import { isDeepStrictEqual } from 'node:util';
import { startStandalone, type RunningStandalone } from '@laddercast/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LiveClient } from '../../libs/realtime/test/follower.js';
import { ServedDocument, type Document } from './openapi-document.js';
import { playerToken, RestClient } from './rest-client.js';

type Json = Record<string, unknown>;

interface Answer {
  status: number;
  body: unknown;
}

/**
 * What a way to read shows of a sanctioned player.
 * - world: to others as if it were not there; to itself, shadowed, as if nothing were
 * - others: to everybody as if it were not there, since that is not simulated
 * - graph: whom players name as theirs, and games that were played: that stays, ranked or not
 * - none: no players, or none of this board
 * - refused: for keys with more rights than a player has
 */
type Shows = 'world' | 'others' | 'graph' | 'none' | 'refused';

const OTHERS = ['bob', 'cy', 'dan'];
const SEASON = { season: 's1', startsAt: '2020-01-01T00:00:00Z', endsAt: '2090-01-01T00:00:00Z' };
/** A revision is there within 60 s. */
const REVISED = { timeout: 60_000, interval: 250 };

/** What is in braces is put in; the reader is the player itself, or somebody else. */
const READS: Record<string, { shows: Shows; path: string; body?: object }> = {
  getEntries: { shows: 'world', path: '/v1/boards/{board}/entries?window={window}&limit=50&fields=player' },
  getPlayer: { shows: 'world', path: '/v1/boards/{board}/players/{ada}?window={window}&above=2&below=2&fields=player' },
  getPlayerHistory: { shows: 'world', path: '/v1/boards/recorded/players/{ada}/history' },
  getRankOfScore: { shows: 'world', path: '/v1/boards/{board}/rank?score=1&window={window}' },
  lookupPlayers: {
    shows: 'world',
    path: '/v1/boards/{board}/lookups?window={window}&fields=player',
    body: { playerIds: ['{ada}', 'bob'] },
  },
  exportWindow: { shows: 'world', path: '/v1/boards/{board}/export?format=ndjson&window={window}' },
  getFriendsBoard: { shows: 'world', path: '/v1/boards/{board}/friends/{reader}?window={window}&fields=player' },
  getFollowsBoard: { shows: 'world', path: '/v1/boards/{board}/follows/{reader}?window={window}' },
  getCircleBoard: { shows: 'world', path: '/v1/boards/{board}/circles/{board}?window={window}&fields=player' },
  getStandings: { shows: 'world', path: '/v1/players/{ada}/standings?window=alltime' },
  getPlayerProfile: { shows: 'world', path: '/v1/players/{ada}' },
  listRunsOfPlayer: { shows: 'world', path: '/v1/boards/{board}/players/{ada}/runs?window={window}' },
  getGuildMembers: { shows: 'others', path: '/v1/guilds/red/members?fields=player' },
  getGuilds: { shows: 'others', path: '/v1/boards/recorded/guilds' },
  getPercentiles: { shows: 'others', path: '/v1/boards/{board}/percentiles?at=0,50,100&window={window}' },
  getFriends: { shows: 'graph', path: '/v1/players/{reader}/friends' },
  getFollows: { shows: 'graph', path: '/v1/players/{reader}/follows' },
  getCircleMembers: { shows: 'graph', path: '/v1/circles/{board}/members' },
  getRating: { shows: 'world', path: '/v1/pools/rated/players/{ada}' },
  getRatingHistory: { shows: 'world', path: '/v1/pools/rated/players/{ada}/history' },
  listGames: { shows: 'graph', path: '/v1/pools/rated/games' },
  getGame: { shows: 'graph', path: '/v1/pools/rated/games/g-{board}' },
  getRatingDistribution: { shows: 'none', path: '/v1/pools/rated/distribution' },
  listPools: { shows: 'none', path: '/v1/pools' },
  getPool: { shows: 'none', path: '/v1/pools/rated' },
  listPatches: { shows: 'none', path: '/v1/patches?family=eu4' },
  getPatch: { shows: 'none', path: '/v1/patches/1.28?family=eu4' },
  listBoards: { shows: 'none', path: '/v1/boards' },
  getBoard: { shows: 'none', path: '/v1/boards/{board}' },
  getWindows: { shows: 'none', path: '/v1/boards/{board}/windows' },
  getEditions: { shows: 'none', path: '/v1/boards/{board}/windows/season:s1/editions' },
  getGuild: { shows: 'none', path: '/v1/guilds/red' },
  healthLive: { shows: 'none', path: '/health/live' },
  healthReady: { shows: 'none', path: '/health/ready' },
  listBoardTemplates: { shows: 'refused', path: '/v1/board-templates' },
  getBoardTemplate: { shows: 'refused', path: '/v1/board-templates/many' },
  listRuns: { shows: 'refused', path: '/v1/boards/{board}/runs' },
  listFlags: { shows: 'refused', path: '/v1/admin/flags' },
  listSanctions: { shows: 'refused', path: '/v1/admin/players/{ada}/sanctions' },
  listAudit: { shows: 'refused', path: '/v1/admin/audit?subject=player:{ada}' },
  listApiKeys: { shows: 'refused', path: '/v1/admin/api-keys' },
  listDeadLetters: { shows: 'refused', path: '/v1/admin/dead-letters' },
  listSettlementFailures: { shows: 'refused', path: '/v1/admin/settlement-failures' },
  getRebuild: { shows: 'refused', path: '/v1/admin/rebuild' },
  getLanes: { shows: 'refused', path: '/v1/admin/lanes' },
  getBoardLayout: { shows: 'refused', path: '/v1/admin/boards/{board}/layout' },
  getReconciliation: { shows: 'refused', path: '/v1/admin/boards/{board}/reconcile' },
};

const CHANNELS: Record<string, { shows: Shows; asked: object }> = {
  top: { shows: 'world', asked: { limit: 10, fields: ['player'] } },
  range: { shows: 'world', asked: { offset: 0, limit: 50 } },
  player: { shows: 'world', asked: { playerId: '{ada}', around: 5 } },
  friends: { shows: 'world', asked: { playerId: '{reader}', fields: ['player'] } },
  guilds: { shows: 'none', asked: {} },
  rating: { shows: 'graph', asked: {} },
};

/**
 * Answers of two moments are compared without what tells of the moment, and of whether the window has ended; and without names and faces,
 * which a row does without where they cannot be looked up in time.
 */
const VOLATILE = new Set([
  ...[
    'asOf',
    'boardVersion',
    'requestId',
    'window',
    'at',
    'version',
    'players',
    'accuracy',
    'errorBound',
    'scoreToBeat',
    'displayName',
    'player',
  ],
]);

function stable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(stable);
  if (value === null || typeof value !== 'object') return value;
  const fields = Object.entries(value).filter(([name]) => !VOLATILE.has(name));
  return Object.fromEntries(fields.map(([name, inner]) => [name, stable(inner)]));
}

describe('every way to read', () => {
  let service: RunningStandalone;
  let admin: RestClient;
  let bobs: string;
  /** Of the player that is sanctioned: another on each board. */
  let ada: string;
  let adas: string;
  let document: ServedDocument;

  beforeAll(async () => {
    service = await startStandalone({ RATE_LIMIT_PLAYER_PER_SECOND: '0', RATE_LIMIT_KEY_PER_SECOND: '0' });
    admin = new RestClient(service.url, service.adminKey);
    bobs = await playerToken(service.jwtSecret, 'bob');
    const served = await admin.get('/openapi.json');
    expect(served.status, served.text).toBe(200);
    document = new ServedDocument(served.body as Document);
  });
  afterAll(() => service?.stop());

  const inPlace = (text: string, board: string, who: 'ada' | 'bob'): string =>
    text
      .replaceAll('{board}', board)
      .replaceAll('{ada}', ada)
      .replaceAll('{reader}', who === 'ada' ? ada : 'bob');
  const ok = async (answer: Promise<{ status: number; text: string }>): Promise<void> => {
    const { status, text } = await answer;
    expect([200, 201, 202, 204], text).toContain(status);
  };

  it('that the documents name is in the tables', async () => {
    const named = document.operations.filter(({ method }) => method === 'GET').map(({ operationId }) => operationId);
    const ofTable = Object.keys(READS).filter((one) => !READS[one]!.body);
    expect(named.sort()).toEqual(ofTable.sort());
    const channels = new Set<string>();
    const gather = (value: unknown): void => {
      if (value === null || typeof value !== 'object') return;
      const { channel } = value as { channel?: { const?: string } };
      if (typeof channel?.const === 'string') channels.add(channel.const);
      Object.values(value).forEach(gather);
    };
    gather((await admin.get('/asyncapi.json')).body);
    expect([...channels].sort()).toEqual(Object.keys(CHANNELS).sort());
  });

  /** What somebody is answered, by the name of the operation and the window. */
  const answers = async (board: string, who: 'ada' | 'bob', shows: Shows[]): Promise<Map<string, Answer>> => {
    const client = admin.as(who === 'ada' ? adas : bobs);
    const found = new Map<string, Answer>();
    for (const [id, read] of Object.entries(READS)) {
      if (!shows.includes(read.shows)) continue;
      for (const window of read.path.includes('{window}') ? ['alltime', 'season:s1'] : ['']) {
        const path = inPlace(read.path, board, who).replace('{window}', window);
        const asked = inPlace(JSON.stringify(read.body ?? null), board, who);
        const answer = read.body ? await client.post(path, JSON.parse(asked)) : await client.get(path);
        expect(answer.status, `${id}: ${answer.text}`).not.toBe(500);
        const lines = id === 'exportWindow' ? answer.text.split('\n').filter(Boolean) : null;
        const body = lines ? lines.map((line) => JSON.parse(line) as Json) : (answer.body as Json);
        if (who === 'ada' && shows.includes('world'))
          expect(answer.text, `${id} tells of it`).not.toMatch(/shadow|unranked/i);
        found.set(`${id} ${window}`, { status: answer.status, body: stable(body) });
      }
    }
    return found;
  };

  /** As {@link answers}, once nothing of them is to come again for. */
  const whole = async (...asked: Parameters<typeof answers>): Promise<Map<string, Answer>> => {
    let found = new Map<string, Answer>();
    const unread = async (): Promise<string[]> => {
      found = await answers(...asked);
      return [...found].filter(([, { status }]) => status > 500).map(([id]) => id);
    };
    await expect.poll(unread, REVISED).toEqual([]);
    return found;
  };

  const snapshotOf = async (board: string, who: 'ada' | 'bob', channel: string): Promise<string> => {
    const url = `${service.url.replace('http', 'ws')}/v1/live`;
    const client = await LiveClient.connect(url, ['ladder.v1', `bearer.${who === 'ada' ? adas : bobs}`]);
    try {
      const asked = JSON.parse(inPlace(JSON.stringify(CHANNELS[channel]!.asked), board, who)) as object;
      const frame = await client.ask({ type: 'subscribe', id: 'one', board, channel, ...asked });
      expect(frame.type, JSON.stringify(frame)).toBe('snapshot');
      return JSON.stringify(frame.entries);
    } finally {
      client.socket.terminate();
    }
  };

  const PER_RUN = { entriesPer: 'run', entriesPerPlayerMax: 2 };
  it.each([
    ['of players', {}],
    ['of runs', PER_RUN],
  ])('shows a sanctioned player to itself alone, on a board %s', async (kind, definition) => {
    const board = kind === 'of runs' ? 'runs' : 'players';
    ada = `ada-of-${board}`;
    adas = await playerToken(service.jwtSecret, ada);
    const windows = ['alltime', SEASON];
    await admin.makeBoard(board, {
      windows,
      runs: { keepDays: 30 },
      push: { intervalMs: 100, top: 50 },
      ...definition,
    });
    const recorded = { history: { everyMinutes: 1 }, scopes: ['global', 'guild'], windows: ['alltime'] };
    await ok(admin.put('/v1/boards/recorded', { order: 'desc', operator: 'best', ...recorded }));
    await ok(admin.put('/v1/pools/rated', { algorithm: 'elo' }));
    await ok(admin.put('/v1/guilds/red', { displayName: 'Red' }));
    const submit = async (playerId: string, score: number): Promise<void> => {
      for (const one of [board, 'recorded'])
        await ok(admin.post(`/v1/boards/${one}/scores`, { playerId, score }, { Prefer: 'wait=10' }));
    };
    for (const [at, player] of OTHERS.entries()) await submit(player, 10 * at + 5);
    for (const player of ['bob', 'cy']) await ok(admin.put(`/v1/circles/${board}/members/${player}`));
    await ok(admin.put(`/v1/circles/${board}/members/${ada}`));
    await ok(admin.put(`/v1/players/${ada}/friends/bob`));
    for (const [one, other] of [[ada, 'bob'] as const, ['bob', ada] as const])
      await ok(admin.put(`/v1/players/${one}/follows/${other}`));
    await ok(admin.put('/v1/guilds/red/members/bob'));
    const without = await whole(board, 'bob', ['world', 'others']);

    for (const score of [12, 22]) await submit(ada, score);
    await ok(admin.put(`/v1/players/${ada}`, { displayName: 'Ada', attributes: {} }));
    await ok(admin.put(`/v1/guilds/red/members/${ada}`));
    const players = [
      { playerId: ada, place: 1 },
      { playerId: 'bob', place: 2 },
    ];
    await ok(admin.post('/v1/games', { pool: 'rated', gameId: `g-${board}`, players }));
    await ok(admin.post(`/v1/admin/boards/${board}/close-window`, { window: 'season:s1' }));
    const settled = async (): Promise<number> =>
      (await admin.get(`/v1/boards/${board}/windows/season:s1/editions`)).status;
    await expect.poll(settled, REVISED).toBe(200);
    const itself = await whole(board, 'ada', ['world']);
    expect([...itself].filter(([, { status }]) => status !== 200)).toEqual([]);
    const refused = await answers(board, 'ada', ['refused']);
    for (const [id, answer] of refused) expect(answer, id).toMatchObject({ status: 403 });

    const sanction = (kindOfIt: string): Promise<void> =>
      ok(admin.put(`/v1/admin/players/${ada}/sanction`, { kind: kindOfIt, reason: 'a test' }));
    await sanction('shadow');
    await expect.poll(() => answers(board, 'bob', ['world', 'others']), REVISED).toEqual(without);
    await expect.poll(() => answers(board, 'ada', ['world']), REVISED).toEqual(itself);
    for (const id of Object.keys(CHANNELS).filter((one) => CHANNELS[one]!.shows === 'world')) {
      expect(await snapshotOf(board, 'ada', id), id).toContain(`"${ada}"`);
      expect(await snapshotOf(board, 'bob', id), id).not.toContain(ada);
    }
    expect(await answers(board, 'ada', ['refused'])).toEqual(refused);

    await sanction('ban');
    await expect.poll(() => answers(board, 'bob', ['world', 'others']), REVISED).toEqual(without);
    await sanction('hide');
    const named = async (): Promise<string[]> =>
      [...(await answers(board, 'bob', ['world', 'others']))]
        // Who is asked for by name is named in the answer, with nothing in it.
        .filter(([id, answer]) => answer.status === 200 && !isDeepStrictEqual(answer, without.get(id)))
        .filter(([, { body }]) => JSON.stringify(body).includes(ada))
        .map(([id]) => id);
    await expect.poll(named, REVISED).toEqual([]);
    await ok(admin.delete(`/v1/admin/players/${ada}/sanction?reason=over`));
    // Its history tells that it was away.
    const again = async (): Promise<Map<string, Answer>> => {
      const found = await answers(board, 'ada', ['world']);
      return found.set('getPlayerHistory ', itself.get('getPlayerHistory ')!);
    };
    await expect.poll(again, REVISED).toEqual(itself);
  });
});
