// Real: the built service in one process, with its PostgreSQL and Redis; what rows say of the runs that they rest on.
import { startStandalone, type RunningStandalone } from '@laddercast/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LiveClient } from '../../libs/realtime/test/follower.js';
import { assertMatchesAsyncApi } from '../../libs/realtime/test/frame-schemas.js';
import { ExportReader, parseCsv } from './exports.js';
import { playerToken, RestClient } from './rest-client.js';

const PROOF = 'https://replays.example/ada';
const SEASON = { season: 's1', startsAt: '2020-01-01T00:00:00Z', endsAt: '2090-01-01T00:00:00Z' };
/** How soon an act shows; more than the second that is promised, for machines that do much else. */
const SOON = { timeout: 5000, interval: 50 };

interface Row {
  playerId: string;
  score: number;
  verified?: boolean;
  proof?: string | null;
}

describe('rows of boards that keep runs', () => {
  let service: RunningStandalone;
  let anyone: RestClient;
  let admin: RestClient;
  let moderator: RestClient;
  let exports: ExportReader;

  beforeAll(async () => {
    service = await startStandalone();
    anyone = new RestClient(service.url);
    admin = anyone.as(service.adminKey);
    moderator = anyone.as(await admin.makeKey('moderate'));
    exports = new ExportReader(service.url);
    for (const other of ['ada', 'bob']) expect((await admin.put(`/v1/players/cy/friends/${other}`)).status).toBe(200);
  });
  afterAll(() => service?.stop());

  const keeping = (id: string, more: object = {}): Promise<string> =>
    admin.makeBoard(id, { runs: { keepDays: 30 }, push: { intervalMs: 100, top: 10 }, ...more });
  const submit = async (board: string, submissionId: string, playerId: string, score: number, more: object = {}) => {
    const run = { submissionId, playerId, score, ...more };
    const response = await admin.post(`/v1/boards/${board}/scores`, run, { Prefer: 'wait=10' });
    expect(response.status, response.text).toBe(200);
  };
  const act = async (board: string, id: string, kind: 'verify' | 'unverify' | 'void' | 'restore', more = '') => {
    const path = `/v1/boards/${board}/submissions/${id}`;
    const asked = {
      verify: () => moderator.put(`${path}/verification?${more}`, { verified: true, reason: 'watched' }),
      unverify: () => moderator.put(`${path}/verification?${more}`, { verified: false, reason: 'not so' }),
      void: () => moderator.delete(`${path}?reason=cheated${more}`),
      restore: () => moderator.post(`${path}/restore?reason=mistaken${more}`),
    };
    const response = await asked[kind]();
    expect(response.status, response.text).toBe(200);
    expect((response.body as { outcome: string }).outcome).not.toBe('unchanged');
  };
  const shown = (rows: readonly (Row | null)[]): unknown[] =>
    rows.map((row) => row && [row.playerId, row.score, row.verified]);
  const read = async (path: string, client = anyone): Promise<Record<string, unknown>> => {
    const response = await client.get(path);
    expect(response.status, response.text).toBe(200);
    return response.body as Record<string, unknown>;
  };
  const entries = async (board: string, query = '', client = anyone): Promise<Row[]> =>
    (await read(`/v1/boards/${board}/entries?${query}`, client)).entries as Row[];

  /** Every way to read the rows of ada and bob on a board where cy has none: each as it shows them. */
  async function everywhere(board: string): Promise<Record<string, unknown>> {
    const player = await read(`/v1/boards/${board}/players/ada?around=1`);
    const lookup = await anyone.post(`/v1/boards/${board}/lookups`, { playerIds: ['ada', 'bob', 'cy'] });
    const csv = parseCsv((await exports.text(board, '')).text);
    const [header, ...records] = csv;
    const standings = (await read('/v1/players/ada/standings')).standings as (Row & { board: string })[];
    return {
      first: shown(await entries(board)),
      further: shown(await entries(board, 'offset=2')),
      around: shown(await entries(board, 'aroundPlayer=ada&limit=3')),
      player: shown([player.entry as Row]),
      neighbours: shown(player.neighbours as Row[]),
      lookup: shown((lookup.body as { entries: (Row | null)[] }).entries),
      friends: shown((await read(`/v1/boards/${board}/friends/cy`, admin)).entries as Row[]),
      standings: standings.filter((one) => one.board === board).map(({ score, verified }) => [score, verified]),
      ndjson: shown((await exports.rows(board, '?window=alltime')) as Row[]),
      csv: records.map((record) => [record[header!.indexOf('playerId')], record[header!.indexOf('verified')]]),
    };
  }
  const rowsAre = (ada: [number, boolean]): Record<string, unknown> => {
    const [bob, dee] = [
      ['bob', 20, true],
      ['dee', 10, false],
    ];
    const all = [['ada', ...ada], bob, dee];
    return {
      ...{ first: all, further: [dee], around: all.slice(0, 3) },
      ...{ player: [['ada', ...ada]], neighbours: all.slice(0, 2), lookup: [...all.slice(0, 2), null] },
      ...{ friends: all.slice(0, 2), standings: [ada], ndjson: all },
      csv: all.map(([playerId, , verified]) => [playerId, String(verified)]),
    };
  };

  it('say wherever they are read whether the run was looked at, also after an act that changes nothing else', async () => {
    await keeping('looked');
    await submit('looked', 'a0', 'ada', 30, { verified: true });
    await submit('looked', 'a1', 'ada', 40, { proof: PROOF });
    await submit('looked', 'b1', 'bob', 20, { verified: true });
    await submit('looked', 'd1', 'dee', 10);
    await expect.poll(() => everywhere('looked'), SOON).toEqual(rowsAre([40, false]));
    const before = (await anyone.get('/v1/boards/looked/entries')).headers['etag']!;
    await act('looked', 'a1', 'verify');
    await expect.poll(() => everywhere('looked'), SOON).toEqual(rowsAre([40, true]));
    expect((await anyone.get('/v1/boards/looked/entries', { 'If-None-Match': before })).status).toBe(200);
    await act('looked', 'a1', 'unverify');
    await expect.poll(() => everywhere('looked'), SOON).toEqual(rowsAre([40, false]));
    await act('looked', 'a1', 'void');
    await expect.poll(() => everywhere('looked'), SOON).toEqual(rowsAre([30, true]));
    await act('looked', 'a1', 'restore');
    await expect.poll(() => everywhere('looked'), SOON).toEqual(rowsAre([40, false]));
    // Pages by cursor hold still for a while.
    const byCursor = async (): Promise<unknown> => shown(await entries('looked', 'cursor=start&limit=2'));
    await expect.poll(byCursor, { timeout: 30_000 }).toEqual(rowsAre([40, false])['neighbours']);
  });

  it('say so live: to those who follow the first places, a range, a player or friends', async () => {
    await keeping('live');
    const players = ['ada', 'bob', ...Array.from({ length: 8 }, (_, at) => `e${at}`), 'dee'];
    for (const [at, playerId] of players.entries()) await submit('live', playerId, playerId, 30 - at);
    const options = { headers: { authorization: `Bearer ${service.adminKey}` } };
    const client = await LiveClient.connect(`${service.url.replace('http', 'ws')}/v1/live`, ['ladder.v1'], options);
    const channels: Record<string, object> = {
      top: { channel: 'top', limit: 2 },
      range: { channel: 'range', offset: 9, limit: 2 },
      player: { channel: 'player', playerId: 'dee', around: 1 },
      friends: { channel: 'friends', playerId: 'cy' },
    };
    for (const [id, channel] of Object.entries(channels)) {
      const ask = { type: 'subscribe', id, board: 'live', ...channel };
      await expect.poll(async () => (await client.ask(ask)).type, { interval: 100 }).toBe('snapshot');
    }
    const of = (id: string): unknown =>
      Object.fromEntries([...client.list(id).rows.values()].map((row) => [row.playerId, row.verified]));
    const all = (): unknown => Object.keys(channels).map(of);
    const others = Object.fromEntries(players.slice(2, 10).map((playerId) => [playerId, false]));
    await expect.poll(all, SOON).toEqual([
      { ada: false, bob: false, ...others },
      { e7: false, dee: false },
      { e7: false, dee: false },
      { ada: false, bob: false },
    ]);
    await act('live', 'bob', 'verify');
    // Behind the first places that are published.
    await act('live', 'dee', 'verify');
    await expect.poll(all, SOON).toEqual([
      { ada: false, bob: true, ...others },
      { e7: false, dee: true },
      { e7: false, dee: true },
      { ada: false, bob: true },
    ]);
    client.socket.terminate();
    for (const frame of client.frames) assertMatchesAsyncApi(frame);
    for (const id of Object.keys(channels)) expect(client.list(id)).toMatchObject({ snapshots: 1, gaps: 0 });
  });

  it('say false of sums and of what stands from before runs were kept, and nothing on boards without runs', async () => {
    await keeping('sums', { operator: 'sum' });
    await submit('sums', 's1', 'ada', 5, { verified: true });
    expect(shown(await entries('sums'))).toEqual([['ada', 5, false]]);
    await admin.makeBoard('plain');
    await submit('plain', 'p1', 'ada', 5);
    const fields = Object.keys((await entries('plain'))[0]!);
    expect(fields).toEqual(['rank', 'playerId', 'displayName', 'score', 'columns', 'achievedAt', 'metadata']);
    const { text } = await exports.text('plain', '');
    expect(text).toMatch(/^rank,ordinal,playerId,displayName,score,achievedAt,scopes,metadata\r\n1,/);
    expect(Object.keys((await exports.rows('plain', '?window=alltime'))[0]!)).not.toContain('verified');
    await admin.put('/v1/boards/plain', { order: 'desc', operator: 'best', runs: { keepDays: 30 } });
    await expect.poll(async () => shown(await entries('plain')), SOON).toEqual([['ada', 5, false]]);
    await submit('plain', 'p2', 'ada', 6, { verified: true });
    await expect.poll(async () => shown(await entries('plain')), SOON).toEqual([['ada', 6, true]]);
  });

  it('follow to an equal run when the one that the entry rests on is taken out', async () => {
    await keeping('equal', { clientTime: true });
    const achievedAt = new Date(Date.now() - 60_000).toISOString();
    await submit('equal', 'e1', 'ada', 5, { achievedAt, verified: true });
    await submit('equal', 'e2', 'ada', 5, { achievedAt });
    expect(shown(await entries('equal'))).toEqual([['ada', 5, true]]);
    await act('equal', 'e1', 'void');
    await expect.poll(async () => shown(await entries('equal')), SOON).toEqual([['ada', 5, false]]);
    const { runs } = (await read('/v1/boards/equal/runs', moderator)) as { runs: object[] };
    expect(runs).toMatchObject([
      { submissionId: 'e2', entryOf: ['alltime'] },
      { submissionId: 'e1', entryOf: [] },
    ]);
    await act('equal', 'e1', 'restore');
    await expect.poll(async () => shown(await entries('equal')), SOON).toEqual([['ada', 5, true]]);
  });

  it('stay in final standings as they were when those were written', async () => {
    const more = { windows: [SEASON], scopes: ['global', 'guild'], proof: 'everyone' };
    await keeping('ended', { ...more, graceSeconds: 0, keepEndedSeconds: 0 });
    await admin.put('/v1/guilds/red', {});
    await admin.put('/v1/guilds/red/members/ada');
    await submit('ended', 'f1', 'ada', 9, { proof: PROOF, verified: true });
    await submit('ended', 'f2', 'bob', 8);
    const closed = await admin.post('/v1/admin/boards/ended/close-window', { window: 'season:s1' });
    expect(closed.status, closed.text).toBe(200);
    const final = [
      ['ada', 9, true, PROOF],
      ['bob', 8, false, null],
    ];
    const standings = async (): Promise<unknown> =>
      (await entries('ended', 'window=season:s1')).map((row) => [row.playerId, row.score, row.verified, row.proof]);
    await expect.poll(standings, SOON).toEqual(final);
    await act('ended', 'f1', 'unverify');
    const rows = (await exports.rows('ended', '?window=season:s1')) as Row[];
    expect(rows.map((row) => [row.playerId, row.score, row.verified, row.proof])).toEqual(final);
    const [header, first] = parseCsv((await exports.text('ended', '?window=season:s1')).text);
    expect(header!.slice(-2)).toEqual(['verified', 'proof']);
    expect(first!.slice(-2)).toEqual(['true', PROOF]);
    const inGuild = await entries('ended', 'window=season:s1&scope=guild:red');
    expect(inGuild).toMatchObject([{ playerId: 'ada', verified: true, proof: PROOF }]);
    const guilds = (await read('/v1/boards/ended/guilds?window=season:s1')).entries as object[];
    expect(guilds).toMatchObject([{ playerId: 'red' }]);
    for (const field of ['verified', 'proof']) expect(guilds[0]).not.toHaveProperty(field);
    expect(await standings()).toEqual(final);
  });

  it('show the proof to those who may see it alone', async () => {
    for (const proof of ['everyone', 'moderators']) {
      await keeping(`by-${proof}`, { proof, submitters: 'players' });
      await submit(`by-${proof}`, 'a1', 'ada', 5, { proof: PROOF });
    }
    const callers: Record<string, RestClient> = {
      anyone,
      other: anyone.as(await playerToken(service.jwtSecret, 'bob')),
      own: anyone.as(await playerToken(service.jwtSecret, 'ada')),
      read: anyone.as(await admin.makeKey('read')),
      moderate: moderator,
      admin,
    };
    const mayReadRuns = ['own', 'moderate', 'admin'];
    for (const [caller, client] of Object.entries(callers)) {
      const paths = ['entries', 'players/ada', 'entries?aroundPlayer=ada', 'entries?cursor=start'];
      for (const path of paths) {
        const ofEveryone = await client.get(`/v1/boards/by-everyone/${path}`);
        expect([ofEveryone.status, ofEveryone.text.includes(PROOF)], `${caller} ${path}`).toEqual([200, true]);
        const ofModerators = await client.get(`/v1/boards/by-moderators/${path}`);
        expect([ofModerators.status, ofModerators.text.includes('proof')], `${caller} ${path}`).toEqual([200, false]);
      }
      const runs = await client.get('/v1/boards/by-moderators/players/ada/runs');
      expect([runs.status === 200, runs.text.includes(PROOF)], caller).toEqual(
        Array(2).fill(mayReadRuns.includes(caller)),
      );
    }
    // From when only moderators see it, no row shows it, however often it was read before.
    const definition = { order: 'desc', operator: 'best', submitters: 'players', runs: { keepDays: 30 } };
    expect((await admin.put('/v1/boards/by-everyone', definition)).status).toBe(200);
    await expect
      .poll(async () => (await anyone.get('/v1/boards/by-everyone/entries')).text, SOON)
      .not.toContain('proof');
  });
});
