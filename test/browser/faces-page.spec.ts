// Real: the built service with its PostgreSQL and Redis, the page it serves with its policy, and Chromium. The host of avatars is
// played here.
import type { Page, Request } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { expectAccessible } from './accessibility.js';
import { hasChromium } from './chromium.js';
import { inPage } from './in-page.js';
import { numbered, PageSession } from './page-session.js';

const PICTURE = Buffer.from(
  '<svg xmlns="http://www.w3.org/2000/svg" width="64" height="64"><rect width="64" height="64" fill="teal"/></svg>',
);
const SHIFT_MAX = 0.05;

describe.runIf(hasChromium('the tests of faces on the live page'))('faces on the live page', () => {
  let session: PageSession;
  let page: Page;
  let board: string;
  let asked: Request[];

  beforeAll(async () => {
    session = await PageSession.start({ PAGE_IMAGE_HOSTS: 'avatars.test' });
    await profile('p1', {
      ...{ avatarUrl: 'https://avatars.test/p1.svg', region: 'EU', attributes: { country: 'GB' } },
    });
    await profile('p2', { avatarUrl: 'https://elsewhere.test/p2.svg', region: 'Asia' });
    await profile('p3', { avatarUrl: 'https://avatars.test/broken.svg' });
    board = await session.boardOfTwelve();
  });
  afterAll(() => session?.stop());
  beforeEach(async () => {
    await session.openTab();
    page = session.page;
    asked = [];
    page.on('request', (request) => /\.test$/.test(new URL(request.url()).hostname) && asked.push(request));
    await page.route(/^https:\/\/\w+\.test\//, (route) =>
      route.request().url().includes('broken')
        ? route.fulfill({ status: 404 })
        : route.fulfill({ contentType: 'image/svg+xml', body: PICTURE }),
    );
  });
  afterEach(() => session.closeTab());

  const profile = (player: string, body: object) => session.service.call('PUT', `/v1/players/${player}`, body);
  const avatar = (row: number) => page.locator('#rows tr').nth(row).locator('.face');
  const inRow = (row: number, what: string, expression: string) =>
    page.evaluate(`((one) => ${expression})(document.querySelectorAll('#rows tr')[${row}].querySelector('${what}'))`);
  const isLoaded = (row: number) =>
    inRow(row, '.face', "one.classList.contains('is-loaded') && one.firstChild.naturalWidth > 0");
  const said = (row: number, what: string) => inRow(row, what, "getComputedStyle(one, '::before').content");

  it('are avatars of hosts that are allowed, small, late, and without a word of the page', async () => {
    await session.open(board);
    await session.untilShown(numbered(1, 12));
    await expect.poll(() => isLoaded(0)).toBe(true);
    const image = avatar(0).locator('img');
    expect(await image.getAttribute('loading')).toBe('lazy');
    expect(await image.getAttribute('referrerpolicy')).toBe('no-referrer');
    expect(await image.boundingBox()).toMatchObject({ width: 24, height: 24 });
    const [request] = asked;
    expect(request!.url()).toBe('https://avatars.test/p1.svg');
    expect(await request!.allHeaders()).not.toHaveProperty('referer');
    // The row says what it said before.
    expect(await page.locator('#rows tr').first().innerText()).toMatch(/^1\s+p1\s+1,200$/);
  });

  it('are the first letter where an avatar is of another host, is broken, or is not there', async () => {
    await session.open(board);
    await session.untilShown(numbered(1, 12));
    await expect.poll(() => asked.map((request) => request.url())).toContain('https://avatars.test/broken.svg');
    for (const row of [1, 2, 3]) {
      await expect.poll(() => avatar(row).locator('img').count()).toBe(0);
      expect(await said(row, '.face')).toBe('"P"');
      expect(await avatar(row).boundingBox()).toMatchObject({ width: 24, height: 24 });
    }
    expect(asked.map((request) => new URL(request.url()).hostname)).not.toContain('elsewhere.test');
  });

  it('have the flag of a country, and the words of a region, for eyes and ears', async () => {
    await session.open(board);
    await session.untilShown(numbered(1, 12));
    const flag = page.locator('#rows tr').first().getByRole('img', { name: 'United Kingdom' });
    await flag.waitFor();
    expect(await said(0, '.flag')).toBe('"\u{1F1EC}\u{1F1E7}"');
    expect(await page.locator('#rows').getByRole('img', { name: 'Asia' }).isVisible()).toBe(true);
    expect(await page.locator('#rows .flag:visible').count()).toBe(2);
    await expectAccessible(page);
  });

  it('show live, beside the board and in the view of a player, and move nothing', async () => {
    await page.addInitScript(inPage.watchShifts);
    await session.open(board);
    await session.untilShown(numbered(1, 12));
    await expect.poll(() => isLoaded(0)).toBe(true);
    await profile('p4', { avatarUrl: 'https://avatars.test/p4.svg' });
    await expect.poll(() => isLoaded(3)).toBe(true);
    await page.fill('#me-input', 'p3');
    await page.keyboard.press('Enter');
    await expect.poll(() => page.locator('#me-rows .face.is-loaded').count()).toBe(2);
    // Beside the board names need the room.
    expect(await page.locator('#me-rows').getByRole('img', { name: 'Asia' }).count()).toBe(0);
    await page.locator('#rows').getByRole('link', { name: 'p1', exact: true }).click();
    await expect.poll(() => page.locator('#player-dialog .face.is-loaded').count()).toBe(1);
    expect(await page.locator('#player-dialog').getByRole('img', { name: 'United Kingdom' }).count()).toBe(1);
    expect(await page.evaluate<number>(inPage.shifted)).toBeLessThan(SHIFT_MAX);
    await profile('p4', { avatarUrl: null });
  });

  it('take no room where nobody has one', async () => {
    await session.service.makeBoard('faceless');
    await session.service.submit('faceless', { ada: 3, bob: 2 });
    await session.service.untilShown('faceless', 2);
    await session.open('faceless');
    await session.untilShown(['ada', 'bob']);
    expect(await page.locator('#rows .face:visible').count()).toBe(0);
    const edges = "['#who-heading', '#rows .who'].map((one) => document.querySelector(one).getBoundingClientRect().x)";
    const [heading, name] = await page.evaluate<number[]>(edges);
    expect(name).toBeLessThanOrEqual(heading! + 8);
    expect(asked).toEqual([]);
  });

  it('leave names their room on a small phone', async () => {
    await page.setViewportSize({ width: 320, height: 640 });
    await session.open(board);
    await session.untilShown(numbered(1, 10));
    await expect.poll(() => isLoaded(0)).toBe(true);
    expect(await page.evaluate(inPage.width)).toBe(320);
    expect(await page.evaluate(inPage.cutNumbers)).toEqual([]);
    const overlap = `(() => {
      const [face, name, flag] = ['.face', '.label', '.flag'].map((one) =>
        document.querySelector('#rows tr ' + one).getBoundingClientRect());
      return face.right > name.left || name.right > flag.left;
    })()`;
    expect(await page.evaluate(overlap)).toBe(false);
    expect(await page.locator('#rows').getByRole('img', { name: 'Asia' }).count()).toBe(0);
    expect(await page.locator('#rows').getByRole('img', { name: 'United Kingdom' }).count()).toBe(1);
  });
});
