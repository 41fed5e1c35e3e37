// Real: the built service with its PostgreSQL and Redis, the page it serves, and Chromium.
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { expectAccessible } from './accessibility.js';
import { hasChromium } from './chromium.js';
import { inPage } from './in-page.js';
import { PageSession } from './page-session.js';

const SETTLED = { timeout: 90_000 };
const SEASONS = ['1870s', '1880s', '1890s'];

describe.runIf(hasChromium('the tests of the pictures of the live page'))('the pictures of the live page', () => {
  let session: PageSession;
  let page: Page;
  const board = 'seasons';

  /** Three seasons that are over, each with all that was played until its end: ada wins two, bob the last. */
  beforeAll(async () => {
    session = await PageSession.start();
    const { service } = session;
    const at = (seconds: number) => new Date(Date.now() + seconds * 1000).toISOString();
    const seasons = SEASONS.map((season) => ({ season, startsAt: at(-600), endsAt: at(3600) }));
    await service.makeBoard(board, { windows: ['alltime', ...seasons], runs: {} });
    const won: Record<string, number>[] = [
      { ada: 30, bob: 20 },
      { ada: 40, bob: 10 },
      { bob: 90, cy: 5, ada: 1 },
    ];
    for (const [index, season] of SEASONS.entries()) {
      await service.submit(board, won[index]!, { window: `season:${season}` });
      await service.call('POST', `/v1/admin/boards/${board}/close-window`, { window: `season:${season}` });
    }
    const all = Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`other ${index}`, 3 + index]));
    await service.submit(board, { ada: 100, bob: 1, ...all });
    await service.untilShown(board, 12);
  }, 240_000);
  afterAll(() => session?.stop());
  beforeEach(async () => {
    await session.openTab();
    page = session.page;
  });
  afterEach(() => session.closeTab());

  const open = async (hash = '') => {
    await session.open(board, `&top=25${hash}`);
    await page.locator('#rows tr').nth(11).waitFor();
  };
  const tableOf = (figure: string) =>
    page.evaluate(
      `[...document.querySelectorAll('${figure} tbody tr')].map((row) => [...row.cells].map((cell) => cell.textContent))`,
    );

  it('opens a player by its row, with its place, its best, and the windows it won', async () => {
    await open();
    await page.locator('#rows tr').first().click();
    await session.until('#player-figures', /Rank1 of 12.*Better than100 %.*Won\d of 3 played/);
    expect(new URL(page.url()).hash).toBe('#player=ada');
    await session.until('#player-windows-figure figcaption', /^Best: rank 1 in 18\d0s\.$/);
    expect(await tableOf('#player-windows-figure')).toEqual([
      ['1870s', '1', '2', '30'],
      ['1880s', '1', '2', '70'],
      ['1890s', '2', '3', '71'],
    ]);
    await session.until('#player-spread-figure figcaption', /ada has \d+/);
    await page.keyboard.press('Escape');
    expect(await page.locator('#player-dialog').isVisible()).toBe(false);
    await expect.poll(() => new URL(page.url()).hash).toBe('');
    await page.locator('#rows').getByRole('link', { name: 'bob' }).press('Enter');
    await session.until('#player-name', /^bob$/);
    await page.goBack();
    await expect.poll(() => page.locator('#player-dialog').isVisible()).toBe(false);
  });

  it('shows the runs to whoever may read them', async () => {
    await session.openWithKey(board, '#player=ada');
    await session.until('#player-runs-rows', /100Counted/, SETTLED);
  });

  it.each(['light', 'dark'] as const)(
    'draws the top ten of the windows, with a table behind it (%s)',
    async (scheme) => {
      await page.emulateMedia({ colorScheme: scheme });
      await open();
      await session.openOptions();
      await page.getByRole('button', { name: 'The top ten over time' }).press('Enter');
      await expect.poll(() => page.locator('#bump-figure canvas').count()).toBe(1);
      expect(await tableOf('#bump-figure')).toEqual([
        ['1870s', 'ada', 'bob'],
        ['1880s', 'ada', 'bob'],
        ['1890s', 'bob', 'ada', 'cy'],
      ]);
      const bob = page.locator('#bump-names').getByRole('button', { name: 'bob' });
      await bob.press('Enter');
      expect(await bob.getAttribute('aria-pressed')).toBe('true');
      await expectAccessible(page);
      await page.setViewportSize({ width: 390, height: 844 });
      expect(await page.evaluate(inPage.width)).toBe(390);
      await page.reload();
      await expect.poll(() => page.locator('#bump-figure canvas').count()).toBe(1);
    },
  );

  it('replays the windows as a race that plays, pauses and jumps', async () => {
    await open('#race');
    await session.until('#race-words', /standings at the end of each window/, SETTLED);
    const rows = async () =>
      (await page.locator('#race-rows tr').allInnerTexts()).map((row) => row.trim().split(/\s+/));
    const time = page.locator('#race-time');
    const at = async () => Number(await time.inputValue());
    await expect.poll(at).toBeGreaterThan(5);
    await page.locator('#race-play').click();
    const stopped = await at();
    await page.waitForTimeout(500);
    expect(await at()).toBe(stopped);
    await time.fill('1000');
    await expect.poll(async () => (await rows())[0]!.slice(0, 1)).toEqual(['1']);
    await expect.poll(() => time.getAttribute('aria-valuetext')).toBe('1890s');
    await expect.poll(() => page.locator('#race-rows .label').allTextContents()).toEqual(['bob', 'ada', 'cy']);
    await expectAccessible(page);
  });

  it('has room for the time of the race on a phone', async () => {
    await page.setViewportSize({ width: 360, height: 740 });
    await open('#race');
    await session.until('#race-words', /standings at the end of each window/, SETTLED);
    const box = async (what: string) => (await page.locator(what).boundingBox())!;
    const [bar, time, speed] = await Promise.all(['.race-bar', '#race-time', '#race-speed'].map(box));
    expect(time!.width).toBeGreaterThan(200);
    expect(speed!.x + speed!.width).toBeLessThanOrEqual(bar!.x + bar!.width);
  });

  it('shows a player on a phone without sideways scrolling, and nothing that axe finds', async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await open('#player=ada');
      await session.until('#player-figures', /Rank1 of 12/);
      expect(await page.evaluate(inPage.width)).toBe(390);
      await expectAccessible(page);
    }
  });
});
