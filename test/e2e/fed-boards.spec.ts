// Real: the built service in one process, with its PostgreSQL and Redis.
import { startStandalone, type RunningStandalone } from '@laddercast/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LiveClient } from '../../libs/realtime/test/follower.js';
import { ExportReader } from './exports.js';
import { expectProblem, RestClient } from './rest-client.js';
import { sql } from './sql.js';

const SOON = { timeout: 30_000, interval: 50 };

describe('boards that a rating pool feeds', () => {
  let service: RunningStandalone;
  let admin: RestClient;
  let writer: RestClient;
  let made = 0;

  beforeAll(async () => {
    service = await startStandalone();
    admin = new RestClient(service.url, service.adminKey);
    writer = admin.as(await admin.makeKey('scores:write'));
  }, 90_000);
  afterAll(() => service?.stop());

  const makeFed = async (pool: object = {}, board: object = {}): Promise<{ board: string; pool: string }> => {
    const id = `fed-${(made += 1)}`;
    await admin.makeBoard(id, { order: 'desc', operator: 'latest', ...board });
    const put = await admin.put(`/v1/pools/${id}`, { algorithm: 'elo', board: id, ...pool });
    expect(put.status, put.text).toBe(201);
    return { board: id, pool: id };
  };
  const play = async (pool: string, gameId: string, places: Record<string, number>): Promise<void> => {
    const players = Object.entries(places).map(([playerId, place]) => ({ playerId, place }));
    const response = await writer.post('/v1/games', { pool, gameId, players });
    expect(response.status, response.text).toBe(200);
  };
  const linesOf = async (board: string, query = ''): Promise<string[]> => {
    const { body } = await admin.get(`/v1/boards/${board}/entries${query}`);
    return (body as { entries: { playerId: string; score: number }[] }).entries.map(
      ({ playerId, score }) => `${playerId} ${score}`,
    );
  };

  it('rank the players of its games, in each window, with what is in their columns', async () => {
    const columns = [{ name: 'played', order: 'desc' }];
    const boards = [{ board: 'fed-1', value: 'gain', columns: { played: 'games' } }];
    const given = { board: undefined, boards };
    const { board, pool } = await makeFed(given, { columns, windows: ['alltime', 'daily'] });
    await play(pool, 'g1', { ada: 1, bob: 2 });
    await expect.poll(() => linesOf(board), SOON).toEqual(['ada 16', 'bob -16']);
    await play(pool, 'g2', { cy: 1, bob: 2, ada: 3 });
    await expect.poll(async () => (await linesOf(board, '?window=daily'))[0], SOON).toMatch(/^cy /);
    const played = async (): Promise<unknown> =>
      ((await admin.get(`/v1/boards/${board}/players/bob`)).body as { entry: { columns: object } }).entry.columns;
    await expect.poll(played, SOON).toEqual({ played: 2 });
  });

  it('have all that a board has: circles, live lists, history, export and final standings', async () => {
    const season = { season: 's1', startsAt: '2020-01-01T00:00:00Z', endsAt: '2090-01-01T00:00:00Z' };
    const { board, pool } = await makeFed(
      {},
      {
        windows: ['alltime', season],
        scopes: ['global', 'region', 'guild'],
        guildAggregate: { kind: 'top', k: 2 },
        history: { everyMinutes: 1 },
        push: { intervalMs: 100 },
      },
    );
    const regions = { ada: 'EU', bob: 'EU', cy: 'US' };
    for (const [player, region] of Object.entries(regions)) await admin.put(`/v1/players/${player}`, { region });
    await admin.put('/v1/guilds/red', { displayName: 'Red' });
    for (const player of ['ada', 'cy']) await admin.put(`/v1/guilds/red/members/${player}`);
    await admin.put('/v1/players/ada/friends/cy');
    const headers = { authorization: `Bearer ${service.adminKey}` };
    const client = await LiveClient.connect(`${service.url.replace('http', 'ws')}/v1/live`, ['ladder.v1'], { headers });
    try {
      const channels = {
        top: { channel: 'top' },
        eu: { channel: 'top', scope: 'region:EU' },
        guilds: { channel: 'guilds' },
        friends: { channel: 'friends', playerId: 'ada' },
        player: { channel: 'player', playerId: 'bob', around: 1 },
        season: { channel: 'range', offset: 0, limit: 5, window: 'season:s1' },
      };
      for (const [id, ask] of Object.entries(channels)) {
        const subscribe = { type: 'subscribe', id, board, ...ask };
        await expect.poll(async () => (await client.ask(subscribe)).type, SOON).toBe('snapshot');
      }
      const expectLists = async (lists: Record<keyof typeof channels, string[]>): Promise<void> => {
        for (const [id, places] of Object.entries(lists)) {
          await expect.poll(() => client.list(id).places(), { ...SOON, message: id }).toEqual(places);
        }
      };
      await play(pool, 'g1', { ada: 1, bob: 2 });
      await play(pool, 'g2', { cy: 1, bob: 2 });
      const before = {
        top: ['1 ada', '2 cy', '3 bob'],
        eu: ['1 ada', '2 bob'],
        guilds: ['1 red'],
        friends: ['1 1 ada', '2 2 cy'],
        player: ['2 cy', '3 bob'],
        season: ['1 ada', '2 cy', '3 bob'],
      };
      await expectLists(before);
      await play(pool, 'g3', { bob: 1, ada: 2 });
      await expectLists({
        top: ['1 cy', '2 ada', '3 bob'],
        eu: ['1 ada', '2 bob'],
        guilds: ['1 red'],
        friends: ['1 1 cy', '2 2 ada'],
        player: ['2 ada', '3 bob'],
        season: ['1 cy', '2 ada', '3 bob'],
      });
      // A void is pushed as a game is: down, too.
      const undone = await admin.send('DELETE', `/v1/pools/${pool}/games/g3`, { reason: 'not played' });
      expect(undone.status, undone.text).toBe(200);
      await expectLists(before);
      const red = (): number => Number(client.list('guilds').rows.get('red')!['score']);
      await expect.poll(red, SOON).toBeCloseTo(1516 + 1515.263693, 5);
    } finally {
      client.socket.terminate();
    }
    const moves = async (): Promise<unknown> => (await admin.get(`/v1/boards/${board}/players/bob/history`)).body;
    await expect.poll(moves, SOON).toMatchObject({ points: [{ score: expect.closeTo(1468.736307, 6) as number }] });
    const closed = await admin.post(`/v1/admin/boards/${board}/close-window`, { window: 'season:s1' });
    expect(closed.status, closed.text).toBe(200);
    await play(pool, 'g4', { bob: 1, ada: 2 });
    await expect
      .poll(() => linesOf(board), SOON)
      .toEqual([expect.stringMatching(/^cy /), expect.anything(), expect.anything()]);
    const ended = (await linesOf(board, '?window=season:s1')).map((line) => line.split(' ')[0]);
    expect(ended).toEqual(['ada', 'cy', 'bob']);
    const { text } = await new ExportReader(service.url).text(board, '?window=season:s1&format=ndjson');
    const rows = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { playerId: string });
    expect(rows.map(({ playerId }) => playerId)).toEqual(ended);
  }, 120_000);

  interface Waited {
    rated: {
      players: {
        playerId: string;
        after: number;
        rank: { before: number | null; after: number; accuracy: string } | null;
      }[];
    };
  }
  const playAndWait = async (pool: string, gameId: string, places: Record<string, number>): Promise<Waited> => {
    const players = Object.entries(places).map(([playerId, place]) => ({ playerId, place }));
    const answer = await writer.post('/v1/games', { pool, gameId, players }, { Prefer: 'wait=20' });
    expect(answer.status, answer.text).toBe(200);
    return answer.body as Waited;
  };

  it('tell who waits for a game the rank of each of its players, before and after it', async () => {
    const { board, pool } = await makeFed();
    const ratings = new Map<string, number>();
    const names = ['ada', 'bob', 'cy', 'di', 'eve', 'fay'];
    for (let game = 0; game < 25; game += 1) {
      const [winner, loser] = [names[(game * 5) % 6]!, names[(game * 7 + 1) % 6]!];
      if (winner === loser) continue;
      const { rated } = await playAndWait(pool, `g${game}`, { [winner]: 1, [loser]: 2 });
      const before = new Map(ratings);
      for (const { playerId, after } of rated.players) ratings.set(playerId, after);
      for (const { playerId, rank } of rated.players) {
        const others = [...ratings].filter(([other]) => other !== playerId).map(([, rating]) => rating);
        const own = before.get(playerId);
        const better = (rating: number): number => others.filter((other) => other > rating).length;
        const tied = (rating: number): number => others.filter((other) => other === rating).length;
        expect(rank, `game ${game}`).toMatchObject({ accuracy: 'exact', total: ratings.size });
        expect(rank!.after).toBeGreaterThan(better(ratings.get(playerId)!));
        expect(rank!.after).toBeLessThanOrEqual(better(ratings.get(playerId)!) + 1 + tied(ratings.get(playerId)!));
        if (own === undefined) expect(rank!.before, `game ${game}`).toBeNull();
        else {
          expect(rank!.before).toBeGreaterThan(better(own));
          expect(rank!.before).toBeLessThanOrEqual(better(own) + 1 + tied(own));
        }
      }
      // What was answered as exact is what a read says right after it.
      for (const { playerId, rank } of rated.players) {
        const { body } = await admin.get(`/v1/boards/${board}/players/${playerId}`);
        expect((body as { entry: object }).entry).toMatchObject({ rank: rank!.after });
      }
    }
    // Sent again: where they stand now.
    const replay = await playAndWait(pool, 'g0', { [names[0]!]: 1, [names[1]!]: 2 });
    for (const { rank } of replay.rated.players) expect(rank!.before).toBe(rank!.after);
    expect((await admin.get(`/v1/pools/${pool}/games/g0`)).text).not.toContain('"rank"');
  });

  it('tell no rank of who has no entry, and of a pool without a board of ratings', async () => {
    const { pool } = await makeFed({ rankable: { gamesMin: 2 } });
    const first = await playAndWait(pool, 'g1', { ada: 1, bob: 2 });
    expect(first.rated.players.map(({ rank }) => rank)).toEqual([null, null]);
    const second = await playAndWait(pool, 'g2', { ada: 1, cy: 2 });
    expect(second.rated.players.map(({ rank }) => rank)).toMatchObject([{ before: null, after: 1 }, null]);
    // Nobody waits for a window that takes entries no more.
    const daily = await makeFed({}, { windows: ['daily'] });
    const late = { pool: daily.pool, gameId: 'late', playedAt: '2026-01-01T00:00:00Z' };
    const players = ['ada', 'bob'].map((playerId, at) => ({ playerId, place: at + 1 }));
    const beganMs = Date.now();
    const { body } = await writer.post('/v1/games', { ...late, players }, { Prefer: 'wait=20' });
    expect((body as Waited).rated.players.map(({ rank }) => rank)).toEqual([null, null]);
    expect(Date.now() - beganMs).toBeLessThan(20_000);
    await admin.put('/v1/pools/no-board', { algorithm: 'elo' });
    const elsewhere = await playAndWait('no-board', 'g1', { ada: 1, bob: 2 });
    expect(elsewhere.rated.players.map(({ rank }) => rank)).toEqual([null, null]);
  });

  it('get no window by a game of the future, which is refused', async () => {
    const { board, pool } = await makeFed({}, { windows: ['alltime', 'daily'] });
    const players = ['ada', 'bob'].map((playerId, at) => ({ playerId, place: at + 1 }));
    const game = { pool, gameId: 'late', playedAt: '2099-05-05T12:00:00Z', players };
    expectProblem(await writer.post('/v1/games', game, { Prefer: 'wait=1' }), 'ACHIEVED_AT_IN_FUTURE');
    const made = `SELECT window_id FROM windows JOIN boards USING (board_uid) WHERE board_id = '${board}'`;
    expect(await sql(service.databaseUrl, `${made} AND starts_at > now()`)).toEqual([]);
  });

  it('tell ranks of a batch, of a player in several of its games, too', async () => {
    const { pool } = await makeFed();
    const players = (winner: string, loser: string) => [
      { playerId: winner, place: 1 },
      { playerId: loser, place: 2 },
    ];
    const games = [
      { pool, gameId: 'b1', players: players('ada', 'bob') },
      { pool, gameId: 'b2', players: players('ada', 'cy') },
    ];
    const { body } = await writer.post('/v1/games', { games }, { Prefer: 'wait=20' });
    const { results } = body as { results: Waited[] };
    const ranks = results.flatMap(({ rated }) =>
      rated.players.map(({ playerId, rank }) => [playerId, rank!.before, rank!.after]),
    );
    expect(ranks).toEqual([
      ['ada', null, 1],
      ['bob', null, 3],
      ['ada', 1, 1],
      ['cy', null, 2],
    ]);
  });

  it('are refused to submissions and operators, one by one and in a batch', async () => {
    const { board, pool } = await makeFed();
    const refused = await writer.post(`/v1/boards/${board}/scores`, { playerId: 'ada', score: 9 });
    expect(expectProblem(refused, 'BOARD_IS_FED').detail).toContain(`"${pool}"`);
    const batch = await writer.post('/v1/scores', { submissions: [{ board, playerId: 'ada', score: 9 }] });
    expect((batch.body as { results: object[] }).results).toMatchObject([{ problem: { code: 'BOARD_IS_FED' } }]);
    const set = await admin.put(`/v1/boards/${board}/players/ada`, { score: 9, reason: 'why' });
    expectProblem(set, 'BOARD_IS_FED');
    expectProblem(await admin.delete(`/v1/boards/${board}`), 'BOARD_IN_USE');
    const other = await admin.put('/v1/pools/another', { algorithm: 'elo', board });
    expectProblem(other, 'BOARD_IN_USE');
    // Left by its pool it takes submissions.
    expect((await admin.put(`/v1/pools/${pool}`, { algorithm: 'elo' })).status).toBe(200);
    const taken = await writer.post(`/v1/boards/${board}/scores`, { playerId: 'ada', score: 9 });
    expect(taken.status, taken.text).toBe(200);
  });

  it('are refused by their place in the body where a column is missing, also beside the short form', async () => {
    const [short, columned] = ['pointed-short', 'pointed-columned'];
    const options = { order: 'desc', operator: 'latest' };
    await admin.makeBoard(short, options);
    await admin.makeBoard(columned, { ...options, columns: [{ name: 'played', order: 'desc' }] });
    const boards = [{ board: columned, value: 'games' }];
    const refused = await admin.put('/v1/pools/pointed', { algorithm: 'elo', board: short, boards });
    const { errors } = expectProblem(refused, 'VALIDATION_FAILED');
    expect(errors).toEqual([{ pointer: '/boards/0/columns', message: 'must name exactly played' }]);
  });

  it('are filled by those who played before, and again after a reset', async () => {
    const { board, pool } = await makeFed({ board: undefined });
    await play(pool, 'g1', { ada: 1, bob: 2 });
    expect((await admin.put(`/v1/pools/${pool}`, { algorithm: 'elo', board })).status).toBe(200);
    await expect.poll(() => linesOf(board), SOON).toEqual(['ada 1516', 'bob 1484']);
    expect((await admin.post(`/v1/admin/boards/${board}/reset`)).status).toBeLessThan(300);
    await expect.poll(() => linesOf(board), SOON).toEqual(['ada 1516', 'bob 1484']);
  });

  it('let go of who is not rankable any more, at that moment', async () => {
    // About 20 seconds.
    const { board, pool } = await makeFed({ rankable: { inactiveDaysMax: 0.00023 } });
    await play(pool, 'g1', { ada: 1, bob: 2 });
    await expect.poll(() => linesOf(board), SOON).toEqual(['ada 1516', 'bob 1484']);
    await expect.poll(() => linesOf(board), { ...SOON, timeout: 60_000 }).toEqual([]);
    const { body } = await admin.get(`/v1/pools/${pool}/players/ada`);
    expect(body).toMatchObject({ rating: 1516, rankable: false, missing: ['inactiveDaysMax'] });
  }, 120_000);
});
