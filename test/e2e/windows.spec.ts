// Real: the built service with its PostgreSQL and Redis, and its clock: windows of some seconds end while it runs.
import { setTimeout as delay } from 'node:timers/promises';
import { PostgresDatabase } from '@laddercast/ledger';
import { startStandalone, type RunningStandalone } from '@laddercast/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LiveClient } from '../../libs/realtime/test/follower.js';
import { ExportReader, submitAll } from './exports.js';
import { expectProblem, RestClient } from './rest-client.js';

interface Listed {
  id: string;
  state: string;
  version: number | null;
  entries: number | null;
}

const HOUR_MS = 3_600_000;
let app: RunningStandalone;
let admin: RestClient;
let anyone: RestClient;
let database: PostgresDatabase;
let exports: ExportReader;

beforeAll(async () => {
  app = await startStandalone();
  anyone = new RestClient(app.url);
  admin = anyone.as(app.adminKey);
  exports = new ExportReader(app.url);
  database = new PostgresDatabase({ url: app.databaseUrl });
  await database.open({ migrate: false });
});
afterAll(async () => {
  await database?.close();
  await app?.stop();
});

const inMs = (ms: number): string => new Date(Date.now() + ms).toISOString();

async function windowsOf(board: string, query = ''): Promise<Listed[]> {
  const response = await anyone.get(`/v1/boards/${board}/windows${query}`);
  expect(response.status, response.text).toBe(200);
  return response.body.windows as Listed[];
}

const stateOf = async (board: string, windowId: string): Promise<string | undefined> =>
  (await windowsOf(board)).find(({ id }) => id === windowId)?.state;

describe('the list of windows', () => {
  const windows = [
    'weekly',
    'alltime',
    { season: 'later', startsAt: inMs(2 * HOUR_MS), endsAt: inMs(3 * HOUR_MS) },
    { season: 'soon', startsAt: inMs(HOUR_MS), endsAt: inMs(2 * HOUR_MS), freezeAt: inMs(1.5 * HOUR_MS) },
    { rolling: '24h' },
    { cron: '0 18 * * 5' },
    'daily',
  ];
  const order = [/^weekly:/, /^alltime$/, /^rolling:24h$/, /^cron:/, /^daily:/, /^season:soon$/, /^season:later$/];
  const ended = ['season:over', 'daily:2020-01-02', 'daily:2020-01-01'];

  beforeAll(async () => {
    await admin.makeBoard('listed', { windows, graceSeconds: 3600 });
    await admin.makeBoard('hidden', { visibility: 'private' });
    // Late runs may still enter it.
    await database.query(
      `INSERT INTO windows (board_uid, window_id, kind, starts_at, ends_at)
       SELECT board_uid, 'season:over', 'season', $1, $2 FROM boards WHERE board_id = 'listed'`,
      [inMs(-2 * HOUR_MS), inMs(-HOUR_MS / 2)],
    );
    for (const day of [1, 2]) {
      await database.query(
        `WITH w AS (
           INSERT INTO windows (board_uid, window_id, kind, starts_at, ends_at, state)
           SELECT board_uid, $1, 'daily', $2::date, $2::date + 1, 'settled' FROM boards WHERE board_id = 'listed'
           RETURNING window_uid),
         e AS (
           INSERT INTO editions (window_uid, kind, as_of, version) SELECT window_uid, 'final', $2::date + 1, $3 FROM w
           RETURNING edition_uid)
         INSERT INTO edition_scopes SELECT edition_uid, 0, 7 FROM e`,
        [`daily:2020-01-0${day}`, `2020-01-0${day}`, 100 + day],
      );
    }
  });

  it('has the running ones in the order of the definition, then those to come, then ended ones, the newest first', async () => {
    const shown = await windowsOf('listed');
    expect(shown).toHaveLength(order.length + ended.length);
    for (const [at, id] of order.entries()) expect(shown[at]!.id).toMatch(id);
    expect(shown.slice(order.length).map(({ id }) => id)).toEqual(ended);
    expect(shown.map(({ state }) => state)).toEqual([
      ...Array.from({ length: 5 }, () => 'running'),
      ...['upcoming', 'upcoming', 'ended', 'settled', 'settled'],
    ]);
    expect(shown[1]).toEqual({
      ...{ id: 'alltime', kind: 'alltime', state: 'running', startsAt: null, endsAt: null, resetsAt: null },
      ...{ freezeAt: null, isFrozen: false, version: null, entries: null },
    });
    const soon = windows[3] as { startsAt: string; endsAt: string; freezeAt: string };
    expect(shown[5]).toMatchObject({ startsAt: soon.startsAt, endsAt: soon.endsAt, freezeAt: soon.freezeAt });
    expect(shown.at(-1)).toMatchObject({
      version: 101,
      entries: 7,
      endsAt: '2020-01-02T00:00:00.000Z',
      resetsAt: null,
    });
  });

  it('is paged without a window lost or shown twice, and filtered by state', async () => {
    const whole = (await windowsOf('listed')).map(({ id }) => id);
    for (const limit of [1, 3, 7]) {
      const ids: string[] = [];
      let next: string | null = '';
      while (next !== null) {
        const cursor: string = next === '' ? '' : `&cursor=${encodeURIComponent(next)}`;
        const response = await anyone.get(`/v1/boards/listed/windows?limit=${limit}${cursor}`);
        const page = response.body as { windows: Listed[]; next: string | null };
        expect(page.windows.length).toBeLessThanOrEqual(limit);
        ids.push(...page.windows.map(({ id }) => id));
        next = page.next;
      }
      expect(ids).toEqual(whole);
    }
    const byState = async (state: string): Promise<string[]> =>
      (await windowsOf('listed', `?state=${state}`)).map(({ id }) => id);
    expect(await byState('running')).toEqual(whole.slice(0, 5));
    expect(await byState('upcoming')).toEqual(['season:soon', 'season:later']);
    expect(await byState('ended')).toEqual([ended[0]]);
    expect(await byState('settled')).toEqual(ended.slice(1));
  });

  it('answers 304, and refuses what it does not know', async () => {
    const { headers } = await anyone.get('/v1/boards/listed/windows');
    const again = await anyone.get('/v1/boards/listed/windows', { 'If-None-Match': headers['etag']! });
    expect(again.status).toBe(304);
    for (const query of [
      'cursor=x',
      'cursor=ended:1.99999999999',
      'limit=0',
      'limit=501',
      'state=open',
      'window=daily',
    ]) {
      expectProblem(await anyone.get(`/v1/boards/listed/windows?${query}`), 'VALIDATION_FAILED');
    }
    expectProblem(await anyone.get('/v1/boards/hidden/windows'), 'UNAUTHENTICATED');
    expectProblem(await anyone.get('/v1/boards/none/windows'), 'BOARD_NOT_FOUND');
  });
});

