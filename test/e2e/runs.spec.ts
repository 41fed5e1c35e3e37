// Real: the built service in one process, with its PostgreSQL and Redis; runs that are kept, voided and restored.
import { startStandalone, type RunningStandalone } from '@laddercast/testing';
import type { Response } from 'supertest';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectProblem, playerToken, RestClient } from './rest-client.js';

const WAIT = { Prefer: 'wait=10' };
const WHY = 'reason=a%20test';

interface Run {
  submissionId: string;
  state: string;
  kind: string;
  score: number | null;
  entryOf: string[];
}

describe('runs', () => {
  let service: RunningStandalone;
  let admin: RestClient;
  let moderator: RestClient;
  let reader: RestClient;

  beforeAll(async () => {
    service = await startStandalone();
    admin = new RestClient(service.url, service.adminKey);
    moderator = admin.as(await admin.makeKey('moderate'));
    reader = admin.as(await admin.makeKey('read', 'scores:write'));
    await admin.makeBoard('plain');
  });
  afterAll(() => service?.stop());

  const keeping = (id: string, more: object = {}): Promise<string> =>
    admin.makeBoard(id, { runs: { keepDays: 30 }, ...more });
  const submit = async (board: string, submissionId: string, playerId: string, score: number, more: object = {}) => {
    const response = await reader.post(`/v1/boards/${board}/scores`, { submissionId, playerId, score, ...more }, WAIT);
    expect(response.status, response.text).toBe(200);
    return response.body as { outcome: string; replayed: boolean; version: number };
  };
  const runPath = (board: string, id: string): string => `/v1/boards/${board}/submissions/${encodeURIComponent(id)}`;
  const voidRun = (board: string, id: string, as = moderator, more = ''): Promise<Response> =>
    as.delete(`${runPath(board, id)}?${WHY}${more}`);
  const restore = (board: string, id: string): Promise<Response> =>
    moderator.post(`${runPath(board, id)}/restore?${WHY}`);
  const runsOf = async (board: string, query = ''): Promise<Run[]> => {
    const response = await moderator.get(`/v1/boards/${board}/runs?${query}`);
    expect(response.status, response.text).toBe(200);
    return (response.body as { runs: Run[] }).runs;
  };
  /** What the list shows once it has caught up. */
  const expectList = (board: string, expected: unknown[], query = ''): Promise<void> =>
    expect
      .poll(async () => {
        const { body } = await admin.get(`/v1/boards/${board}/entries?${query}`);
        return (body as { entries: { playerId: string; score: number }[] }).entries.map((one) => [
          one.playerId,
          one.score,
        ]);
      })
      .toEqual(expected);

  it('are kept with all that was said of them, and read newest first', async () => {
    await keeping('kept', { columns: [{ name: 'moves', order: 'asc' }], windows: ['alltime', 'daily'] });
    const proof = 'https://replays.example/r-1';
    const more = { columns: { moves: 3 }, proof, verified: true, sourceId: 'match-1', metadata: { map: 'x' } };
    const { version } = await submit('kept', 'one', 'ada', 5, more);
    await submit('kept', 'two', 'ada', 4, { columns: { moves: 1 } });
    const [second, first] = await runsOf('kept');
    expect(first).toMatchObject({
      ...more,
      submissionId: 'one',
      playerId: 'ada',
      kind: 'run',
      state: 'counted',
      version,
    });
    expect(first!.entryOf).toEqual(['alltime', expect.stringMatching(/^daily:/)]);
    expect(second).toMatchObject({ submissionId: 'two', entryOf: [], proof: null, verified: false, reason: null });
    expect(await runsOf('kept', 'sourceId=match-1')).toHaveLength(1);
    expect(await runsOf('kept', 'state=held')).toHaveLength(0);
    expect(await runsOf('kept', 'player=bob')).toHaveLength(0);
    expect(await runsOf('kept', 'window=daily&limit=1')).toMatchObject([{ submissionId: 'two' }]);
    const page = await moderator.get('/v1/boards/kept/runs?limit=1');
    const { next } = page.body as { next: string };
    expect(await runsOf('kept', `limit=1&cursor=${next}`)).toMatchObject([{ submissionId: 'one' }]);
    expect(await runsOf('kept', 'from=2100-01-01T00:00:00Z')).toHaveLength(0);
    expect(await runsOf('kept', 'to=2100-01-01T00:00:00Z')).toHaveLength(2);
  });

  it('let the entry fall back when they are voided, and come back to the last bit', async () => {
    await keeping('totals', { operator: 'sum' });
    for (const [at, score] of [0.1, 0.2, 0.3].entries()) await submit('totals', `s${at}`, 'ada', score);
    const voided = await voidRun('totals', 's1');
    expect(voided.status, voided.text).toBe(200);
    expect(voided.body).toMatchObject({
      submissionId: 's1',
      outcome: 'voided',
      windows: [{ window: 'alltime', before: { score: 0.6000000000000001 }, after: { score: 0.4 }, revising: false }],
    });
    await expectList('totals', [['ada', 0.4]]);
    expect((await voidRun('totals', 's1')).body).toMatchObject({ outcome: 'unchanged', windows: [] });
    // A retry still gets its first answer, and counts nothing.
    expect(await submit('totals', 's1', 'ada', 0.2)).toMatchObject({ replayed: true, outcome: 'changed' });
    const restored = await restore('totals', 's1');
    expect(restored.body).toMatchObject({ outcome: 'restored', windows: [{ after: { score: 0.6000000000000001 } }] });
    const versions = [voided, restored].map(({ body }) => (body as { version: number }).version);
    expect(versions[1]).toBeGreaterThan(versions[0]!);
    await expectList('totals', [['ada', 0.6000000000000001]]);
  });

  it('take an entry away with the last of them, in its regions and guilds too', async () => {
    const scopes = ['global', 'region', 'guild'];
    await keeping('circles', { scopes });
    await admin.put('/v1/players/cleo', { region: 'EU' });
    await admin.put('/v1/guilds/red', {});
    await admin.put('/v1/guilds/red/members/cleo');
    await submit('circles', 'c1', 'cleo', 9);
    await submit('circles', 'c2', 'cleo', 12);
    await expectList('circles', [['cleo', 12]], 'scope=region:EU');
    await voidRun('circles', 'c2');
    await expectList('circles', [['cleo', 9]], 'scope=region:EU');
    const total = async (): Promise<unknown> =>
      (await admin.get('/v1/boards/circles/guilds')).body as { entries: { score: number }[] };
    await expect.poll(total).toMatchObject({ entries: [{ score: 9 }] });
    await voidRun('circles', 'c1');
    await expectList('circles', [], 'scope=region:EU');
    await expect.poll(total).toMatchObject({ entries: [] });
    await restore('circles', 'c2');
    await expectList('circles', [['cleo', 12]], 'scope=guild:red');
    await expect.poll(total).toMatchObject({ entries: [{ score: 12 }] });
  });

  it("have an operator's entries and removals among them, to be voided as well", async () => {
    await keeping('overrides');
    await submit('overrides', 'o1', 'ada', 5);
    const set = await admin.put('/v1/boards/overrides/players/ada', { score: 50, reason: 'a mistake' });
    const removed = await admin.delete('/v1/boards/overrides/players/ada');
    await expectList('overrides', []);
    const ids = [set, removed].map(({ body }) => (body as { submissionId: string }).submissionId);
    expect(await runsOf('overrides')).toMatchObject([
      { submissionId: ids[1], kind: 'removal', score: null },
      { submissionId: ids[0], kind: 'override', score: 50, reason: 'a mistake' },
      { submissionId: 'o1' },
    ]);
    await voidRun('overrides', ids[1]!);
    await expectList('overrides', [['ada', 50]]);
    await voidRun('overrides', ids[0]!);
    await expectList('overrides', [['ada', 5]]);
    expect((await admin.put('/v1/boards/plain/players/ada', { score: 1, reason: 'x' })).body).toMatchObject({
      submissionId: null,
    });
  });

  it('say what is wrong', async () => {
    await keeping('late');
    expectProblem(await voidRun('plain', 'x'), 'RUNS_NOT_KEPT');
    expectProblem(await moderator.get('/v1/boards/plain/runs'), 'RUNS_NOT_KEPT');
    expectProblem(await voidRun('nowhere', 'x'), 'BOARD_NOT_FOUND');
    expectProblem(await voidRun('late', 'x'), 'RUN_NOT_FOUND');
    expectProblem(await restore('late', 'x'), 'RUN_NOT_FOUND');
    await submit('late', 'of-ada', 'ada', 5);
    expectProblem(await voidRun('late', 'of-ada', moderator, '&player=bob'), 'RUN_NOT_FOUND');
    expectProblem(await moderator.delete(runPath('late', 'x')), 'VALIDATION_FAILED');
    expectProblem(await moderator.delete(`${runPath('late', 'x')}?reason=`), 'VALIDATION_FAILED');
    expectProblem(await moderator.put(`${runPath('late', 'x')}/verification`, { verified: 1 }), 'VALIDATION_FAILED');
    // Where players submit for themselves, ids are theirs.
    await keeping('theirs', { submitters: 'players' });
    expect(expectProblem(await voidRun('theirs', 'x'), 'VALIDATION_FAILED')).toMatchObject({
      errors: [{ pointer: '?player' }],
    });
    expectProblem(await moderator.get('/v1/boards/late/runs?state=gone'), 'VALIDATION_FAILED');
    expectProblem(await moderator.get('/v1/boards/late/runs?from=soon'), 'VALIDATION_FAILED');
    for (const fields of [{ proof: 'https://x.example/1' }, { verified: true }]) {
      const run = { playerId: 'ada', score: 1, ...fields };
      expectProblem(await admin.post('/v1/boards/plain/scores', run), 'RUNS_NOT_KEPT');
    }
    for (const proof of ['http://x.example/1', 'x', 'https://u:p@x.example/', `https://x.example/${'a'.repeat(500)}`]) {
      expectProblem(
        await admin.post('/v1/boards/late/scores', { playerId: 'ada', score: 1, proof }),
        'VALIDATION_FAILED',
      );
    }
    expectProblem(
      await admin.put('/v1/boards/odd', { order: 'desc', operator: 'best', proof: 'everyone' }),
      'RUNS_NOT_KEPT',
    );
    const rolling = { order: 'desc', operator: 'sum', windows: [{ rolling: '168h' }] };
    expectProblem(await admin.put('/v1/boards/odd', { ...rolling, runs: { keepDays: 7 } }), 'VALIDATION_FAILED');
    expectProblem(await admin.put('/v1/boards/odd', { ...rolling, runs: { keepDays: 6 } }), 'VALIDATION_FAILED');
    expect((await admin.put('/v1/boards/odd', { ...rolling, runs: { keepDays: 8 } })).status).toBe(201);
  });

  it('that were accepted before runs were kept cannot be acted on alone', async () => {
    await admin.makeBoard('older', { operator: 'sum' });
    await submit('older', 'before', 'ada', 5);
    await admin.put('/v1/boards/older', { order: 'desc', operator: 'sum', runs: { keepDays: 30 } });
    await submit('older', 'after', 'ada', 2);
    expectProblem(await voidRun('older', 'before'), 'RUN_GONE');
    expect((await voidRun('older', 'after')).body).toMatchObject({ windows: [{ after: { score: 5 } }] });
    await expectList('older', [['ada', 5]]);
  });

  it('are for moderators, and for the player whose they are', async () => {
    await keeping('rights', { submitters: 'players' });
    const ada = admin.as(await playerToken(service.jwtSecret, 'ada'));
    const run = { submissionId: 'mine', playerId: 'ada', score: 3 };
    expect((await ada.post('/v1/boards/rights/scores', run)).status).toBe(200);
    expectProblem(
      await ada.post('/v1/boards/rights/scores', { ...run, submissionId: 'v', verified: true }),
      'FORBIDDEN',
    );
    expectProblem(await voidRun('rights', 'mine'), 'VALIDATION_FAILED');
    expectProblem(await voidRun('rights', 'mine', moderator, '&player=bob'), 'RUN_NOT_FOUND');
    for (const other of [reader, ada]) {
      expectProblem(await voidRun('rights', 'mine', other, '&player=ada'), 'FORBIDDEN');
      expectProblem(await other.get('/v1/boards/rights/runs'), 'FORBIDDEN');
    }
    expectProblem(await ada.get('/v1/boards/rights/players/bob/runs'), 'FORBIDDEN');
    expectProblem(await admin.as(undefined).get('/v1/boards/rights/players/ada/runs'), 'UNAUTHENTICATED');
    expect((await voidRun('rights', 'mine', moderator, '&player=ada')).body).toMatchObject({ outcome: 'voided' });
    const own = await ada.get('/v1/boards/rights/players/me/runs');
    expect(own.body).toMatchObject({ runs: [{ submissionId: 'mine', state: 'voided' }] });
    expect(own.text).not.toContain('reason');
    const seen = await moderator.get('/v1/boards/rights/players/ada/runs');
    expect(seen.body).toMatchObject({ runs: [{ reason: 'a test' }] });
  });

  it('leave each act in the audit log, and nothing of what changed nothing', async () => {
    await keeping('audited');
    await submit('audited', 'a1', 'ada', 5);
    await voidRun('audited', 'a1');
    await voidRun('audited', 'a1');
    await moderator.put(`${runPath('audited', 'a1')}/verification`, { verified: true, reason: 'looked at it' });
    await restore('audited', 'a1');
    const { body } = await moderator.get('/v1/admin/audit?subject=run:audited/a1');
    const acts = (body as { acts: { action: string; details: object }[] }).acts;
    expect(acts.map(({ action }) => action)).toEqual(['run.restore', 'run.verify', 'run.void']);
    expect(acts[1]!.details).toMatchObject({ reason: 'looked at it', verified: true });
    expect(acts[2]!.details).toMatchObject({
      reason: 'a test',
      playerId: 'ada',
      windows: [{ window: 'alltime', before: { score: 5 }, after: null }],
    });
  });
});
