// Real: the built service over HTTP, with PostgreSQL and Redis.
import { startStandalone, type RunningStandalone } from '@laddercast/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectProblem, RestClient } from './rest-client.js';
import { sql } from './sql.js';

const SEASON = { season: 's1', startsAt: '2020-01-01T00:00:00Z', endsAt: '2090-01-01T00:00:00Z' };
const AHEAD = { season: 's2', startsAt: '2090-01-01T00:00:00Z', endsAt: '2091-01-01T00:00:00Z' };

describe('POST /v1/admin/boards/{board}/close-window', () => {
  let app: RunningStandalone;
  let admin: RestClient;

  beforeAll(async () => {
    app = await startStandalone();
    admin = new RestClient(app.url, app.adminKey);
  });
  afterAll(() => app?.stop());

  const makeBoard = async (id: string, scores: Record<string, number>): Promise<void> => {
    await admin.makeBoard(id, {
      windows: ['alltime', SEASON, AHEAD, { rolling: '24h' }, 'daily'],
      rankStyle: 'competition',
      scopes: ['global', 'region'],
    });
    for (const [playerId, score] of Object.entries(scores)) {
      await admin.put(`/v1/players/${playerId}`, { region: score > 5 ? 'EU' : 'US' });
      const response = await admin.post(`/v1/boards/${id}/scores`, { playerId, score }, { Prefer: 'wait=10' });
      expect(response.status, response.text).toBe(200);
    }
  };

  it('says with dryRun what it would write, writes that, and is followed by nothing that enters', async () => {
    await makeBoard('by-hand', { 'hand-ada': 9, 'hand-bob': 9, 'hand-cy': 3 });
    const path = '/v1/admin/boards/by-hand/close-window';
    const dry = await admin.post(`${path}?dryRun`, { window: 'season:s1' });
    expect(dry.status, dry.text).toBe(200);
    const ada = { rank: 1, playerId: 'hand-ada', score: 9 };
    const bob = { rank: 1, playerId: 'hand-bob', score: 9 };
    const cy = { rank: 3, playerId: 'hand-cy', score: 3 };
    const scopes = [
      { scope: 'global', total: 3, top: [ada, bob, cy] },
      { scope: 'region:EU', total: 2, top: [ada, bob] },
      { scope: 'region:US', total: 1, top: [{ ...cy, rank: 1 }] },
    ];
    const window = { id: 'season:s1', startsAt: '2020-01-01T00:00:00.000Z', endsAt: '2090-01-01T00:00:00.000Z' };
    expect(dry.body).toEqual({ board: 'by-hand', window, dryRun: true, scopes });
    const before = await admin.get('/v1/boards/by-hand/entries?window=season:s1');
    const beganMs = Date.now() - 1000;
    const closed = await admin.post(path, { window: 'season:s1' });
    expect(closed.status, closed.text).toBe(200);
    const endsAt = (closed.body as { window: { endsAt: string } }).window.endsAt;
    expect(closed.body).toEqual({ board: 'by-hand', window: { ...window, endsAt }, dryRun: false, scopes });
    expect(Date.parse(endsAt)).toBeGreaterThan(beganMs);
    expect(Date.parse(endsAt)).toBeLessThan(Date.now() + 1000);
    const run = await admin.post('/v1/boards/by-hand/scores', { playerId: 'hand-ada', score: 99, window: 'season:s1' });
    expect([run.status, (run.body as { code: string }).code]).toEqual([409, 'WINDOW_CLOSED']);
    const after = await admin.get('/v1/boards/by-hand/entries?window=season:s1');
    expect(after.status, after.text).toBe(200);
    const entriesOf = ({ body }: { body: unknown }): unknown => (body as { entries: unknown }).entries;
    expect(entriesOf(after)).toEqual(entriesOf(before));
    for (const query of ['', '?dryRun=true']) {
      const again = await admin.post(path + query, { window: 'season:s1' });
      expect([again.status, (again.body as { code: string }).code]).toEqual([409, 'WINDOW_CLOSED']);
    }
  });

  it('closes a running window by its short name, and the next begins at once', async () => {
    await makeBoard('short', { 'short-ada': 1 });
    const closed = await admin.post('/v1/admin/boards/short/close-window', { window: 'daily' });
    expect(closed.status, closed.text).toBe(200);
    const { id, endsAt } = (closed.body as { window: { id: string; endsAt: string } }).window;
    const run = await admin.post('/v1/boards/short/scores', { playerId: 'short-ada', score: 2 });
    const next = (run.body as { windows: string[] }).windows.find((name) => name.startsWith('daily:'));
    expect(next).not.toBe(id);
    const list = await admin.get('/v1/boards/short/entries?window=daily');
    expect((list.body as { window: object }).window).toMatchObject({ id: next, startsAt: endsAt });
  });

  it('says why the standings cannot be written, shows it to operators alone, and writes them once that is over', async () => {
    await makeBoard('failing', { 'failing-ada': 1 });
    const path = '/v1/admin/boards/failing/close-window';
    const failures = async (query = ''): Promise<{ settlementFailures: object[]; next: string | null }> => {
      const { status, body, text } = await admin.get(`/v1/admin/settlement-failures${query}`);
      expect(status, text).toBe(200);
      return body as { settlementFailures: object[]; next: string | null };
    };
    await sql(
      app.databaseUrl,
      `CREATE FUNCTION no_room() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''no room''; END'`,
    );
    await sql(
      app.databaseUrl,
      'CREATE TRIGGER no_room BEFORE INSERT ON standings FOR EACH ROW EXECUTE FUNCTION no_room()',
    );
    for (let calls = 0; calls < 2; calls += 1) {
      const failed = await admin.post(path, { window: 'season:s1' });
      expectProblem(failed, 'SETTLEMENT_FAILED');
      expect((failed.body as { detail: string }).detail).toContain('no room');
    }
    const shown = await failures('?limit=1');
    expect(shown).toMatchObject({
      settlementFailures: [{ board: 'failing', window: 'season:s1', kind: 'final', error: 'no room' }],
      next: null,
    });
    const { closedAt, failedAt, retryAt } = shown.settlementFailures[0] as Record<string, string>;
    expect(Date.parse(failedAt!)).toBeGreaterThanOrEqual(Date.parse(closedAt!));
    expect(Date.parse(retryAt!)).toBeGreaterThan(Date.parse(failedAt!));
    const writer = admin.as(await admin.makeKey('scores:write', 'read'));
    expectProblem(await writer.get('/v1/admin/settlement-failures'), 'FORBIDDEN');
    expectProblem(await admin.get('/v1/admin/settlement-failures?cursor=x'), 'VALIDATION_FAILED');
    await sql(app.databaseUrl, 'DROP TRIGGER no_room ON standings');
    await expect.poll(() => failures(), { timeout: 30_000 }).toEqual({ settlementFailures: [], next: null });
    expectProblem(await admin.post(path, { window: 'season:s1' }), 'WINDOW_CLOSED');
  });

  it('refuses what cannot be closed, by whom it cannot, and what it does not know', async () => {
    await makeBoard('refusing', { 'refusing-ada': 1 });
    const path = '/v1/admin/boards/refusing/close-window';
    const codeOf = async (client: RestClient, at: string, body: unknown): Promise<[number, string]> => {
      const { status, body: problem } = await client.post(at, body);
      return [status, (problem as { code: string }).code];
    };
    expect(await codeOf(admin, path, { window: 'alltime' })).toEqual([422, 'WINDOW_UNENDING']);
    expect(await codeOf(admin, path, { window: 'rolling:24h' })).toEqual([422, 'WINDOW_UNENDING']);
    expect(await codeOf(admin, path, { window: 'season:s2' })).toEqual([422, 'WINDOW_MISMATCH']);
    expect(await codeOf(admin, path, { window: 'daily:2090-01-01' })).toEqual([422, 'WINDOW_MISMATCH']);
    expect(await codeOf(admin, path, { window: 'season:s3' })).toEqual([404, 'WINDOW_NOT_FOUND']);
    expect(await codeOf(admin, '/v1/admin/boards/nowhere/close-window', { window: 'daily' })).toEqual([
      404,
      'BOARD_NOT_FOUND',
    ]);
    for (const body of [undefined, {}, { window: 7 }, { window: '' }, { window: 'daily', more: 1 }, []]) {
      expect(await codeOf(admin, path, body)).toEqual([400, 'VALIDATION_FAILED']);
    }
    expect(await codeOf(admin, `${path}?dryRun=maybe`, { window: 'daily' })).toEqual([400, 'VALIDATION_FAILED']);
    const writer = admin.as(await admin.makeKey('scores:write', 'read'));
    expect(await codeOf(writer, path, { window: 'daily' })).toEqual([403, 'FORBIDDEN']);
    expect(await codeOf(admin.as(undefined), path, { window: 'daily' })).toEqual([401, 'UNAUTHENTICATED']);
  });
});