describe('a season of seconds', () => {
  it('reads the same from Redis, and later from PostgreSQL, and its export with it', async () => {
    for (let at = 0; at < 60; at += 4) await admin.put(`/v1/players/s${at}`, { region: 'EU' });
    const season = { season: 'short', startsAt: inMs(-HOUR_MS), endsAt: inMs(8000) };
    await admin.makeBoard('seasons', {
      windows: [season, 'alltime'],
      scopes: ['global', 'region'],
      sharding: { by: 'hash', count: 3 },
      columns: [{ name: 'moves', order: 'asc' }],
      graceSeconds: 0,
      keepEndedSeconds: 8,
      // Most of what is read is not in the snapshot.
      push: { top: 10 },
    });
    const runs = Array.from({ length: 60 }, (_, at) => ({
      playerId: `s${at}`,
      score: Math.floor(at / 5) + 0.1,
      columns: { moves: at % 2 },
      metadata: { at },
    }));
    await submitAll(admin, 'seasons', runs);
    const windowId = 'season:short';
    const running = await exports.rows('seasons', `?window=${windowId}`);
    expect(running).toHaveLength(60);

    /** Every kind of read, without what says when and of which version it is. */
    const readings = async (): Promise<unknown[]> => {
      const paths = ['', '&rankStyle=competition', '&scope=region:EU', '&offset=50&limit=20'].map(
        (q) => `entries?x${q}`,
      );
      const others = ['players/s17?x&around=4', 'players/s40?x&scope=region:EU', 'rank?x&score=7.1', 'rank?x&score=99'];
      const answers = [];
      for (const path of [...paths, ...others, 'players/nobody?x&fallback=last']) {
        const response = await anyone.get(`/v1/boards/seasons/${path.replace('?x', `?window=${windowId}`)}`);
        expect(response.status, `${path}: ${response.text}`).toBe(200);
        answers.push({ path, body: response.body as Record<string, unknown> });
      }
      const lookup = await anyone.post(`/v1/boards/seasons/lookups?window=${windowId}`, {
        playerIds: ['s3', 'x', 's59'],
      });
      answers.push({ path: 'lookups', body: lookup.body as Record<string, unknown> });
      return answers.map(({ path, body: { asOf, boardVersion, ...body } }) => {
        expect(asOf).toBeDefined();
        versions.set(path, [...(versions.get(path) ?? []), boardVersion as number]);
        return { path, body };
      });
    };
    const versions = new Map<string, number[]>();

    await expect.poll(() => stateOf('seasons', windowId), { interval: 100 }).toBe('settled');
    const fromRedis = await readings();
    const [listed] = await windowsOf('seasons', '?state=settled');
    expect(listed).toMatchObject({ id: windowId, entries: 60, version: expect.any(Number) as number });
    expect(await exports.rows('seasons', `?window=${windowId}`)).toEqual(running);
    const late = await admin.post('/v1/boards/seasons/scores', {
      ...{ playerId: 's0', score: 1e6, columns: { moves: 0 }, window: windowId, achievedAt: season.startsAt },
    });
    expectProblem(late, 'WINDOW_CLOSED');

    // After what the board keeps, and what clocks may be apart.
    await delay(Math.max(0, Date.parse(season.endsAt) + 9000 - Date.now()));
    await expect.poll(readings).toEqual(fromRedis);
    await admin.put('/v1/players/s4', { region: 'US' });
    expect(await readings()).toEqual(fromRedis);
    for (const seen of versions.values()) expect(seen).toEqual([...seen].sort((a, b) => a - b));
    expect(await exports.rows('seasons', `?window=${windowId}`)).toEqual(running);

    // It is the standings that were read: without them there is nothing.
    await database.query(`DELETE FROM editions WHERE version = $1 AND kind = 'final'`, [listed!.version]);
    for (const path of ['players/s17?', 'rank?score=7.1&', 'entries?offset=50&', 'export?']) {
      expectProblem(await anyone.get(`/v1/boards/seasons/${path}window=${windowId}`), 'SNAPSHOT_GONE');
    }
  });

  it('shows everyone but admins how it stood at its freeze, until it ends', async () => {
    const season = { season: 'cold', startsAt: inMs(-HOUR_MS), freezeAt: inMs(8000), endsAt: inMs(18_000) };
    await admin.makeBoard('frozen', { windows: [season], graceSeconds: 0 });
    await submitAll(admin, 'frozen', [
      { playerId: 'ada', score: 5 },
      { playerId: 'bob', score: 3 },
    ]);
    const scores = async (token?: string): Promise<string[]> =>
      (await exports.rows('frozen', '?window=season:cold', token)).map(({ playerId, score }) => `${playerId} ${score}`);
    expect(await scores()).toEqual(['ada 5', 'bob 3']);
    await expect
      .poll(async () => (await windowsOf('frozen'))[0])
      .toMatchObject({ isFrozen: true, freezeAt: season.freezeAt, state: 'running' });
    await submitAll(admin, 'frozen', [{ playerId: 'bob', score: 9 }]);
    await expect.poll(async () => (await exports.text('frozen', '?window=season:cold')).response.status).toBe(200);
    expect(await scores()).toEqual(['ada 5', 'bob 3']);
    expect(await scores(app.adminKey)).toEqual(['bob 9', 'ada 5']);
    await expect.poll(() => stateOf('frozen', 'season:cold')).toBe('settled');
    expect(await scores()).toEqual(['bob 9', 'ada 5']);
  });

  it('has no freeze where it is ended before that', async () => {
    const season = { season: 'cut', startsAt: inMs(-HOUR_MS), freezeAt: inMs(HOUR_MS), endsAt: inMs(2 * HOUR_MS) };
    await admin.makeBoard('cut-short', { windows: [season] });
    await submitAll(admin, 'cut-short', [{ playerId: 'ada', score: 5 }]);
    expect((await windowsOf('cut-short'))[0]).toMatchObject({ freezeAt: season.freezeAt });
    const closed = await admin.post('/v1/admin/boards/cut-short/close-window', { window: 'season:cut' });
    expect(closed.status, closed.text).toBe(200);
    await expect
      .poll(async () => (await windowsOf('cut-short'))[0])
      .toMatchObject({ state: 'settled', freezeAt: null, isFrozen: false });
  });
});

