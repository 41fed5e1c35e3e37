// Real: the built service in one process, with its PostgreSQL and Redis; requests that are more than anybody needs.
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import type { Problem } from '@laddercast/domain';
import { startStandalone, type RunningStandalone } from '@laddercast/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectProblem, RestClient } from './rest-client.js';

const SCORES = '/v1/boards/open/scores';
/** Some milliseconds where nothing else runs; a bomb that is parsed and validated takes much longer. */
const HELD_UP_MS = 10_000;

describe('limits of a request', () => {
  let service: RunningStandalone;
  let admin: RestClient;

  beforeAll(async () => {
    service = await startStandalone({ BODY_BYTES_MAX: String(4 * 1024 * 1024) });
    admin = new RestClient(service.url, service.adminKey);
    await admin.makeBoard('open');
  });
  afterAll(() => service?.stop());

  const nested = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`;
  const msOf = async (call: Promise<unknown>): Promise<number> => {
    const startedAt = performance.now();
    await call;
    return performance.now() - startedAt;
  };

  it('depth: as deep as metadata may be, and not a bit more than makes sense', async () => {
    const deep = (depth: number): string => `{"playerId":"a","score":1,"metadata":{"a":${nested(depth)}}}`;
    expect((await admin.post(SCORES, deep(32))).status).toBe(200);
    for (const depth of [33, 100, 500_000]) {
      const { errors } = expectProblem(await admin.post(SCORES, deep(depth)), 'VALIDATION_FAILED');
      expect(errors![0]!.pointer, `${depth}`).toBe('/metadata');
    }
    expect(expectProblem(await admin.post(SCORES, deep(500_000)), 'VALIDATION_FAILED').errors).toEqual([
      { pointer: '/metadata', message: 'is nested deeper than 64' },
    ]);
  });

  it('values: bombs of many small ones are refused before anything is made of them', async () => {
    const bombs = [
      `{"playerId":"a","score":1,"metadata":{${Array.from({ length: 200_000 }, (_, i) => `"${i}":1`).join()}}}`,
      `{"playerId":"a","score":1,"metadata":{"a":[${'[],'.repeat(1_000_000)}0]}}`,
    ];
    for (const bomb of bombs) {
      const answer = await admin.post(SCORES, bomb);
      expect(expectProblem(answer, 'VALIDATION_FAILED').errors).toEqual([
        { pointer: '', message: 'has more than 10000 values' },
      ]);
    }
    const batch = await admin.post('/v1/scores', `{"submissions":[${'0,'.repeat(300_000)}0]}`);
    expect(expectProblem(batch, 'VALIDATION_FAILED').detail).toContain('more than 300000 values');
    // A bomb does not hold up the others.
    const waits = [msOf(admin.post(SCORES, bombs[1])), msOf(admin.get('/v1/boards/open/entries'))];
    expect((await Promise.all(waits))[1]).toBeLessThan(HELD_UP_MS);
  });

  it('values: the largest batch there can be passes', async () => {
    const submissions = Array.from({ length: 1000 }, (_, i) => ({
      board: 'open',
      submissionId: `s${i}`,
      playerId: `p${i}`,
      score: i,
      metadata: { list: Array.from({ length: 250 }, (_, n) => n % 10) },
      sourceId: 'x',
    }));
    const { status, body } = await admin.post('/v1/scores', { submissions });
    expect(status).toBe(200);
    expect((body as { results: object[] }).results.filter((one) => 'problem' in one)).toEqual([]);
    expectProblem(
      await admin.post('/v1/scores', { submissions: [...submissions, submissions[0]] }),
      'VALIDATION_FAILED',
    );
  });

  it('encodings: none is taken, so nothing unfolds', async () => {
    const zipped = gzipSync(JSON.stringify({ playerId: 'ada', score: 1 }));
    for (const encoding of ['gzip', 'deflate', 'br', 'x', 'gzip, identity']) {
      const response = await fetch(`${service.url}${SCORES}`, {
        method: 'POST',
        headers: {
          Authorization: `Bearer ${service.adminKey}`,
          'Content-Type': 'application/json',
          'Content-Encoding': encoding,
        },
        body: zipped,
      });
      expect(response.status, encoding).toBe(415);
      expect(await response.json()).toMatchObject({ code: 'UNSUPPORTED_MEDIA_TYPE' });
    }
    const plain = { playerId: 'ada', score: 1 };
    expect((await admin.post(SCORES, plain, { 'Content-Encoding': 'identity' })).status).toBe(200);
  });

  it('addresses: their length, and how many parameters they have', async () => {
    const long = (length: number): string => `/v1/boards/open/entries?window=${'x'.repeat(length)}`;
    expect(expectProblem(await admin.get(long(8000)), 'VALIDATION_FAILED').errors![0]!.pointer).toBe('?window');
    expectProblem(await admin.get(long(8192)), 'URI_TOO_LONG');
    const many = (count: number): string =>
      `/v1/boards/open/entries?${Array.from({ length: count }, (_, i) => `p${i}=1`).join('&')}`;
    expect(expectProblem(await admin.get(many(64)), 'VALIDATION_FAILED').errors!.length).toBeGreaterThan(1);
    expect(expectProblem(await admin.get(many(65)), 'VALIDATION_FAILED').errors).toEqual([
      { pointer: '', message: 'a query may have at most 64 parameters' },
    ]);
  });

  /** What a server answers to bytes. */
  const raw = (text: string): Promise<{ head: string; problem: Problem }> =>
    new Promise((resolve, reject) => {
      const { hostname, port } = new URL(service.url);
      const socket = connect(Number(port), hostname);
      let answer = '';
      socket.on('data', (chunk) => (answer += chunk.toString()));
      socket.on('end', () => {
        const [head = '', body = ''] = answer.split('\r\n\r\n');
        resolve({ head, problem: JSON.parse(body) as Problem });
      });
      socket.on('error', reject);
      socket.write(text);
    });

  it('header fields: their size', async () => {
    const { head, problem } = await raw(`GET /v1/boards HTTP/1.1\r\nHost: x\r\nX-Large: ${'x'.repeat(17_000)}\r\n\r\n`);
    expect(head).toMatch(/^HTTP\/1\.1 431 /);
    expect(head).toContain('application/problem+json');
    expect(problem).toMatchObject({ code: 'HEADERS_TOO_LARGE', status: 431 });
  });

  it('what is no HTTP is told so', async () => {
    const { head, problem } = await raw('HELLO THERE\r\n\r\n');
    expect(head).toMatch(/^HTTP\/1\.1 400 /);
    expect(problem).toMatchObject({ code: 'VALIDATION_FAILED', detail: '/: must be a request of HTTP/1.1' });
  });
});
