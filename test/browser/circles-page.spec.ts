// Real: the built service with its PostgreSQL and Redis, the page it serves, and Chromium.
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { hasChromium } from './chromium.js';
import { inPage } from './in-page.js';
import { numbered, PageSession } from './page-session.js';
import type { ServiceClient } from './service-client.js';

const smallPhone = { width: 320, height: 640 };

describe.runIf(hasChromium('the tests of circles on the live page'))('the circles of the live page', () => {
  let session: PageSession;
  let service: ServiceClient;
  let page: Page;

  beforeAll(async () => {
    session = await PageSession.start();
    service = session.service;
    await service.call('PUT', '/v1/guilds/red', { displayName: 'The Reds' });
    await service.call('PUT', '/v1/guilds/blue', { displayName: 'The Blues' });
    for (const [index, player] of numbered(1, 12).entries()) {
      const region = index % 2 === 0 ? 'Asia' : 'São Tomé';
      await service.call('PUT', `/v1/players/${player}`, { region, attributes: { country: 'DE' } });
      await service.call('PUT', `/v1/guilds/${index < 6 ? 'red' : 'blue'}/members/${player}`);
    }
    for (const friend of ['p3', 'p9']) await service.call('PUT', `/v1/players/p6/friends/${friend}`);
  });
  afterAll(() => session?.stop());
  beforeEach(async () => {
    await session.openTab();
    page = session.page;
  });
  afterEach(() => session.closeTab());

  const boardOfCircles = () =>
    session.boardOfTwelve({ scopes: ['global', 'region', 'guild', { attribute: 'country' }] });
  const cells = async () =>
    (await page.locator('#rows tr').allInnerTexts()).map((row) => row.trim().split(/\s*[\t\n]\s*/));
  const asked = () => new URL(page.url()).searchParams;
  const odd = numbered(1, 12).filter((_, index) => index % 2 === 0);

  it('shows a region as it is chosen from those there are, and everybody again', async () => {
    const board = await boardOfCircles();
    await session.open(board);
    await session.untilShown(numbered(1, 12));
    const kinds = () => page.locator('#scope-kind option').allTextContents();
    await expect.poll(kinds).toEqual(['Everybody', 'Region…', 'Country…']);
    await session.openOptions();
    await page.getByLabel('Who is ranked').selectOption('region');
    expect(await page.evaluate(inPage.focused)).toBe('scope-value');
    const offered = () => page.evaluate(inPage.offeredScopes);
    await expect.poll(offered).toEqual(['Asia', 'São Tomé']);
    await page.getByLabel('Region', { exact: true }).fill('Asia');
    await page.keyboard.press('Enter');
    await session.untilShown(odd);
    expect(asked().get('scope')).toBe('region:Asia');
    await service.submit(board, { p11: 5000, p12: 6000 });
    await session.untilShown(['p11', ...odd.slice(0, -1)]);
    await page.reload();
    await session.untilShown(['p11', ...odd.slice(0, -1)]);
    await session.until('#options-name', 'Region Asia');
    await session.openOptions();
    expect(await page.getByLabel('Region', { exact: true }).inputValue()).toBe('Asia');
    await page.getByLabel('Who is ranked').selectOption('global');
    await session.untilShown(['p12', 'p11', ...numbered(1, 10)]);
    await page.goBack();
    await session.untilShown(['p11', ...odd.slice(0, -1)]);
  });

  it('says that nobody is in a region, and what a board does not have in the words of the service', async () => {
    const board = await boardOfCircles();
    await session.open(board, '&scope=region:Atlantis');
    await session.until('#notice', /Nobody in Region Atlantis yet/);
    await session.open(board, '&scope=shoe:42');
    await session.until('#notice', /has no scope "shoe:42"/);
  });

  it('ranks guilds, moves them live, and shows the members of the one that is chosen', async () => {
    const board = await boardOfCircles();
    await session.open(board);
    await session.untilShown(numbered(1, 12));
    await page.getByRole('radio', { name: 'Guilds' }).check();
    await expect.poll(cells).toEqual([
      ['1', 'The Reds', '6', '5,700'],
      ['2', 'The Blues', '6', '2,100'],
    ]);
    expect(await page.textContent('#total')).toBe('2 guilds');
    await service.submit(board, { p12: 9000 });
    await session.untilShown(['The Blues', 'The Reds']);
    expect(await page.locator('#rows tr').first().locator('.move').innerText()).toMatch(/▲\s1/);
    await page.getByRole('link', { name: 'The Reds' }).click();
    await session.untilShown(numbered(1, 6));
    expect(asked().get('scope')).toBe('guild:red');
    await session.until('#scope-chip-name', 'The Reds');
    await page.reload();
    await session.untilShown(numbered(1, 6));
    await session.until('#scope-chip-name', 'The Reds');
    await page.getByRole('button', { name: 'All guilds' }).click();
    await session.untilShown(['The Blues', 'The Reds']);
    await page.goBack();
    await session.untilShown(numbered(1, 6));
  });

  it('ranks friends among themselves, with their place among all, live', async () => {
    const board = await boardOfCircles();
    await session.openWithKey(board, '&view=friends&player=p6');
    await expect.poll(cells).toEqual([
      ['1', 'p3', '3', '1,000'],
      ['2', 'p6', '6', '700'],
      ['3', 'p9', '9', '400'],
    ]);
    await service.submit(board, { p9: 5000, p1: 1 });
    await expect
      .poll(async () => (await cells()).map((row) => [row[0], row.find((cell) => /^p\d/.test(cell))]))
      .toEqual([
        ['1', 'p9'],
        ['2', 'p3'],
        ['3', 'p6'],
      ]);
    await expect.poll(() => page.locator('#rows .extra').allTextContents()).toEqual(['1', '4', '7']);
    await service.call('PUT', '/v1/players/p6/friends/p12');
    await session.untilShown(['p9', 'p3', 'p6', 'p12']);
    await service.call('DELETE', '/v1/players/p6/friends/p12');
    await session.untilShown(['p9', 'p3', 'p6']);
  });

  it('asks who is looking and for a key before it shows friends, and says how friends are added', async () => {
    const board = await boardOfCircles();
    await session.open(board, '&view=friends');
    await page.getByRole('button', { name: 'Say who I am' }).click();
    expect(await page.evaluate(inPage.focused)).toBe('me-input');
    await page.keyboard.type('p1');
    await page.keyboard.press('Enter');
    await session.until('#notice', /API key with the scope read.*npm start prints a key/);
    expect(asked().get('player')).toBe('p1');
    await page.getByRole('button', { name: 'Enter a key' }).click();
    await page.getByLabel('Key', { exact: true }).fill('not-a-key');
    await page.getByRole('button', { name: 'Use this key' }).click();
    await session.until('#notice', /The key was not accepted/);
    await page.getByRole('button', { name: 'Enter a key' }).click();
    await page.getByLabel('Key', { exact: true }).fill(service.adminKey);
    await page.getByRole('button', { name: 'Use this key' }).click();
    await session.untilShown(['p1']);
    await session.until('#hint', /Friends are added with PUT \/v1\/players\/p1\/friends/);
    await page.getByRole('radio', { name: 'Players' }).check();
    await session.untilShown(numbered(1, 12));
    expect(asked().get('view')).toBeNull();
  });

  it('keeps a board in sight whatever the key is worth', async () => {
    const board = await boardOfCircles();
    await session.openWithKey(board, '&view=friends&player=p6', 'not-a-key');
    await session.until('#notice', /The key was not accepted/);
    await page.getByRole('radio', { name: 'Players' }).check();
    await session.untilShown(numbered(1, 12));
    await session.until('#connection', 'Live');
  });

  it.each(['', '&scope=guild:red', '&scope=region:Asia', '&view=guilds', '&view=friends&player=p6'])(
    'fits a small phone without sideways scrolling (%s)',
    async (query) => {
      const board = await boardOfCircles();
      await page.setViewportSize(smallPhone);
      await session.openWithKey(board, query);
      await page.locator('#rows tr').first().waitFor();
      expect(await page.evaluate(inPage.width)).toBe(smallPhone.width);
      const names = await page.locator('#rows tr').first().locator('.label').boundingBox();
      expect(names!.width).toBeGreaterThan(12);
    },
  );

  it('moves nothing up while the rows of another list are on their way', async () => {
    await session.open(await boardOfCircles());
    await session.untilShown(numbered(1, 12));
    const height = async () => (await page.locator('#board').boundingBox())!.height;
    const before = await height();
    session.wire.cut();
    await session.until('#connection', 'Reconnecting');
    await page.getByRole('radio', { name: 'Today' }).check();
    await session.untilShown([]);
    expect(await height()).toBe(before);
    session.wire.mend();
    await session.untilShown(numbered(1, 12));
    expect(await height()).toBe(before);
  });

  it('leads by keyboard from the guilds to the members of one, and back', async () => {
    await session.open(await boardOfCircles(), '&view=guilds');
    await session.untilShown(['The Reds', 'The Blues']);
    await page.locator('#options-open').focus();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await session.untilShown(numbered(1, 6));
    await page.locator('#scope-chip').focus();
    await page.keyboard.press('Enter');
    await session.untilShown(['The Reds', 'The Blues']);
  });
});
