// Real: PostgreSQL, Redis, and the whole service in this process. By hand: what raises the flags.
import { BoardCatalog, Flags, type Flag } from '@laddercast/ledger';
import { createTestDatabase, emptyTestRedis, type TestDatabase } from '@laddercast/testing';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ADMIN_KEY, startServiceOfTeams } from '../integration/nodes/service-of-teams.js';
import { expectProblem, RestClient } from './rest-client.js';

let database: TestDatabase;
let app: NestFastifyApplication;
let admin: RestClient;
let moderator: RestClient;
let reader: RestClient;

beforeAll(async () => {
  database = await createTestDatabase();
  app = await startServiceOfTeams({ databaseUrl: database.url, redisUrl: await emptyTestRedis() });
  const url = await app.getUrl();
  admin = new RestClient(url).as(ADMIN_KEY);
  const keyWith = async (scope: string): Promise<RestClient> => {
    const { body } = await admin.post('/v1/admin/api-keys', { name: scope, scopes: [scope] });
    return new RestClient(url).as((body as { secret: string }).secret);
  };
  moderator = await keyWith('moderate');
  reader = await keyWith('read');
  const integrity = { rate: { runs: 2, seconds: 60 } };
  const put = await admin.put('/v1/boards/blitz', {
    order: 'desc',
    operator: 'best',
    runs: { keepDays: 30 },
    integrity,
  });
  expect(put.status, put.text).toBe(201);
  for (const [index, playerId] of ['ada', 'bob', 'cy'].entries()) await raise(playerId, index + 1);
});
afterAll(async () => {
  await app?.close();
  await database.drop();
});

const raise = async (playerId: string, position: number): Promise<void> => {
  const boardUid = app.get(BoardCatalog, { strict: false }).byId('blitz')!.uid;
  await app.get(Flags, { strict: false }).raise({
    ...{ rule: 'rate', severity: 'medium', boardUid, playerId, subject: playerId, key: '' },
    ...{ summary: 'Too fast.', details: { runs: 2 }, runs: [{ playerId, position, submissionId: `s${position}` }] },
  });
};
const page = async (query = ''): Promise<{ flags: Flag[]; next: string | null }> => {
  const answer = await moderator.get(`/v1/admin/flags${query}`);
  expect(answer.status, answer.text).toBe(200);
  return answer.body as never;
};