describe('a season that was over before anybody used it', () => {
  const season = { season: 'quiet', startsAt: '2020-01-01T00:00:00Z', endsAt: '2020-02-01T00:00:00Z' };
  const read = async (path: string): Promise<Record<string, unknown>> => {
    const { status, text, body } = await anyone.get(`/v1/boards/quiet/${path}`);
    expect(status, text).toBe(200);
    return body as Record<string, unknown>;
  };

  it('answers every read as an ended window that is empty, and is listed', async () => {
    const later = { season: 'quieter', startsAt: '2020-01-01T00:00:00Z', endsAt: '2020-03-01T00:00:00Z' };
    const again = { ...later, season: 'quietest' };
    await admin.makeBoard('quiet', {
      windows: ['alltime', season, later, again],
      scopes: ['global', 'guild'],
      history: {},
    });
    const window = { id: 'season:quiet', startsAt: '2020-01-01T00:00:00.000Z', endsAt: '2020-02-01T00:00:00.000Z' };
    const empty = { window: { ...window, resetsAt: null }, total: 0, entries: [], next: null, prev: null };
    for (const style of ['ordinal', 'competition', 'dense']) {
      expect(await read(`entries?window=season:quiet&rankStyle=${style}`)).toMatchObject({
        ...empty,
        rankStyle: style,
      });
    }
    expect(await read('entries?window=season:quiet&cursor=start')).toMatchObject(empty);
    expect(await read('entries?window=season:quiet&scope=guild:red')).toMatchObject({ ...empty, scope: 'guild:red' });
    expect(await read('guilds?window=season:quiet')).toMatchObject(empty);
    expect(await read('rank?score=1&window=season:quiet')).toMatchObject({ rank: 1, total: 0 });
    expect(await read('players/ada/history?window=season:quiet')).toMatchObject({ points: [] });
    expect((await exports.text('quiet', '?window=season:quiet')).text.split('\r\n')).toHaveLength(2);
    const nobody = await anyone.get('/v1/boards/quiet/players/ada?window=season:quiet');
    expect(expectProblem(nobody, 'ENTRY_NOT_FOUND')).toMatchObject({ total: 0 });
    expectProblem(
      await admin.post('/v1/boards/quiet/scores', { playerId: 'ada', score: 1, window: 'season:quiet' }),
      'WINDOW_CLOSED',
    );
    const settled = { state: 'settled', entries: 0, version: null };
    const ids = ['season:quieter', 'season:quietest', 'season:quiet'];
    expect(
      (await windowsOf('quiet', '?state=settled')).map(({ id, state, entries, version }) => ({
        id,
        state,
        entries,
        version,
      })),
    ).toEqual(ids.map((id) => ({ id, ...settled })));
    const paged: string[] = [];
    for (let next: string | null = ''; next !== null;) {
      const body = await read(`windows?limit=1${next === '' ? '' : `&cursor=${encodeURIComponent(next)}`}`);
      paged.push(...(body['windows'] as Listed[]).map(({ id }) => id));
      next = body['next'] as string | null;
    }
    expect(paged).toEqual(['alltime', ...ids]);
  });

  it('is followed live as an empty list', async () => {
    const client = await LiveClient.connect(`${app.url.replace('http', 'ws')}/v1/live`);
    const asked = { type: 'subscribe', id: '1', board: 'quiet', channel: 'top', window: 'season:quiet' };
    await expect.poll(() => client.ask(asked)).toMatchObject({ type: 'snapshot', total: 0, entries: [] });
    await client.close();
  });
});

