// Real: the built service in one process, with its PostgreSQL and Redis; what browsers are told, and refused.
import { startStandalone, type RunningStandalone } from '@laddercast/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { expectProblem, RestClient } from './rest-client.js';
import { sql } from './sql.js';

const GAME = 'https://game.example';
const PREFLIGHT = { 'Access-Control-Request-Method': 'POST', 'Access-Control-Request-Headers': 'authorization' };

describe('what browsers are told', () => {
  let service: RunningStandalone;
  let listed: RunningStandalone;
  let open: RestClient;

  beforeAll(async () => {
    service = await startStandalone();
    open = new RestClient(service.url);
    await open.as(service.adminKey).makeBoard('open');
  });
  afterAll(() => service?.stop());

  it('is to do nothing with an answer but read it, whatever the answer is', async () => {
    const admin = open.as(service.adminKey);
    const answers = [
      await open.get('/v1/boards/open/entries'),
      await open.get('/v1/boards/none'),
      await open.get('/v1/boards/%ff'),
      await open.get('/nothing'),
      await open.as('lk_wrong').get('/v1/boards'),
      await admin.post('/v1/boards/open/scores', { playerId: 'ada', score: 1 }),
      await admin.post('/v1/boards/open/scores', '{"playerId":'),
      await open.get('/health/live'),
      await open.get('/openapi.json'),
    ];
    for (const { status, headers, request } of answers) {
      expect({ status, headers, url: (request as { url: string }).url }).toMatchObject({
        headers: {
          'x-content-type-options': 'nosniff',
          'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
          'x-frame-options': 'DENY',
          'referrer-policy': 'no-referrer',
          'cross-origin-resource-policy': 'same-origin',
        },
      });
      expect(headers['strict-transport-security']).toBeUndefined();
      expect(headers['x-powered-by']).toBeUndefined();
      expect(headers['server']).toBeUndefined();
    }
  });

  it('is to run nothing on a page but what comes with it', async () => {
    for (const path of ['/', '/docs']) {
      const policy = (await open.get(path)).headers['content-security-policy']!;
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("script-src 'self'");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toMatch(/script-src[^;]*(unsafe|\*|http)/);
    }
  });

  it('is to show images of no other host, so that no stranger learns who looks', async () => {
    const policy = (await open.get('/')).headers['content-security-policy']!;
    expect(policy).toContain("; img-src 'self' data:; ");
  });

  it('lets no other page in by default', async () => {
    const { headers } = await open.get('/v1/boards/open/entries', { Origin: GAME });
    expect(headers['access-control-allow-origin']).toBeUndefined();
    const preflight = await open.send('OPTIONS', '/v1/boards/open/scores', undefined, { Origin: GAME, ...PREFLIGHT });
    expect(preflight.headers['access-control-allow-origin']).toBeUndefined();
    expect(preflight.status).toBe(405);
  });

  it('shows nothing of the inside when something fails there', async () => {
    await sql(service.databaseUrl, 'ALTER TABLE api_keys RENAME TO secret_keys');
    const answer = await open.as('lk_unknown_key_of_nobody').get('/v1/boards');
    await sql(service.databaseUrl, 'ALTER TABLE secret_keys RENAME TO api_keys');
    expect(answer.status).toBeGreaterThanOrEqual(500);
    expect(answer.text).not.toMatch(/api_keys|relation|SELECT|postgres|\.js|node_modules/i);

    await sql(service.databaseUrl, 'ALTER TABLE players RENAME TO lost_players');
    const admin = open.as(service.adminKey);
    const failed = await admin.put('/v1/players/ada', { displayName: 'Ada' });
    await sql(service.databaseUrl, 'ALTER TABLE lost_players RENAME TO players');
    expectProblem(failed, 'INTERNAL');
    expect(failed.text).not.toMatch(/lost_players|relation|SELECT|INSERT|postgres|\.js/i);
    // The log has it.
    expect(service.output()).toContain('players');
  });

  describe('with a list of origins', () => {
    beforeAll(async () => {
      await service.stop();
      listed = await startStandalone({
        CORS_ORIGINS: `${GAME},http://localhost:5173`,
        HSTS_SECONDS: '31536000',
        PAGE_IMAGE_HOSTS: 'cdn.example.com,*.avatars.example.net:8443',
      });
      open = new RestClient(listed.url);
      await open.as(listed.adminKey).makeBoard('open');
      await open.as(listed.adminKey).makeBoard('closed', { visibility: 'private' });
    });
    afterAll(() => listed?.stop());

    it('lets their pages ask first without an identity, and read what they need', async () => {
      const asked = { Origin: GAME, ...PREFLIGHT };
      const preflight = await open.send('OPTIONS', '/v1/boards/closed/scores', undefined, asked);
      expect(preflight.status).toBe(204);
      expect(preflight.headers).toMatchObject({
        'access-control-allow-origin': GAME,
        'access-control-max-age': '7200',
        'access-control-allow-methods': expect.stringContaining('PUT'),
        'access-control-allow-headers': expect.stringContaining('Authorization'),
      });
      expect(preflight.headers['access-control-allow-credentials']).toBeUndefined();
      const read = await open.get('/v1/boards/open/entries', { Origin: GAME });
      expect(read.headers).toMatchObject({
        'access-control-allow-origin': GAME,
        vary: 'Authorization, Origin',
      });
      // What the client takes from answers, and what people look at.
      const exposed = read.headers['access-control-expose-headers']!.split(', ');
      expect(exposed).toEqual(expect.arrayContaining(['Date', 'Retry-After', 'ETag', 'RateLimit', 'RateLimit-Policy']));
      expect(Math.abs(Date.parse(read.headers['date']!) - Date.now())).toBeLessThan(60_000);
      const refused = await open.get('/v1/boards/none', { Origin: 'http://localhost:5173' });
      expect(refused.headers['access-control-allow-origin']).toBe('http://localhost:5173');
    });

    it('answers OPTIONS also where it is no preflight of a browser', async () => {
      const plain: Record<string, string>[] = [{}, { Origin: GAME }, { 'Access-Control-Request-Method': 'POST' }];
      for (const headers of plain) {
        const answer = await open.send('OPTIONS', '/v1/boards/open/scores', undefined, headers);
        expect(answer.status, answer.text).toBe(204);
        expect(answer.headers['access-control-allow-methods']).toContain('POST');
      }
    });

    it('lets no others in', async () => {
      for (const origin of [
        'https://evil.example',
        'https://game.example.evil.example',
        'null',
        'http://game.example',
      ]) {
        const read = await open.get('/v1/boards/open/entries', { Origin: origin });
        expect(read.headers['access-control-allow-origin'], origin).toBeUndefined();
        expect(read.headers['vary']).toContain('Origin');
        expect(await openSocket(origin), origin).toBe(403);
      }
    });

    it('opens sockets to them, to the page it serves itself, and to who is no page', async () => {
      for (const origin of [GAME, 'http://localhost:5173', listed.url, undefined]) {
        expect(await openSocket(origin), origin).toBe('open');
      }
    });

    it('lets the page show images of the hosts that are named, by TLS', async () => {
      const policy = (await open.get('/')).headers['content-security-policy']!;
      const images = "; img-src 'self' data: https://cdn.example.com https://*.avatars.example.net:8443; ";
      expect(policy).toContain(images);
      expect(policy.replace(images, "; img-src 'self' data:; ")).toBe(
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self' ws: wss:; " +
          "base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
      );
      for (const path of ['/app.js', '/styles/base.css', '/icon.svg'])
        expect((await open.get(path)).headers['content-security-policy']).toBe(policy);
      expect((await open.get('/docs')).headers['content-security-policy']).not.toContain('cdn.example.com');
    });

    it('has browsers insist on TLS', async () => {
      const { headers } = await open.get('/health/live');
      expect(headers['strict-transport-security']).toBe('max-age=31536000; includeSubDomains');
    });

    const openSocket = (origin: string | undefined): Promise<'open' | number> =>
      new Promise((resolve, reject) => {
        const socket = new WebSocket(`${listed.url.replace('http', 'ws')}/v1/live`, ['ladder.v1'], { origin: origin! });
        socket.on('open', () => {
          socket.terminate();
          resolve('open');
        });
        socket.on('unexpected-response', (request, response) => {
          resolve(response.statusCode!);
          request.destroy();
        });
        socket.on('error', reject);
      });
  });
});
