// Real: the built service with its PostgreSQL and Redis, Swagger UI and the API as it serves them, and Chromium.
import { createServer } from 'node:http';
import { startStandalone } from '@laddercast/testing';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasChromium, openChromium } from './chromium.js';
import { ServiceClient } from './service-client.js';

describe.runIf(hasChromium('the tests of what pages may do'))('what pages may do in Chromium', () => {
  const ends: (() => Promise<unknown>)[] = [];
  let page: Page;
  let url: string;
  let key: string;
  let game: string;
  let violations: string[];

  /** A page of somebody else, at an address of its own. */
  async function serveGame(): Promise<string> {
    const server = createServer((_request, response) =>
      response.writeHead(200, { 'Content-Type': 'text/html' }).end('<title>game</title>'),
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    ends.unshift(async () => void server.close().closeAllConnections());
    return `http://127.0.0.1:${(server.address() as { port: number }).port}`;
  }

  beforeAll(async () => {
    game = await serveGame();
    const service = await startStandalone({ CORS_ORIGINS: game });
    ends.unshift(service.stop);
    [url, key] = [service.url, service.adminKey];
    await new ServiceClient(url, key).makeBoard('open');
    const { browser, close } = await openChromium();
    ends.unshift(close);
    page = await browser.newPage();
    page.on('console', (message) => /Content Security Policy/i.test(message.text()) && violations.push(message.text()));
  });
  afterAll(async () => {
    for (const end of ends) await end();
  });

  const go = async (to: string): Promise<void> => {
    violations = [];
    await page.goto(to);
  };
  const fetchFrom = (path: string, init: object = {}): Promise<unknown> =>
    page.evaluate(
      `fetch(${JSON.stringify(url + path)}, ${JSON.stringify(init)}).then(async (answer) => ({ status: answer.status,` +
        ` limit: answer.headers.get('ratelimit-policy'), body: await answer.text() }), (error) => String(error))`,
    );

  it('/docs works under its policy', async () => {
    await go(`${url}/docs`);
    await page.locator('.opblock-tag').first().click();
    await page.locator('.opblock-summary').first().click();
    await page.locator('.opblock-body').first().waitFor();
    expect(violations).toEqual([]);
    // The same ears hear a real violation.
    await page.evaluate(
      `document.head.append(Object.assign(document.createElement('script'), { text: 'window.ran = 1' }))`,
    );
    await expect.poll(() => violations.length).toBeGreaterThan(0);
    expect(await page.evaluate('window.ran')).toBeUndefined();
  });

  it('a listed page reads, writes after a preflight, sees the limit, and opens sockets', async () => {
    await go(game);
    expect(await fetchFrom('/v1/boards/open/entries')).toMatchObject({ status: 200, limit: '"address";q=2000;w=4' });
    const run = { method: 'POST', body: JSON.stringify({ playerId: 'ada', score: 1 }) };
    const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json', 'Idempotency-Key': 'one' };
    expect(await fetchFrom('/v1/boards/open/scores', { ...run, headers })).toMatchObject({ status: 200 });
    expect(await fetchFrom('/v1/boards/none')).toMatchObject({ status: 404 });
    expect(await openSocket()).toBe('open');
  });

  it('another page does nothing of that', async () => {
    await go(await serveGame());
    expect(await fetchFrom('/v1/boards/open/entries')).toMatch(/Failed to fetch/);
    expect(await openSocket()).toBe('error');
  });

  const openSocket = (): Promise<unknown> =>
    page.evaluate(
      `new Promise((resolve) => { const socket = new WebSocket(${JSON.stringify(url.replace('http', 'ws'))} + '/v1/live',` +
        ` ['ladder.v1']); socket.onopen = () => resolve('open'); socket.onerror = () => resolve('error'); })`,
    );
});
