// Real: the built service with its PostgreSQL and Redis, the page it serves, and Chromium.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Page } from 'playwright-core';
import { hasChromium } from './chromium.js';
import { inPage } from './in-page.js';
import { numbered, PageSession } from './page-session.js';
import type { ServiceClient } from './service-client.js';

const phone = { width: 320, height: 740 };

describe.runIf(hasChromium('the tests of the live page'))('the live page in Chromium', () => {
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

  const boardOfTwelve = (options?: object) => session.boardOfTwelve(options);
  const open = (board: string, query?: string) => session.open(board, query);
  const shown = () => session.shown();
  const until = (what: string, value: string | RegExp) => session.until(what, value);
  const untilShown = (names: string[]) => session.untilShown(names);

  it('shows the board in its order, with its total, and that it is live', async () => {
    await open(await boardOfTwelve(), '&top=10');
    await untilShown(numbered(1, 10));
    expect(await page.locator('#rows tr').first().innerText()).toMatch(/^1\s+p1\s+1,200$/);
    expect(await page.textContent('#total')).toBe('12 entries');
    await until('#connection', 'Live');
    await session.openOptions();
    await page.getByRole('radio', { name: '25', exact: true }).check();
    await untilShown(numbered(1, 12));
  });

  it('moves a row to its new place, and says how far it came and what it gained', async () => {
    const board = await boardOfTwelve();
    await open(board);
    await untilShown(numbered(1, 12));
    const glided = page.evaluate(inPage.rowGlides);
    await service.submit(board, { p12: 5000 });
    await glided;
    await untilShown(['p12', ...numbered(1, 11)]);
    const first = page.locator('#rows tr').first();
    expect(await first.locator('.move').innerText()).toMatch(/▲\s11/);
    expect(await first.getByRole('img', { name: 'up 11 places' }).count()).toBe(1);
    expect(await first.locator('.gain').innerText()).toBe('+5,000');
    expect(await page.locator('#rows tr').last().locator('.move').innerText()).toMatch(/▼\s1/);
    await expect.poll(() => page.locator('#rows .news').count()).toBe(0);
  });

  it('marks ranks and totals that are estimated, until they are exact', async () => {
    const board = await boardOfTwelve();
    // What the service says while entries cross between its shards, which no test can hold open from outside.
    let estimate: object = { accuracy: 'estimated', errorBound: 3 };
    await page.routeWebSocket('**/v1/live', (socket) => {
      const server = socket.connectToServer();
      server.onMessage((text) => {
        const frame = JSON.parse(String(text)) as { type: string };
        socket.send(JSON.stringify(frame.type === 'ping' ? frame : { ...frame, ...estimate }));
      });
    });
    await open(board);
    await untilShown(numbered(1, 12));
    await page.fill('#me-input', 'p9');
    await page.keyboard.press('Enter');
    await expect.poll(() => page.locator('#rows .rank').first().innerText()).toBe('≈\u00a01');
    expect(await page.locator('#rows .rank span').first().getAttribute('title')).toMatch(/off by 3 at most/);
    expect(await page.textContent('#total')).toBe('≈\u00a012 entries');
    await until('#me-bar-rank', 'Rank ≈ 9');
    await until('#summary', /Leading of ≈ 12: ≈ 1, p1/);
    estimate = {};
    await service.submit(board, { p9: 1 });
    await until('#total', /^12 entries/);
    await until('#me-bar-rank', 'Rank 9');
    await expect
      .poll(() => page.locator('#rows .rank').allInnerTexts())
      .toEqual(numbered(1, 12).map((id) => id.slice(1)));
  });

  it('comes back after a cut by itself, and goes on from the number it had', async () => {
    const board = await boardOfTwelve();
    await open(board);
    await untilShown(numbered(1, 12));
    await until('#connection', 'Live');
    session.wire.cut();
    await until('#connection', 'Reconnecting');
    await service.submit(board, { p2: 5000 });
    session.wire.mend();
    await until('#connection', 'Live');
    await untilShown(['p2', 'p1', ...numbered(3, 12)]);
    const resumed = session.frames.map((frame) => JSON.parse(frame)).filter(({ type }) => type === 'resume');
    expect(resumed).toContainEqual(expect.objectContaining({ board, channel: 'top', seq: expect.any(Number) }));
  });

  it('says nothing of the list before while another one cannot be had', async () => {
    const board = await boardOfTwelve();
    await open(board);
    await untilShown(numbered(1, 12));
    expect(await page.textContent('#total')).toBe('12 entries');
    session.wire.cut();
    await until('#connection', 'Reconnecting');
    await page.getByRole('radio', { name: 'Today' }).check();
    await until('#total', /^$/);
    session.wire.mend();
    await untilShown(numbered(1, 12));
    expect(await page.textContent('#total')).toBe('12 entries');
  });

  it('switches to another window, and says when it is reset', async () => {
    const board = await boardOfTwelve();
    const longAgo = new Date(Date.now() - 3 * 86_400_000).toISOString();
    await service.submit(board, { veteran: 9000 }, { achievedAt: longAgo });
    await open(board);
    await untilShown(['veteran', ...numbered(1, 12)]);
    await page.getByRole('radio', { name: 'Today' }).check();
    await untilShown(numbered(1, 12));
    await until('#resets', /resets in \d+:\d\d/);
    expect(page.url()).toContain('window=daily');
    await page.reload();
    await untilShown(numbered(1, 12));
  });

  it('submits with a key that it asks for, keeps in the tab alone, and tells the answer', async () => {
    const board = await boardOfTwelve();
    await open(board);
    await untilShown(numbered(1, 12));
    await session.openDrawer();
    const form = page.locator('#submit-form');
    await form.getByLabel('Player id').fill('p3');
    await form.getByLabel('Score').fill('150');
    await form.getByRole('button').click();
    await page.getByLabel('Key', { exact: true }).fill('not-a-key');
    await page.getByRole('button', { name: 'Use this key' }).click();
    await until('#submit-message', /\S/);
    await expect.poll(() => page.locator('#submit-message.bad').count()).toBe(1);
    await form.getByRole('button').click();
    await page.getByLabel('Key', { exact: true }).fill(service.adminKey);
    await page.getByRole('button', { name: 'Use this key' }).click();
    await until('#submit-message', /Changed: 1,150\. Rank 3 → 2 of 12, ▲.1/);
    await untilShown(['p1', 'p3', 'p2', ...numbered(4, 12)]);
    const kept = await page.evaluate<string[]>(inPage.whereKeysCouldBe);
    expect(kept.map((text) => text.includes(service.adminKey))).toEqual([true, false, false, false]);
    await page.getByRole('button', { name: 'Forget my key' }).click();
    expect(await page.evaluate(inPage.keptInTab)).toBe(0);
  });

  it('counts a score once when its answers were lost, and the button is pressed again', async () => {
    const board = await boardOfTwelve();
    await session.openWithKey(board);
    await untilShown(numbered(1, 12));
    const tries = 5;
    let lost = 0;
    await page.route('**/scores', async (route) => {
      lost += 1;
      if (lost > tries) return route.continue();
      await route.fetch();
      return route.abort('connectionreset');
    });
    await session.openDrawer();
    await page.locator('#submit-player').fill('p12');
    await page.locator('#submit-score').fill('1');
    await page.locator('#submit-form button').click();
    await until('#submit-message', /The service cannot be reached/);
    await page.locator('#submit-form button').click();
    await until('#submit-message', /Changed: 101\..*counted before/);
    expect(lost).toBe(tries + 1);
  });

  it('follows my row with its neighbours, says when I have none, and remembers me', async () => {
    const board = await boardOfTwelve();
    await open(board, '&top=10');
    await page.getByLabel('Player to follow').fill('nobody');
    await page.getByRole('button', { name: 'Follow', exact: true }).click();
    await until('#me-message', /nobody has no entry here yet/);
    await service.submit(board, { nobody: 250 });
    const around = () => page.locator('#me-rows .label').allTextContents();
    await expect.poll(around).toEqual(['p8', 'p9', 'p10', 'nobody', 'p11', 'p12']);
    await until('#me-bar', /Rank 11.*nobody.*250/);
    await page.reload();
    await until('#me-bar', /Rank 11.*nobody/);
    await service.submit(board, { nobody: 5000 });
    await until('#me-bar', /Rank 1.*nobody.*▲.*5,250/);
    await expect.poll(() => page.locator('#rows tr.mine .you').isVisible()).toBe(true);
    await page.getByRole('button', { name: 'Stop following' }).click();
    expect(await page.locator('#me-bar').isVisible()).toBe(false);
  });

  it('shows how far each row has moved since yesterday, where the service says so', async () => {
    await open(await boardOfTwelve());
    await untilShown(numbered(1, 12));
    await page.route('**/entries?*', async (route) => {
      const response = await route.fetch();
      const body = (await response.json()) as { entries: object[] };
      const changes = [3, -1, 0, null];
      const entries = body.entries.map((entry, at) => ({ ...entry, change: changes[at] }));
      await route.fulfill({ response, json: { ...body, entries } });
    });
    await page.locator('#look-input').fill('1');
    await page.locator('#look-input').press('Enter');
    const marks = () => page.locator('#look-rows .move').allInnerTexts();
    await expect.poll(marks).toEqual(['▲\u20093', '▼\u20091', ...Array<string>(9).fill('')]);
    expect(await page.getByRole('img', { name: 'up 3 places since yesterday' }).count()).toBe(1);
  });

  it('looks around a rank and around a player', async () => {
    await open(await boardOfTwelve());
    await untilShown(numbered(1, 12));
    const found = () => page.locator('#look-rows .label').allTextContents();
    const pointed = () => page.locator('#look-rows tr[aria-current] .label').allTextContents();
    await page.locator('#look-input').fill('7');
    await page.keyboard.press('Enter');
    await expect.poll(pointed).toEqual(['p7']);
    expect(await found()).toEqual(numbered(2, 12));
    await page.locator('#look-input').fill('99');
    await page.keyboard.press('Enter');
    await until('#look-message', /ends at rank 12/);
    expect(await pointed()).toEqual(['p12']);
    await page.locator('#look-form').getByRole('radio', { name: 'Player' }).check();
    await page.locator('#look-input').fill('p2');
    await page.keyboard.press('Enter');
    await until('#look-message', /p2: rank 2 of 12/);
    expect(await found()).toEqual(numbered(1, 7));
    await page.locator('#look-input').fill('nobody');
    await page.keyboard.press('Enter');
    await expect.poll(() => page.locator('#look-message.bad').count()).toBe(1);
  });

  it('waits for a board that is not there, and shows it when it is made', async () => {
    await open('not-yet');
    await until('#notice', /no board “not-yet” yet/);
    await service.makeBoard('not-yet');
    await until('#notice', /No entries yet/);
    await service.submit('not-yet', { ada: 1 });
    await untilShown(['ada']);
  });

  it('has nothing left to read of a board that is not public any more', async () => {
    const board = await boardOfTwelve();
    await open(board);
    await until('#summary', /^Leading of 12: 1, p1/);
    await service.makeBoard(board, { visibility: 'private' });
    await until('#notice', /not public/);
    expect(await page.textContent('#summary')).toBe('');
    expect(await page.textContent('#total')).toBe('');
    expect(await shown()).toEqual([]);
  });

  it('resets a board with the admin key, and with no other', async () => {
    await open(await boardOfTwelve());
    await untilShown(numbered(1, 12));
    await session.openDrawer();
    await page.getByRole('button', { name: 'Reset the board' }).click();
    await page.getByLabel('Admin key').fill('not-a-key');
    await page.keyboard.press('Enter');
    await expect.poll(() => page.locator('#reset-message').textContent()).toMatch(/\S/);
    await page.getByLabel('Admin key').fill(service.adminKey);
    await page.getByRole('button', { name: 'Remove every entry' }).click();
    await until('#notice', /No entries yet/);
    expect(await page.evaluate(inPage.keptInTab)).toBe(0);
  });

  it('asks for a key on a private board, and is live with it', async () => {
    const board = await boardOfTwelve({ visibility: 'private' });
    await open(board);
    await expect.poll(() => page.textContent('#connection-text')).toBe('A key is needed');
    await page.getByRole('button', { name: 'Enter a key' }).click();
    await page.getByLabel('Key', { exact: true }).fill(service.adminKey);
    await page.getByRole('button', { name: 'Use this key' }).click();
    await untilShown(numbered(1, 12));
    await service.submit(board, { p2: 5000 });
    await untilShown(['p2', 'p1', ...numbered(3, 12)]);
  });

  it.each(['light', 'dark'] as const)('fits a narrow phone without sideways scrolling (%s)', async (colorScheme) => {
    const board = await boardOfTwelve();
    const names = ['x'.repeat(128), 'São Tomé and Príncipe', 'مُحَمَّد', '<i>no</i>'];
    await service.submit(board, Object.fromEntries(names.map((name, i) => [name, 1e12 - i])));
    await page.setViewportSize(phone);
    await page.emulateMedia({ colorScheme });
    await open(board);
    await expect.poll(async () => (await shown()).slice(0, 4)).toEqual(names);
    await page.getByLabel('Player to follow').fill(names[0]!);
    await page.getByRole('button', { name: 'Follow', exact: true }).click();
    await until('#me-bar', /Rank 1/);
    expect(await page.evaluate(inPage.width)).toBe(phone.width);
  });

  it('is reached and used by keyboard alone', async () => {
    await open(await boardOfTwelve());
    await untilShown(numbered(1, 12));
    await page.locator('#spread').waitFor();
    const reached: string[] = [];
    for (let stops = 0; stops < 40; stops += 1) {
      await page.keyboard.press('Tab');
      const stop = await page.evaluate<string>(inPage.focused);
      if (stop === '' || reached.includes(stop)) break;
      reached.push(stop);
    }
    const controls = ['view', 'window', 'options-open'];
    const rows = numbered(1, 12);
    const beside = ['me-input', 'Follow', 'by', 'look-input', 'Look', 'As a table'];
    expect(reached).toEqual(['Skip to the board', 'Laddercast', 'try-open', ...controls, ...rows, ...beside]);
    await page.locator('input[name=window]:checked').focus();
    await page.keyboard.press('ArrowRight');
    await expect.poll(() => page.url()).toContain('window=daily');
    await page.locator('#try-open').focus();
    await page.keyboard.press('Enter');
    expect(await page.evaluate(inPage.focused)).toBe('try-close');
    await page.locator('#reset-open').focus();
    await page.keyboard.press('Enter');
    expect(await page.getByRole('dialog').isVisible()).toBe(true);
    await page.keyboard.press('Escape');
    expect(await page.getByRole('dialog').isVisible()).toBe(false);
    expect(await page.evaluate(inPage.focused)).toBe('reset-open');
    await page.keyboard.press('Escape');
    expect(await page.locator('#try-it').isVisible()).toBe(false);
    expect(await page.evaluate(inPage.focused)).toBe('try-open');
  });

  it('moves nothing for those who asked for less motion, and tells the news all the same', async () => {
    const board = await boardOfTwelve();
    await page.emulateMedia({ reducedMotion: 'reduce' });
    await open(board);
    await untilShown(numbered(1, 12));
    await service.submit(board, { p12: 5000 });
    await untilShown(['p12', ...numbered(1, 11)]);
    expect(await page.evaluate(inPage.movements)).toBe(0);
    expect(await page.locator('#rows tr').first().locator('.move').innerText()).toMatch(/▲\s11/);
    expect(await page.textContent('#summary')).toMatch(/^Leading of 12: 1, p1/);
  });
});