describe('flags over REST', () => {
  it('come in pages, by filters', async () => {
    const first = await page('?limit=2');
    expect(first.flags).toMatchObject([
      { playerId: 'cy' },
      { playerId: 'bob', board: 'blitz', submissionIds: ['s2'], count: 1 },
    ]);
    expect(await page(`?limit=2&cursor=${first.next}`)).toMatchObject({ flags: [{ playerId: 'ada' }], next: null });
    const query = '?state=open&board=blitz&player=ada&rule=rate&severity=medium';
    expect((await page(query)).flags).toMatchObject([{ playerId: 'ada', state: 'open' }]);
    expect(await page('?board=none')).toEqual({ flags: [], next: null });
  });

  it.each(['?state=closed', '?severity=fatal', '?cursor=x', '?limit=0', '?colour=red'])('refuse %s', async (query) => {
    expectProblem(await moderator.get(`/v1/admin/flags${query}`), 'VALIDATION_FAILED');
  });

  it('are for moderators and admins', async () => {
    const decision = { decision: 'dismiss', reason: 'x' };
    expectProblem(await reader.get('/v1/admin/flags'), 'FORBIDDEN');
    expectProblem(await reader.post('/v1/admin/flags/x', decision), 'FORBIDDEN');
    const nobody = new RestClient(await app.getUrl());
    expectProblem(await nobody.get('/v1/admin/flags'), 'UNAUTHENTICATED');
    expectProblem(await nobody.post('/v1/admin/flags/x', decision), 'UNAUTHENTICATED');
    expect((await admin.get('/v1/admin/flags')).status).toBe(200);
  });

  it.each([
    [{ decision: 'forgive', reason: 'x' }, '/decision'],
    [{ reason: 'x' }, '/decision'],
    [{ decision: 'void' }, '/reason'],
    [{ decision: 'void', reason: '' }, '/reason'],
    [{ decision: 'void', reason: 'x'.repeat(501) }, '/reason'],
    [{ decision: 'void', reason: 'x', board: 'blitz' }, '/board'],
  ])('are not decided by %j', async (body, pointer) => {
    const [flag] = (await page('?player=ada')).flags;
    const problem = expectProblem(await moderator.post(`/v1/admin/flags/${flag!.flagId}`, body), 'VALIDATION_FAILED');
    expect(problem.errors).toEqual([expect.objectContaining({ pointer })]);
    expect((await page('?player=ada')).flags).toEqual([flag]);
  });

  it('are decided once, and reopened, with a record for who may moderate', async () => {
    const [flag] = (await page('?player=ada')).flags;
    const path = `/v1/admin/flags/${flag!.flagId}`;
    const reason = 'ü'.repeat(500);
    const dismissed = await moderator.post(path, { decision: 'dismiss', reason });
    expect(dismissed.body).toMatchObject({
      ...flag,
      state: 'decided',
      decision: 'dismiss',
      reason,
      decidedAt: expect.any(String),
      decidedBy: expect.any(String),
    });
    expect(await moderator.post(path, { decision: 'dismiss', reason: 'again' })).toMatchObject({
      status: 200,
      body: dismissed.body,
    });
    const other = expectProblem(await moderator.post(path, { decision: 'ban', reason: 'x' }), 'FLAG_DECIDED');
    expect(other).toMatchObject({ decision: 'dismiss' });
    expect((await moderator.post(path, { decision: 'reopen', reason: 'a new look' })).body).toMatchObject({
      state: 'open',
    });
    const { body: audit } = await moderator.get(`/v1/admin/audit?subject=flag:${flag!.flagId}`);
    expect((audit as { acts: object[] }).acts).toMatchObject([
      { action: 'flag.decide', details: { decision: 'reopen', reason: 'a new look', before: 'dismiss' } },
      { action: 'flag.decide', details: { decision: 'dismiss', reason, before: null } },
    ]);
  });

  it('that do not exist are 404, and of runs that are not kept 410', async () => {
    expectProblem(await moderator.post('/v1/admin/flags/none', { decision: 'void', reason: 'x' }), 'FLAG_NOT_FOUND');
    expectProblem(await moderator.post('/v1/admin/flags/%00', { decision: 'void', reason: 'x' }), 'VALIDATION_FAILED');
    const [flag] = (await page('?player=bob')).flags;
    expectProblem(
      await moderator.post(`/v1/admin/flags/${flag!.flagId}`, { decision: 'void', reason: 'x' }),
      'RUN_GONE',
    );
  });

  const boardOf = async (board: string, definition: object): Promise<void> => {
    const put = await admin.put(`/v1/boards/${board}`, { order: 'desc', operator: 'best', ...definition });
    expect([200, 201], put.text).toContain(put.status);
  };
  const submit = async (board: string, submissionId: string, more: object = {}): Promise<void> => {
    const sent = await admin.post(`/v1/boards/${board}/scores`, { submissionId, playerId: 'ada', score: 9, ...more });
    expect(sent.status, sent.text).toBe(200);
  };

  it('are open again while their runs wait again, and are raised of a run that had none', async () => {
    await boardOf('checked', { runs: { keepDays: 30 }, counts: 'verified' });
    const path = '/v1/boards/checked/submissions';
    const verify = (id: string, verified: boolean) =>
      moderator.put(`${path}/${id}/verification`, { verified, reason: 'looked' });
    const flagsOf = async (state: string): Promise<unknown[]> =>
      (await page(`?board=checked&state=${state}`)).flags.map(({ rule, submissionIds: [id], decision }) => [
        ...[rule, id, decision],
      ]);
    await submit('checked', 'seen', { verified: true });
    expect(await flagsOf('open')).toEqual([]);
    expect((await verify('seen', false)).body).toMatchObject({ outcome: 'unverified' });
    expect(await flagsOf('open')).toEqual([['held', 'seen', null]]);
    await verify('seen', true);
    expect([await flagsOf('open'), await flagsOf('decided')]).toEqual([[], [['held', 'seen', 'accept']]]);
    await verify('seen', false);
    expect(await flagsOf('open')).toEqual([['held', 'seen', 'accept']]);
    await moderator.delete(`${path}/seen?reason=x`);
    expect([await flagsOf('open'), await flagsOf('decided')]).toEqual([[], [['held', 'seen', 'void']]]);
    // What is voided waits for nobody, whether it is verified or not.
    await verify('seen', true);
    await verify('seen', false);
    expect(await flagsOf('open')).toEqual([]);
    await moderator.post(`${path}/seen/restore?reason=x`);
    expect(await flagsOf('open')).toEqual([['held', 'seen', 'void']]);
    const { flagId } = (await page('?board=checked')).flags[0]!;
    const decided = await moderator.post(`/v1/admin/flags/${flagId}`, { decision: 'dismiss', reason: 'fine' });
    expect(decided.body).toMatchObject({ state: 'decided', decision: 'dismiss' });
    await expect
      .poll(async () => (await moderator.get('/v1/boards/checked/players/ada')).body as unknown)
      .toMatchObject({ entry: { verified: false } });
  });

  it.each(['dismiss', 'accept'])('say by the last decision whether their runs are verified: %s', async (last) => {
    const board = `looked-${last}`;
    await boardOf(board, { runs: { keepDays: 30 }, integrity: { holdAbove: 5 } });
    await submit(board, 'one');
    const [flag] = (await page(`?board=${board}`)).flags;
    for (const decision of ['accept', 'reopen', 'void', 'reopen', last]) {
      const decided = await moderator.post(`/v1/admin/flags/${flag!.flagId}`, { decision, reason: 'looked' });
      expect(decided.status, decided.text).toBe(200);
    }
    const { body } = await moderator.get(`/v1/boards/${board}/runs`);
    expect(body).toMatchObject({ runs: [{ submissionId: 'one', state: 'counted', verified: last === 'accept' }] });
  });

  it('go on being dismissed, and ban, where their board stops to keep runs', async () => {
    await boardOf('ending', { runs: { keepDays: 30 }, integrity: { holdAbove: 5 } });
    await submit('ending', 'one');
    await submit('ending', 'two', { playerId: 'eve' });
    await boardOf('ending', {});
    const decide = async (player: string, decision: string) => {
      const [flag] = (await page(`?board=ending&player=${player}`)).flags;
      return moderator.post(`/v1/admin/flags/${flag!.flagId}`, { decision, reason: 'over' });
    };
    for (const decision of ['accept', 'void']) expectProblem(await decide('ada', decision), 'RUN_GONE');
    expect((await decide('ada', 'dismiss')).body).toMatchObject({ state: 'decided', decision: 'dismiss' });
    expect((await decide('eve', 'ban')).body).toMatchObject({ state: 'decided', decision: 'ban' });
    const { body } = await moderator.get('/v1/admin/players/eve/sanctions');
    expect(body).toMatchObject({ sanctions: [{ kind: 'ban', endedAt: null }] });
  });
});