describe('a run that names a window that is over', () => {
  it('says when it was played, or is refused with what to do, also while late runs may enter', async () => {
    await admin.makeBoard('late', {
      windows: ['alltime', { season: 's', startsAt: inMs(-HOUR_MS), endsAt: inMs(-1000) }],
      graceSeconds: 3600,
    });
    const run = { playerId: 'ada', score: 1, window: 'season:s' };
    const without = expectProblem(await admin.post('/v1/boards/late/scores', run), 'WINDOW_MISMATCH');
    expect(without.detail).toMatch(/without achievedAt; send when it was played/);
    const wrong = { ...run, achievedAt: inMs(-2 * HOUR_MS) };
    expect(expectProblem(await admin.post('/v1/boards/late/scores', wrong), 'WINDOW_MISMATCH').detail).toMatch(
      /achievedAt/,
    );
    const answer = await admin.post('/v1/boards/late/scores', { ...run, achievedAt: inMs(-HOUR_MS / 2) });
    expect(answer.status, answer.text).toBe(200);
    expect(answer.body).toMatchObject({ windows: ['season:s', 'alltime'] });
  });
});

describe('a run that names a window that the board does not have', () => {
  it.each(['daily', 'weekly:2026-W47', 'season:none'])('is told so, and which there are: %s', async (window) => {
    await admin.put('/v1/boards/named', { order: 'desc', operator: 'best', windows: ['alltime', 'daily'] });
    const answer = await admin.post('/v1/boards/named/scores', { playerId: 'ada', score: 1, window });
    const { detail } = expectProblem(answer, 'WINDOW_MISMATCH');
    expect(detail).toMatch(/^Board "named" has no window with the id ".+"; a run now goes to alltime, daily:\d{4}-/);
  });
});

