// Real: the built service with its PostgreSQL and Redis, the page it serves, and Chromium. The clock is real, too:
// windows of some seconds end while they are looked at.
import { setTimeout as delay } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { hasChromium } from './chromium.js';
import { inPage } from './in-page.js';
import { numbered, PageSession } from './page-session.js';
import type { ServiceClient } from './service-client.js';

const SETTLED = { timeout: 90_000 };
const MINUTE_MS = 60_000;

describe.runIf(hasChromium('the tests of windows on the live page'))('the windows of the live page', () => {
  let session: PageSession;
  let service: ServiceClient;
  let page: Page;

  beforeAll(async () => {
    session = await PageSession.start();
    service = session.service;
  });
  afterAll(() => session?.stop());
  beforeEach(async () => {
    await session.openTab();
    page = session.page;
  });
  afterEach(() => session.closeTab());

  const at = (secondsFromNow: number) => new Date(Date.now() + secondsFromNow * 1000).toISOString();
  const season = (name: string, startsIn: number, endsIn: number, more: object = {}) => ({
    season: name,
    startsAt: at(startsIn),
    endsAt: at(endsIn),
    ...more,
  });
  const chosen = () => page.locator('#windows label:has(:checked)').allTextContents();

  it('names the windows that run, counts down to the reset, and shows each', async () => {
    const windows = ['alltime', 'daily', 'weekly', 'monthly', { rolling: '24h' }, season('s1', -60, 86_400 * 3)];
    const board = await session.boardOfTwelve({ windows });
    await service.submit(board, { veteran: 9000 }, { achievedAt: at(-86_400 * 40) });
    await session.open(board);
    await session.untilShown(['veteran', ...numbered(1, 12)]);
    const labels = async () => (await page.locator('#windows label').allTextContents()).map((label) => label.trim());
    await expect
      .poll(labels)
      .toEqual([...['All time', 'Today', 'This week', 'This month', 'Last 24 hours', 'Season s1']]);
    expect(await page.textContent('#resets')).toBe(' ');
    await page.getByRole('radio', { name: 'Last 24 hours' }).check();
    await session.untilShown(numbered(1, 12));
    await session.until('#resets', /the oldest hour leaves in \d+:\d\d/);
    await page.getByRole('radio', { name: 'Season s1' }).check();
    await session.until('#resets', /ends in 2 days 23 h/);
    expect(await page.locator('#resets').getAttribute('title')).toMatch(/\d{4}/);
    expect(page.url()).toContain('window=season%3As1');
    await page.goBack();
    await session.until('#resets', /the oldest hour leaves in/);
    expect(await chosen()).toEqual(['Last 24 hours']);
    await page.goBack();
    await session.untilShown(['veteran', ...numbered(1, 12)]);
  });

  it('has the chosen window and the archive in sight on a phone, and others beside them', async () => {
    const past = season('past', -86_400 * 9, -86_400 * 2);
    const board = await session.boardOfTwelve({ windows: ['alltime', 'daily', 'weekly', 'monthly', past] });
    await page.setViewportSize({ width: 390, height: 844 });
    await session.open(board, '&window=monthly');
    await session.untilShown(numbered(1, 10));
    const isInSight = (name: string) =>
      page.evaluate<boolean>(`(() => {
        const { left, right } = document.querySelector('${name}').getBoundingClientRect();
        const strip = document.getElementById('windows').getBoundingClientRect();
        const end = '${name}'.startsWith('#windows') ? Math.min(strip.right + 1, innerWidth) : innerWidth;
        return left >= 0 && right <= end;
      })()`);
    expect(await isInSight('#windows label:has(:checked)')).toBe(true);
    expect(await isInSight('#windows label:has([value="weekly"])')).toBe(true);
    expect(await isInSight('#archive-open')).toBe(true);
  });

  it('counts a season down by the second, says that it is over, and shows its final standings', async () => {
    const board = await session.boardOfTwelve({
      windows: ['alltime', season('now', -60, 18), season('next', 3600, 7200)],
      graceSeconds: 8,
    });
    await session.open(board, '&window=season:now');
    await session.untilShown(numbered(1, 12));
    const left = async () => Number(/ends in 0:(\d\d)/.exec((await page.textContent('#resets')) ?? '')?.[1]);
    const before = await left();
    await expect.poll(left).toBeLessThanOrEqual(before - 2);
    await session.until('#standing', /Season now is over.*Late scores may still enter/, SETTLED);
    await session.until('#standing', /Final standings of Season now/, SETTLED);
    expect(await session.shown()).toEqual(numbered(1, 12));
    await service.submit(board, { p12: 5000 });
    const link = page.getByRole('link', { name: 'CSV' });
    const csv = await (await fetch(new URL((await link.getAttribute('href'))!, service.url))).text();
    expect(csv.split('\r\n').slice(1, 3)).toEqual([
      expect.stringMatching(/^1,1,p1,/),
      expect.stringMatching(/^2,2,p2,/),
    ]);
    await page.locator('#archive-open').click();
    const archived = () => page.locator('#archive-ended .archive-title').allTextContents();
    await expect.poll(archived).toEqual(['Season now']);
    await session.until('#archive-upcoming', /Season next/);
    await page.keyboard.press('Escape');
    expect(await page.locator('.archive-panel').isVisible()).toBe(false);
    expect(await page.evaluate(inPage.focused)).toBe('archive-open');
    await page.getByRole('radio', { name: 'All time' }).check();
    await session.untilShown(['p12', ...numbered(1, 11)]);
    await page.goBack();
    await session.untilShown(numbered(1, 12));
    await page.reload();
    await session.until('#standing', /Final standings of Season now/);
    await session.untilShown(numbered(1, 12));
  });

  it('follows the next round when one is over, and leads back to the final standings', async () => {
    // A round that lasts until the page has shown it.
    const leftMs = MINUTE_MS - (Date.now() % MINUTE_MS);
    if (leftMs < MINUTE_MS / 2) await delay(leftMs);
    const board = await session.boardOfTwelve({ windows: [{ cron: '* * * * *' }, 'alltime'], graceSeconds: 1 });
    await session.open(board, '&window=cron');
    await session.until('#resets', /resets in 0:\d\d/);
    const round = await page.textContent('#windows label');
    const running = async () => {
      const { windows } = await service.call<{ windows: { id: string }[] }>('GET', `/v1/boards/${board}/windows`);
      return windows[0]!.id;
    };
    const first = await running();
    await service.submit(board, { early: 10_000 });
    await session.until('#over', /This round is over\./, { timeout: 120_000 });
    await service.submit(board, { late: 7 });
    await session.until('#over', /A new round has begun/, SETTLED);
    await expect.poll(() => session.shown()).toEqual(['late']);
    await expect.poll(() => page.textContent('#windows label')).not.toBe(round);
    await page.getByRole('button', { name: 'See its final standings' }).click();
    await session.until('#standing', /Final standings of/, SETTLED);
    expect(new URL(page.url()).searchParams.get('window')).toBe(first);
    await expect.poll(async () => (await session.shown())[0]).toBe('early');
  }, 300_000);

  it('shows the final standings when an operator closes the window', async () => {
    const s1 = season('s1', -60, 3600);
    const board = await session.boardOfTwelve({ windows: ['alltime', s1] });
    await session.open(board, '&window=season:s1');
    await session.untilShown(numbered(1, 12));
    await service.call('POST', `/v1/admin/boards/${board}/close-window`, { window: 'season:s1' });
    await session.until('#standing', /Final standings of Season s1/, SETTLED);
    await session.until('#resets', /final/);
    expect(await session.shown()).toEqual(numbered(1, 12));
    expect(await page.textContent('#archive-name')).toBe('Season s1');
  });

  it('says that a window is frozen, and moves nothing meanwhile', async () => {
    const s1 = season('s1', -60, 3600);
    const board = await session.boardOfTwelve({ windows: ['alltime', s1] });
    // Only now, so that it freezes with all twelve however long they took.
    await service.makeBoard(board, { windows: ['alltime', { ...s1, freezeAt: at(3) }] });
    await session.open(board, '&window=season:s1');
    await session.untilShown(numbered(1, 12));
    await session.until('#standing', /Season s1 is frozen since/, SETTLED);
    await session.until('#resets', /frozen, ends in/);
    await service.submit(board, { p12: 5000 });
    await page.getByRole('radio', { name: 'All time' }).check();
    await session.untilShown(['p12', ...numbered(1, 11)]);
    await page.getByRole('radio', { name: 'Season s1' }).check();
    await session.untilShown(numbered(1, 12));
  });

  it('says of a window that is still to come when it begins, and offers those that run', async () => {
    const board = await session.boardOfTwelve({ windows: ['alltime', season('next', 86_400 * 3, 86_400 * 9)] });
    await session.open(board, '&window=season:next');
    await session.until('#notice-title', 'Season next has not begun');
    await session.until('#notice-text', /^It begins on \w+ \d+, \d{4}/);
    await session.until('#resets', /starts in 2 days 23 h/);
    expect(await page.locator('#notice-choices a').allTextContents()).toEqual(['All time']);
  });

  it('says in the words of the service that there is no such window, and offers those there are', async () => {
    await session.open(await session.boardOfTwelve(), '&window=season:never');
    await session.until('#notice', /has no window "season:never"/);
    expect(await chosen()).toEqual([]);
    expect(await page.locator('#notice-choices a').allTextContents()).toEqual(['All time', 'Today']);
    await page.locator('#notice-choices a').last().click();
    expect(await chosen()).toEqual(['Today']);
    await session.untilShown(numbered(1, 12));
  });
});
