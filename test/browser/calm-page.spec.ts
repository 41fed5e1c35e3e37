// Real: the built service with its PostgreSQL and Redis, the page it serves, Chromium, and scores that come all the time.
import { setTimeout as delay } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { hasChromium } from './chromium.js';
import { inPage } from './in-page.js';
import { PageSession } from './page-session.js';

const PLAYERS = 120;
const TICK_MS = 100;
const SHIFT_MAX = 0.05;

describe.runIf(hasChromium('the tests of how calm the live page is'))('the live page while scores come', () => {
  let session: PageSession;
  let page: Page;
  let seed = 11;

  beforeAll(async () => {
    session = await PageSession.start();
    await session.service.makeBoard('busy', { push: { intervalMs: TICK_MS, top: 100 } });
    const scores = Object.fromEntries(Array.from({ length: PLAYERS }, (_, at) => [`p${at}`, 3000 - at * 9]));
    await session.service.submit('busy', scores);
    await session.service.untilShown('busy', PLAYERS);
  });
  afterAll(() => session?.stop());
  beforeEach(async () => {
    await session.openTab();
    page = session.page;
    await page.addInitScript(inPage.watchShifts);
  });
  afterEach(() => session.closeTab());

  const random = () => (seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31) / 2 ** 31;

  /** Ten scores in each tick while `look` goes on. */
  async function whileScoresCome<Result>(look: () => Promise<Result>): Promise<Result> {
    let isOver = false;
    const feed = async (): Promise<void> => {
      while (!isOver) {
        const who = Array.from({ length: 10 }, () => `p${Math.floor(random() * PLAYERS)}`);
        const scores = Object.fromEntries(who.map((player) => [player, Math.round((random() - 0.45) * 60)]));
        await Promise.all([session.service.submit('busy', scores), delay(TICK_MS)]);
      }
    };
    const fed = feed();
    try {
      return await look();
    } finally {
      isOver = true;
      await fed;
    }
  }

  it.each([
    ['desktop', { width: 1280, height: 800 }],
    ['phone', { width: 390, height: 844 }],
  ])('shifts nothing but by sliding on a %s', async (_name, size) => {
    await page.setViewportSize(size);
    await whileScoresCome(async () => {
      await session.open('busy', '&top=100');
      await page.locator('#rows tr').nth(99).waitFor();
      await page.waitForTimeout(8000);
    });
    expect(await page.locator('#rows .news').count()).toBeGreaterThan(10);
    expect(await page.evaluate<number>(inPage.shifted)).toBeLessThan(SHIFT_MAX);
    // The same ears hear a real one.
    await page.evaluate("document.getElementById('view-form').style.marginTop = '400px'");
    await expect.poll(() => page.evaluate<number>(inPage.shifted)).toBeGreaterThan(SHIFT_MAX);
  });

  it('shows of lists that come ten times a second one after another, and the last one in the end', async () => {
    await session.open('busy', '&top=100');
    await page.locator('#rows tr').nth(99).waitFor();
    await whileScoresCome(() => page.waitForTimeout(3000));
    const truth = async (): Promise<string[]> => {
      const path = '/v1/boards/busy/entries?limit=100';
      const { entries } = await session.service.call<{ entries: { playerId: string }[] }>('GET', path);
      return entries.map(({ playerId }) => playerId);
    };
    await expect.poll(async () => (await session.shown()).join() === (await truth()).join()).toBe(true);
    const ranks = (await page.locator('#rows .rank').allInnerTexts()).map(Number);
    expect(ranks).toEqual(Array.from({ length: 100 }, (_, at) => at + 1));
  });

  it('stands still for a moment between two lists, however fast they come', async () => {
    await session.open('busy', '&top=100');
    await page.locator('#rows tr').nth(99).waitFor();
    const shown = await whileScoresCome(() => page.evaluate<number[]>(inPage.timesOfOrders));
    expect(shown.length).toBeGreaterThan(2);
    // The first two may come at the pace of a quiet board.
    const pauses = shown.slice(2).map((at, index) => at - shown[index + 1]!);
    expect(Math.min(...pauses)).toBeGreaterThan(1000);
  });
});