describe('a season with the longest id there can be', () => {
  const window = `season:${'s'.repeat(64)}`;

  it('takes runs that name it, and is read like any other', async () => {
    const season = { season: 's'.repeat(64), startsAt: inMs(-HOUR_MS), endsAt: inMs(HOUR_MS) };
    await admin.makeBoard('longest', { windows: ['alltime', season], history: {} });
    const run = { playerId: 'ada', score: 1, window };
    const { body, text } = await admin.post('/v1/boards/longest/scores', run, { Prefer: 'wait=5' });
    expect((body as { windows: string[] }).windows, text).toEqual([window, 'alltime']);
    for (const path of ['entries?', 'players/ada?', 'rank?score=1&', 'percentiles?at=50&', 'players/ada/history?']) {
      const read = await anyone.get(`/v1/boards/longest/${path}window=${window}`);
      expect(read.status, read.text).toBe(200);
    }
    expect((await exports.text('longest', `?window=${window}`)).text).toContain('ada');
    const client = await LiveClient.connect(`${app.url.replace('http', 'ws')}/v1/live`);
    const asked = { type: 'subscribe', id: '1', board: 'longest', channel: 'top', window };
    expect(await client.ask(asked)).toMatchObject({ type: 'snapshot', total: 1 });
    await client.close();
    const ended = await admin.post('/v1/admin/boards/longest/close-window', { window });
    expect(ended.status, ended.text).toBe(200);
  });
});

describe('a kind of windows that a definition no longer has', () => {
  it('is read and closed by its name as long as its last window runs', async () => {
    await admin.makeBoard('fewer', { windows: ['alltime', 'daily'] });
    await submitAll(admin, 'fewer', [{ playerId: 'ada', score: 1 }]);
    const put = await admin.put('/v1/boards/fewer', { order: 'desc', operator: 'best' });
    expect(put.status, put.text).toBe(200);
    const read = await anyone.get('/v1/boards/fewer/entries?window=daily');
    expect(read.status, read.text).toBe(200);
    expect(read.body).toMatchObject({ window: { id: expect.stringMatching(/^daily:/) as string }, total: 1 });
    expectProblem(await anyone.get('/v1/boards/fewer/entries?window=weekly'), 'WINDOW_NOT_FOUND');
    const { id } = (read.body as { window: Listed }).window;
    const closed = await admin.post('/v1/admin/boards/fewer/close-window', { window: 'daily' });
    expect(closed.status, closed.text).toBe(200);
    expect(closed.body).toMatchObject({ window: { id }, scopes: [{ scope: 'global', total: 1 }] });
    expectProblem(await anyone.get('/v1/boards/fewer/entries?window=daily'), 'WINDOW_NOT_FOUND');
    expectProblem(await admin.post('/v1/admin/boards/fewer/close-window', { window: 'daily' }), 'WINDOW_NOT_FOUND');
  });
});

describe("an operator's entry", () => {
  it('is refused where no window takes entries now', async () => {
    const season = { season: 'gone', startsAt: inMs(-2 * HOUR_MS), endsAt: inMs(-HOUR_MS) };
    await admin.makeBoard('over', { windows: [season] });
    const set = await admin.put('/v1/boards/over/players/ada', { score: 1, reason: 'too late' });
    expectProblem(set, 'WINDOW_CLOSED');
    expectProblem(await admin.delete('/v1/boards/over/players/ada'), 'ENTRY_NOT_FOUND');
  });
});
