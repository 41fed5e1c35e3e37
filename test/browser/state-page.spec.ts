// Real: the built service with its PostgreSQL and Redis, the page it serves, and Chromium. Pings are told and held back here,
// because no test can keep the service from sending them.
import type { Page, WebSocketRoute } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { expectAccessible } from './accessibility.js';
import { hasChromium } from './chromium.js';
import { numbered, PageSession } from './page-session.js';

describe.runIf(hasChromium('the tests of what the live page says of itself'))('the state of the live page', () => {
  let session: PageSession;
  let page: Page;
  let sockets: WebSocketRoute[];
  let isHeld: boolean;

  beforeAll(async () => {
    session = await PageSession.start();
  });
  afterAll(() => session?.stop());
  beforeEach(async () => {
    await session.openTab();
    page = session.page;
    sockets = [];
    isHeld = false;
    await page.routeWebSocket('**/v1/live', (socket) => {
      sockets.push(socket);
      const server = socket.connectToServer();
      server.onMessage((text) => void (isHeld || isPing(String(text)) || socket.send(text)));
    });
  });
  afterEach(() => session.closeTab());

  const isPing = (text: string) => (JSON.parse(text) as { type: string }).type === 'ping';
  const ping = (agoMs = 0) =>
    sockets.at(-1)!.send(JSON.stringify({ type: 'ping', asOf: new Date(Date.now() - agoMs).toISOString() }));
  const isDim = () => page.evaluate<boolean>("document.getElementById('board').hasAttribute('data-old')");

  it('says that nothing is heard any more, dims the rows and counts, until something comes', async () => {
    await session.open(await session.boardOfTwelve());
    await session.untilShown(numbered(1, 12));
    await session.until('#connection', /^\s*Live\s*$/);
    ping();
    isHeld = true;
    await session.until('#connection', /No news for 1\d s/);
    expect(await isDim()).toBe(true);
    await session.until('#as-of', /^as of 1\d s ago$/);
    const seconds = async () => Number(/(\d+)\ss ago/.exec((await page.textContent('#as-of')) ?? '')?.[1]);
    const before = await seconds();
    await expect.poll(seconds).toBeGreaterThan(before);
    await expectAccessible(page);
    isHeld = false;
    ping();
    await session.until('#connection', /^\s*Live\s*$/);
    expect(await isDim()).toBe(false);
    await session.until('#as-of', /^as of \d+:\d\d:\d\d/);
  });

  it('says that the service is behind when what it knows is of some time ago', async () => {
    await session.open(await session.boardOfTwelve());
    await session.untilShown(numbered(1, 12));
    ping(40_000);
    await session.until('#connection', /Behind by [34]\d s/);
    expect(await isDim()).toBe(true);
    ping();
    await session.until('#connection', /^\s*Live\s*$/);
  });

  it('says that ranks are estimated, and that it reconnects', async () => {
    await session.open(await session.boardOfTwelve());
    await session.untilShown(numbered(1, 12));
    expect(await page.locator('#estimated').isVisible()).toBe(false);
    session.wire.cut();
    await session.until('#connection', 'Reconnecting');
    await expect.poll(isDim).toBe(true);
    session.wire.mend();
    await session.until('#connection', /^\s*Live\s*$/);
    await expect.poll(isDim).toBe(false);
  });

  it('keeps a place for who is followed, and calls them by name', async () => {
    const board = await session.boardOfTwelve();
    await session.service.call('PUT', '/v1/players/p4', { displayName: 'Dora the <b>Great</b>' });
    await session.open(board);
    await expect.poll(async () => (await session.shown())[3]).toBe('Dora the <b>Great</b>');
    await page.locator('#rows').getByRole('link', { name: 'Dora the' }).click();
    await page.locator('#player-follow').click();
    await session.until('#me-heading', /^Dora the <b>Great<\/b>$/);
    const tops = () => page.evaluate("[...document.querySelectorAll('.side .card')].map((card) => card.offsetTop)");
    await expect.poll(() => page.locator('#me-rows tr').count()).toBe(7);
    const settled = await tops();
    isHeld = true;
    await page.getByRole('radio', { name: 'Today' }).check();
    await expect.poll(() => page.locator('#me-rows tr').count()).toBe(0);
    expect(await tops()).toEqual(settled);
  });
});
