// Real: the example as rolldown bundles it, at an address of its own, the built service, and Chromium.
import { openTcpProxy, startStandalone, type TcpProxy } from '@laddercast/testing';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasChromium, openChromium } from './chromium.js';
import { bundled, projectFile, servePage } from './served-page.js';
import { ServiceClient } from './service-client.js';

const WITHIN = { timeout: 30_000 };

describe.runIf(hasChromium('the test of the React example'))('the React example in Chromium', () => {
  const ends: (() => unknown)[] = [];
  const faults: string[] = [];
  let page: Page;
  let wire: TcpProxy;
  let service: ServiceClient;
  let sockets = 0;
  let openSockets = 0;

  beforeAll(async () => {
    const game = await servePage(
      await projectFile('examples/react-board/index.html'),
      await bundled('examples/react-board/main.tsx'),
    );
    ends.unshift(game.stop);
    const running = await startStandalone({ CORS_ORIGINS: game.url });
    ends.unshift(running.stop);
    wire = await openTcpProxy('127.0.0.1', Number(new URL(running.url).port));
    ends.unshift(() => wire.close());
    service = new ServiceClient(running.url, running.adminKey);
    await service.makeBoard('blitz');
    await service.submit(
      'blitz',
      Object.fromEntries(Array.from({ length: 12 }, (_, at) => [`p${at + 1}`, 1200 - 100 * at])),
    );
    await service.untilShown('blitz', 12);
    const { browser, close } = await openChromium();
    ends.unshift(close);
    page = await browser.newPage();
    page.on('pageerror', (error) => faults.push(error.message));
    page.on('websocket', (socket) => {
      sockets += 1;
      openSockets += 1;
      socket.on('close', () => (openSockets -= 1));
    });
    await page.goto(`${game.url}/?board=blitz&service=http://127.0.0.1:${wire.port}`);
  });
  afterAll(async () => {
    for (const end of ends) await end();
  });

  const rows = (): Promise<string[]> => page.locator('tbody tr').allTextContents();
  const drawn = (): Promise<number> => page.evaluate('drawn.rows');

  it('shows the first ten, over one socket though StrictMode mounts twice', async () => {
    const expected = Array.from(
      { length: 10 },
      (_, at) => `${at + 1}p${at + 1}${(1200 - 100 * at).toLocaleString('en')}`,
    );
    await expect.poll(rows, WITHIN).toEqual(expected);
    expect(await page.textContent('caption')).toBe('12 players');
    expect(sockets).toBe(1);
    expect(await drawn()).toBe(10);
  });

  it('moves the row of who scores, draws only what changed, and keeps the others as they are', async () => {
    const before = await drawn();
    await page.evaluate(`window.row = document.querySelector('[data-player="p5"]')`);
    await service.submit('blitz', { p5: 250 });
    await expect
      .poll(async () => (await rows()).slice(0, 5), WITHIN)
      .toEqual([...['1p11,200', '2p21,100', '3p51,050', '4p31,000', '5p4900']]);
    expect(await page.evaluate(`window.row === document.querySelectorAll('tbody tr')[2]`)).toBe(true);
    // p5 has another score, p3 and p4 another rank.
    expect((await drawn()) - before).toBe(3);
  });

  it('shows what a player is called as text', async () => {
    await service.call('PUT', '/v1/players/p1', { displayName: '<img src=x onerror=alert(1)>' });
    await expect.poll(async () => (await rows())[0], WITHIN).toBe('1<img src=x onerror=alert(1)>1,200');
    expect(faults).toEqual([]);
  });

  it('comes back by itself after the network was away, with what happened meanwhile', async () => {
    wire.cut();
    await service.submit('blitz', { newcomer: 5000 });
    await expect.poll(() => openSockets, WITHIN).toBe(0);
    wire.mend();
    await expect.poll(async () => (await rows())[0], WITHIN).toBe('1newcomer5,000');
    expect(await page.textContent('caption')).toBe('13 players');
    expect(sockets).toBeGreaterThan(1);
    expect(openSockets).toBe(1);
  });

  it('closes its socket some seconds after it has gone', async () => {
    await page.evaluate('leave()');
    await expect.poll(() => openSockets, WITHIN).toBe(0);
  });
});
