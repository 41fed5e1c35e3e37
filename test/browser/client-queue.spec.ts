// Real: the client as a page loads it, IndexedDB, Web Locks and the network of Chromium, and the built service.
import { startStandalone } from '@laddercast/testing';
import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { playerToken } from '../e2e/rest-client.js';
import { hasChromium, openChromium } from './chromium.js';
import { bundled, servePage } from './served-page.js';
import { ServiceClient } from './service-client.js';

const WITHIN = { timeout: 60_000 };
const HTML = '<!doctype html><meta charset="utf-8"><title>game</title><script type="module" src="/main.js"></script>';

describe.runIf(hasChromium('the test of the queue in a browser'))('the queue in Chromium', () => {
  const ends: (() => unknown)[] = [];
  let browser: BrowserContext;
  let service: ServiceClient;
  let address: string;

  beforeAll(async () => {
    const code = `${await bundled('clients/typescript/src/index.ts')}
const { service, token } = Object.fromEntries(new URLSearchParams(location.search));
const ladder = createLadder({ url: service, token, random: () => Math.random() / 10 });
const ended = [];
ladder.queue.onSettled((one) => ended.push(one));
Object.assign(globalThis, { ladder, ended });`;
    const game = await servePage(HTML, code);
    ends.unshift(game.stop);
    const running = await startStandalone({ CORS_ORIGINS: game.url });
    ends.unshift(running.stop);
    service = new ServiceClient(running.url, running.adminKey);
    await service.makeBoard('blitz', { submitters: 'players' });
    const opened = await openChromium();
    ends.unshift(opened.close);
    ({ browser } = opened);
    const token = await playerToken(running.jwtSecret, 'ada');
    address = `${game.url}/?service=${encodeURIComponent(running.url)}&token=${token}`;
  });
  afterAll(async () => {
    for (const end of ends) await end();
  });

  async function openTab(): Promise<Page> {
    const page = await browser.newPage();
    await page.goto(address);
    await page.waitForFunction('globalThis.ladder');
    return page;
  }

  const outcomes = (page: Page): Promise<string[]> => page.evaluate('ended.map(({ outcome }) => outcome)');
  async function score(): Promise<number | null> {
    const { entries } = await service.call<{ entries: { score: number }[] }>('GET', '/v1/boards/blitz/entries');
    return entries[0]?.score ?? null;
  }

  it('keeps a score while the network is away, over the end of the page, and sends it once it is back', async () => {
    const page = await openTab();
    await browser.setOffline(true);
    await page.evaluate(`ladder.queue.submit('blitz', { score: 9 })`);
    await page.waitForTimeout(500);
    expect(await page.evaluate('ladder.queue.size')).toBe(1);
    await page.close();
    await browser.setOffline(false);
    const again = await openTab();
    await expect.poll(() => outcomes(again), WITHIN).toEqual(['settled']);
    await expect.poll(score, WITHIN).toBe(9);
    expect(await again.evaluate('ladder.queue.size')).toBe(0);
    expect(await again.evaluate('ended[0].item.timeIsKept')).toBe(false);
    await again.close();
  });

  it('sends what waits as soon as the page hears that the network is back', async () => {
    const page = await openTab();
    await browser.setOffline(true);
    await page.evaluate(`ladder.queue.submit('blitz', { score: 1 })`);
    await page.waitForTimeout(1500);
    await browser.setOffline(false);
    await expect.poll(() => outcomes(page), WITHIN).toEqual(['settled']);
    await expect.poll(score, WITHIN).toBe(10);
    await page.close();
  });

  it('of two tabs counts every score once', async () => {
    const tabs = [await openTab(), await openTab()];
    await Promise.all(
      tabs.map((tab) =>
        tab.evaluate(
          `(async () => { for (let at = 0; at < 30; at += 1) await ladder.queue.submit('blitz', { score: 1 }); })()`,
        ),
      ),
    );
    const all = async (): Promise<string[]> => (await Promise.all(tabs.map(outcomes))).flat();
    await expect.poll(all, WITHIN).toEqual(Array(60).fill('settled'));
    await expect.poll(score, WITHIN).toBe(70);
    for (const tab of tabs) await tab.close();
  });
});
