// Real: the built service with its PostgreSQL and Redis, the page it serves, and Chromium.
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { expectAccessible } from './accessibility.js';
import { hasChromium } from './chromium.js';
import { inPage } from './in-page.js';
import { PageSession } from './page-session.js';

const DESKTOP = { width: 1280, height: 800 };
const PHONE = { width: 390, height: 844 };
const WIDTHS = [320, 390, 768, 1280];

describe.runIf(hasChromium('the tests of the layout of the live page'))('the layout of the live page', () => {
  let session: PageSession;
  let page: Page;

  beforeAll(async () => {
    session = await PageSession.start();
    const { service } = session;
    const players = Array.from({ length: 40 }, (_, at) => `player ${at + 1}`);
    const board = async (
      id: string,
      options: object,
      scoreOf: (at: number) => number,
      more?: (at: number) => object,
    ) => {
      await service.makeBoard(id, { operator: 'best', ...options });
      for (const [at, player] of players.entries()) {
        if (more || at === 0) await service.submit(id, { [player]: scoreOf(at) }, more?.(at));
      }
      if (!more) await service.submit(id, Object.fromEntries(players.map((player, at) => [player, scoreOf(at)])));
      await service.untilShown(id, players.length);
    };
    await board('plain', { scopes: ['global', 'region'] }, (at) => 4000 - at * 17);
    const columns = [{ name: 'hits', order: 'asc' }];
    await board(
      'time',
      { order: 'asc', format: { kind: 'time', decimals: 3, unit: null }, columns },
      (at) => 3725.1 + at * 997.531,
      (at) => ({ columns: { hits: at } }),
    );
    await board('money', { format: { kind: 'currency', decimals: 2, unit: 'EUR' } }, (at) => 9_876_543_210 / 2 ** at);
    await board('huge', { format: { kind: 'number', decimals: 0, unit: 'cookies' } }, (at) => 1.23456789e17 / 3 ** at);
    const names = ['x'.repeat(128), 'مُحَمَّد بن عبد الله', '👩‍👩‍👧‍👦🏳️‍🌈', '<b>bold</b><img src=x onerror=alert(1)>', 'שלום 123'];
    await service.makeBoard('names', { operator: 'best', title: `<i>${'Long title '.repeat(12)}</i>` });
    await service.submit('names', Object.fromEntries(names.map((name, at) => [name, 9e9 - at * 1e9])));
    await service.untilShown('names', names.length);
  }, 240_000);
  afterAll(() => session?.stop());
  beforeEach(async () => {
    await session.openTab();
    page = session.page;
  });
  afterEach(() => session.closeTab());

  const open = async (board: string, size: { width: number; height: number }, scheme: 'light' | 'dark' = 'light') => {
    await page.setViewportSize(size);
    await page.emulateMedia({ colorScheme: scheme });
    await session.open(board);
    await page.locator('#rows tr').first().waitFor();
  };

  it.each([
    ['desktop', DESKTOP, 14],
    ['phone', PHONE, 9],
  ])('has the board first: on a %s so many rows are in sight', async (_name, size, rowsMin) => {
    for (const board of ['plain', 'time']) {
      await open(board, size);
      await expect.poll(() => page.evaluate<number>(inPage.rowsInSight)).toBeGreaterThanOrEqual(rowsMin);
    }
  });

  it.each(['plain', 'time', 'money', 'huge', 'names'])('cuts no score and no rank at any width (%s)', async (board) => {
    for (const width of WIDTHS) {
      await open(board, { width, height: 800 });
      expect(await page.evaluate(inPage.cutNumbers), `${width}`).toEqual([]);
      expect(await page.evaluate(inPage.width), `${width}`).toBe(width);
      expect((await page.locator('#rows .label').first().boundingBox())!.width).toBeGreaterThan(24);
    }
  });

  it('lays nothing over the options of a phone', async () => {
    await open('plain', PHONE);
    await session.openOptions();
    expect(await page.evaluate(inPage.overPanel)).toEqual([]);
  });

  it.each([320, 390])('says how it is with the connection beside the button (%i px)', async (width) => {
    await page.setViewportSize({ width, height: 800 });
    await session.open('nowhere');
    await session.until('#connection', 'Waiting');
    const box = async (what: string) => (await page.locator(what).boundingBox())!;
    const [words, pill, button] = await Promise.all(['#connection-text', '#connection', '#try-open'].map(box));
    expect(words!.x + words!.width).toBeLessThanOrEqual(pill!.x + pill!.width);
    expect(button!.height).toBe(30);
    expect(await page.evaluate(inPage.width)).toBe(width);
  });

  it('writes scores as the board says, and tells the exact one of those that are shortened', async () => {
    const first = () => page.locator('#rows .score').first().innerText();
    await open('time', PHONE);
    expect(await first()).toBe('1:02:05.100');
    expect(await page.locator('#rows .details').first().innerText()).toBe('hits 0');
    await open('money', PHONE);
    expect(await first()).toBe('€9.877B');
    expect(await page.locator('#rows .score').nth(9).innerText()).toBe('€19,290,123.46');
    await open('huge', PHONE);
    expect((await first()).replace(/\s/g, ' ')).toBe('123,456.789T cookies');
    const spoken = page
      .locator('#rows tr')
      .first()
      .getByRole('img', { name: /^123,456,789,000,000,000\scookies$/ });
    expect(await spoken.getAttribute('title')).toMatch(/^123,456,789,000,000,000\s/);
  });

  it('shows what players and operators wrote as text', async () => {
    await open('names', PHONE);
    expect((await session.shown())[3]).toBe('<b>bold</b><img src=x onerror=alert(1)>');
    expect(await page.textContent('#title')).toMatch(/^<i>Long title/);
    expect((await page.locator('#title').boundingBox())!.height).toBeLessThan(40);
    expect(await page.locator('#rows img, #rows b').count()).toBe(0);
  });

  it.each(['light', 'dark'] as const)('has nothing that axe finds (%s)', async (scheme) => {
    for (const size of [DESKTOP, PHONE]) {
      for (const board of ['time', 'names']) {
        await open(board, size, scheme);
        await expectAccessible(page);
      }
    }
    await session.openOptions();
    await expectAccessible(page);
    await page.keyboard.press('Escape');
    await session.openDrawer();
    await expectAccessible(page);
  });
});
