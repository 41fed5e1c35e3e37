// Real: the built service in one process, with its PostgreSQL and Redis.
import { startStandalone, type RunningStandalone } from '@laddercast/testing';
import type { Problem } from '@laddercast/domain';
import type { Response } from 'supertest';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { expectProblem, RestClient } from './rest-client.js';

interface PatchAnswer {
  patch: string;
  family: string;
  publishedAt: string;
  sameAs: string | null;
  title: string | null;
  behind: number | null;
  runs: number;
  status: string;
}

describe('patches over REST', () => {
  let service: RunningStandalone;
  let anonymous: RestClient;
  let admin: RestClient;
  let family: string;
  let families = 0;

  beforeAll(async () => {
    service = await startStandalone();
    anonymous = new RestClient(service.url);
    admin = anonymous.as(service.adminKey);
  }, 90_000);
  beforeEach(() => {
    family = `family-${(families += 1)}`;
  });
  afterAll(() => service?.stop());

  const put = (patch: string, body: object = {}, headers = {}): Promise<Response> =>
    admin.put(`/v1/patches/${patch}`, { family, ...body }, headers);
  const list = async (): Promise<PatchAnswer[]> => {
    const { body, status } = await anonymous.get(`/v1/patches?family=${family}`);
    expect([status, (body as { family: string }).family]).toEqual([200, family]);
    return (body as { patches: PatchAnswer[] }).patches;
  };
  /** A problem with a status that its code does not have elsewhere. */
  const expectAt = (response: Response, status: number, code: string): void => {
    expect([response.status, (response.body as Problem).code], response.text).toEqual([status, code]);
    expect(response.headers['content-type']).toMatch(/^application\/problem\+json/);
  };
  const faults = (response: Response): string[] =>
    expectProblem(response, 'VALIDATION_FAILED').errors!.map(({ pointer }) => pointer);

  it('are made with 201, and changed with 200', async () => {
    const made = await put('1.28', { publishedAt: '2026-03-01T00:00:00+01:00', title: 'Third Rome' });
    expect(made.status, made.text).toBe(201);
    expect(made.body).toEqual({
      ...{ patch: '1.28', family, publishedAt: '2026-02-28T23:00:00.000Z', sameAs: null, title: 'Third Rome' },
      ...{ behind: 0, runs: 0, status: 'published' },
    });
    const changed = await put('1.28', { title: 'Rome' });
    expect([changed.status, changed.body]).toEqual([200, { ...made.body, title: 'Rome' }]);
    const read = await anonymous.get(`/v1/patches/1.28?family=${family}`);
    expect([read.status, read.body]).toEqual([200, changed.body]);
    expect([read.headers['etag'], read.headers['cache-control']]).toEqual([changed.headers['etag'], 'no-store']);
  });

  it('are listed in their order, each with how far it is behind', async () => {
    await put('1.10', { publishedAt: '2026-03-02T00:00:00Z' });
    await put('1.9', { publishedAt: '2026-03-01T00:00:00Z' });
    await put('1.9.1', { publishedAt: '2026-03-01T00:00:00Z', sameAs: '1.9' });
    await put('1.11', { publishedAt: '2999-01-01T00:00:00Z' });
    expect((await list()).map(({ patch, behind, status, sameAs }) => [patch, behind, status, sameAs])).toEqual([
      ['1.9', 1, 'published', null],
      ['1.9.1', 1, 'published', '1.9'],
      ['1.10', 0, 'published', null],
      ['1.11', null, 'scheduled', null],
    ]);
    family = 'nobody-made-it';
    expect(await list()).toEqual([]);
    expect(faults(await anonymous.get('/v1/patches'))).toEqual(['?family']);
  });

  it('are published when their time comes', async () => {
    await put('1.28');
    const publishedAt = new Date(Date.now() + 1500).toISOString();
    expect((await put('1.29', { publishedAt })).body).toMatchObject({ publishedAt, status: 'scheduled', behind: null });
    await expect.poll(async () => (await list()).map(({ behind }) => behind), { timeout: 20_000 }).toEqual([1, 0]);
  });

  it('need the tag that If-Match names', async () => {
    const id = `tagged-${family}`;
    const tag = (await put(id)).headers['etag']!;
    expect((await put(id, { title: 'A' }, { 'If-Match': tag })).status).toBe(200);
    expectProblem(await put(id, { title: 'B' }, { 'If-Match': tag }), 'PRECONDITION_FAILED');
    expectProblem(await put(id, {}, { 'If-None-Match': '*' }), 'PRECONDITION_FAILED');
    expectProblem(await admin.delete(`/v1/patches/${id}?family=${family}`, { 'If-Match': tag }), 'PRECONDITION_FAILED');
    expect((await list())[0]!.title).toBe('A');
  });

  it('want ?family= where two families have the id', async () => {
    const [one, other] = [family, `${family}-too`];
    const id = `only-${family}`;
    const tag = (await put(id)).headers['etag']!;
    expect((await anonymous.get(`/v1/patches/${id}`)).body).toMatchObject({ family: one });
    family = other;
    const ofOther = (await put(id)).headers['etag']!;
    expect(faults(await anonymous.get(`/v1/patches/${id}`))).toEqual(['?family']);
    expect(faults(await admin.delete(`/v1/patches/${id}`))).toEqual(['?family']);
    expect(faults(await put(id, { title: 'T' }, { 'If-Match': ofOther }))).toEqual(['?family']);
    const named = admin.put(`/v1/patches/${id}?family=${one}`, { family: one, title: 'T' }, { 'If-Match': tag });
    expect((await named).status).toBe(200);
    expect(faults(await admin.put(`/v1/patches/${id}?family=${one}`, { family: other }))).toEqual(['?family']);
    expect((await admin.delete(`/v1/patches/${id}?family=${other}`)).status).toBe(204);
    expect((await anonymous.get(`/v1/patches/${id}`)).body).toMatchObject({ family: one, title: 'T' });
  });

  it('go with 204, and are unknown then', async () => {
    await put('1.28');
    await put('1.28.1', { sameAs: '1.28' });
    const inUse = expectProblem(await admin.delete(`/v1/patches/1.28?family=${family}`), 'PATCH_IN_USE');
    expect(inUse.detail).toContain('"1.28.1" is the same as it');
    for (const patch of ['1.28.1', '1.28']) {
      expect((await admin.delete(`/v1/patches/${patch}?family=${family}`)).status).toBe(204);
      expectAt(await admin.delete(`/v1/patches/${patch}?family=${family}`), 404, 'PATCH_UNKNOWN');
      expectAt(await anonymous.get(`/v1/patches/${patch}?family=${family}`), 404, 'PATCH_UNKNOWN');
    }
    expectAt(await anonymous.get('/v1/patches/nobody-has-it'), 404, 'PATCH_UNKNOWN');
  });

  it('are refused with every fault, and nothing is stored', async () => {
    const bad = { family: 'No!', publishedAt: 'soon', sameAs: 7, title: '' };
    expect(faults(await put('1.28', bad)).sort()).toEqual(['/family', '/publishedAt', '/sameAs', '/title']);
    expect(faults(await put('1.28', { more: 1 }))).toEqual(['/more']);
    expect(faults(await admin.put('/v1/patches/1.28', {}))).toEqual(['/family']);
    expect(faults(await put('Beta'))).toEqual(['{patch}']);
    expect(faults(await put('1.28', { sameAs: '1.27' }))).toEqual(['/sameAs']);
    expect(faults(await anonymous.get('/v1/patches?family=No!'))).toEqual(['?family']);
    expect(await list()).toEqual([]);
  });

  it('are written by admins alone, and noted once for each act that changed something', async () => {
    const writer = anonymous.as(await admin.makeKey('scores:write', 'moderate'));
    expectProblem(await writer.put('/v1/patches/1.28', { family }), 'FORBIDDEN');
    expectProblem(await writer.delete(`/v1/patches/1.28?family=${family}`), 'FORBIDDEN');
    expectProblem(await anonymous.put('/v1/patches/1.28', { family }), 'UNAUTHENTICATED');
    await put('1.28');
    await put('1.28');
    await put('1.28', { title: 'T' });
    await admin.delete(`/v1/patches/1.28?family=${family}`);
    const { body } = await admin.get(`/v1/admin/audit?subject=${family}/1.28`);
    const acts = Object.values(body as Record<string, unknown>).find(Array.isArray) as { action: string }[];
    expect(acts.map(({ action }) => action)).toEqual(['patch.delete', 'patch.replace', 'patch.create']);
  });
});
