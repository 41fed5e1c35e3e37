// Real: the built service with its PostgreSQL and Redis, the page it serves, and Chromium. Refusals of the service are played here,
// because no test can keep it from answering.
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { hasChromium } from './chromium.js';
import { numbered, PageSession } from './page-session.js';

interface Message {
  type: string;
  id: string;
  channel?: string;
}

describe.runIf(hasChromium('the tests of the client in the live page'))('the client in the live page', () => {
  let session: PageSession;
  let page: Page;

  beforeAll(async () => {
    session = await PageSession.start();
  });
  afterAll(() => session?.stop());
  beforeEach(async () => {
    await session.openTab();
    page = session.page;
  });
  afterEach(() => session.closeTab());

  it('says what a list waits for that cannot be had now, and shows it by itself', async () => {
    const board = await session.boardOfTwelve();
    let refusals = 0;
    await page.routeWebSocket('**/v1/live', (socket) => {
      const server = socket.connectToServer();
      socket.onMessage((text) => {
        const { type, id, channel } = JSON.parse(String(text)) as Message;
        if (type !== 'subscribe' || channel !== 'top' || refusals > 0) return server.send(text);
        refusals += 1;
        const problem = { title: 'Ranks are not there', status: 503, code: 'PROJECTION_UNAVAILABLE', detail: 'Soon.' };
        return socket.send(JSON.stringify({ type: 'error', id, problem: { ...problem, retryAfterSeconds: 1 } }));
      });
    });
    await session.open(board);
    await session.until('#notice', /Ranks are not there.*Soon\./);
    await session.untilShown(numbered(1, 12));
    expect(await page.locator('#notice').isVisible()).toBe(false);
    expect(refusals).toBe(1);
  });

  it('has one socket for all lists, and leaves it when the list is over: nothing is said of a connection then', async () => {
    const at = (seconds: number) => new Date(Date.now() + seconds * 1000).toISOString();
    const season = { season: 's1', startsAt: at(-60), endsAt: at(3600) };
    const board = await session.boardOfTwelve({ windows: ['alltime', season] });
    await session.service.call('POST', `/v1/admin/boards/${board}/close-window`, { window: 'season:s1' });
    let sockets = 0;
    let openSockets = 0;
    page.on('websocket', (socket) => {
      sockets += 1;
      openSockets += 1;
      socket.on('close', () => (openSockets -= 1));
    });
    await session.open(board, '&window=season:s1');
    await session.untilShown(numbered(1, 12));
    await expect.poll(() => openSockets, { timeout: 30_000 }).toBe(0);
    expect(await page.locator('#connection').isVisible()).toBe(false);
    expect(await page.locator('#board').getAttribute('data-old')).toBeNull();
    await page.getByRole('radio', { name: 'All time' }).check();
    await session.until('#connection', /^\s*Live\s*$/);
    expect(await page.locator('#connection').isVisible()).toBe(true);
    await session.service.submit(board, { p12: 5000 });
    await session.untilShown(['p12', ...numbered(1, 11)]);
    expect([sockets, openSockets]).toEqual([2, 1]);
  });

  it('calls by a reader whose key is not accepted as everybody does', async () => {
    const board = await session.boardOfTwelve();
    await session.openWithKey(board, '', 'not-a-key');
    await session.untilShown(numbered(1, 12));
    await page.locator('#look-input').fill('3');
    await page.locator('#look-input').press('Enter');
    await session.until('#look-message', /^Around rank 3/);
  });
});
