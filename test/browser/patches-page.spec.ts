// Real: the built service with its PostgreSQL and Redis, the page it serves, and Chromium.
import { PostgresDatabase } from '@laddercast/ledger';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { hasChromium } from './chromium.js';
import { inPage } from './in-page.js';
import { PageSession } from './page-session.js';
import type { ServiceClient } from './service-client.js';

const smallPhone = { width: 320, height: 640 };
const SERVED_WITHIN = { timeout: 60_000 };

describe.runIf(hasChromium('the tests of patches on the live page'))('boards with decay on the live page', () => {
  let session: PageSession;
  let service: ServiceClient;
  let page: Page;
  let family: string;
  let families = 0;

  beforeAll(async () => {
    session = await PageSession.start();
    service = session.service;
  });
  afterAll(() => session?.stop());
  beforeEach(async () => {
    family = `eu4-${(families += 1)}`;
    await publish('1.28', '2026-01-01');
    await publish('1.28.1', '2026-01-08', { sameAs: '1.28' });
    await publish('1.29', '2026-02-01');
    await publish('1.30', '2026-03-01', { title: '<b>Emperor</b>' });
    await session.openTab();
    page = session.page;
  });
  afterEach(() => session.closeTab());

  const publish = (patch: string, day: string, rest: object = {}) =>
    service.call('PUT', `/v1/patches/${patch}?family=${family}`, { family, publishedAt: `${day}T00:00:00Z`, ...rest });

  /** cat 109 on 1.30, bob 109 on 1.29, ada 109 on 1.28: 109, 119.9, 130.8. */
  async function boardOfRuns(): Promise<string> {
    const board = `decay-${family}`;
    await service.makeBoard(board, {
      ...{ order: 'asc', operator: 'best', windows: ['alltime'], limits: { scoreMin: 0 } },
      ...{ decay: { family, perPatch: 0.1 }, format: { kind: 'number', decimals: 1, unit: 'd' } },
    });
    await submit(board, 'ada', 109, '1.28');
    await submit(board, 'bob', 109, '1.29');
    await submit(board, 'cat', 109, '1.30');
    await service.untilShown(board, 3);
    return board;
  }
  const submit = (board: string, playerId: string, score: number, patch: string) =>
    service.submit(board, { [playerId]: score }, { patch });
  const spaced = (text: string | null) => (text ?? '').replace(/\s+/g, ' ').trim();
  const texts = async (what: string) => (await page.locator(what).allTextContents()).map(spaced);
  const rows = async () => {
    const [names, runs, scores] = await Promise.all([session.shown(), texts('#rows .run'), texts('#rows .score')]);
    return names.map((name, at) => [name, runs[at], scores[at]]);
  };
  const untilRows = (wanted: string[][]) => expect.poll(rows, SERVED_WITHIN).toEqual(wanted);
  const firstRows = [
    ['cat', '109.0 d on 1.30', '109.0 d'],
    ['bob', '109.0 d on 1.29, 1 patch behind', '119.9 d'],
    ['ada', '109.0 d on 1.28, 2 patches behind', '130.8 d'],
  ];

  it('show of each entry its taxed score, its raw one, its patch, and how far that is behind', async () => {
    const board = await boardOfRuns();
    await session.open(board);
    await untilRows(firstRows);
    expect(await page.textContent('#score-heading')).toBe('Taxed');
    await session.until('#tax', 'Each patch behind 1.30 adds 10% of the raw score.');
    expect(await page.locator('#retax').isVisible()).toBe(false);
    await submit(board, 'ada', 100, '1.28');
    await untilRows([firstRows[0]!, firstRows[1]!, ['ada', '100.0 d on 1.28, 2 patches behind', '120.0 d']]);
    await page.fill('#me-input', 'ada');
    await page.keyboard.press('Enter');
    await expect.poll(() => texts('#me-rows .mine .run')).toEqual(['100.0 d on 1.28, 2 patches behind']);
  });

  it('switch to the raw scores of a patch and back with the keyboard, live on both', async () => {
    const board = await boardOfRuns();
    await session.open(board);
    await untilRows(firstRows);
    await session.openOptions();
    const choice = page.getByLabel('Patch', { exact: true }).first();
    await expect.poll(() => texts('#patch option')).toEqual(['All, taxed', '1.30, <b>Emperor</b>', '1.29', '1.28']);
    await choice.focus();
    await page.keyboard.press('End');
    await untilRows([['ada', '109.0 d on 1.28, 2 patches behind', '109.0 d']]);
    expect(await page.textContent('#score-heading')).toBe('Raw');
    await session.until('#tax', 'Raw scores of patch 1.28, without tax.');
    await session.until('#caption', /raw scores of patch 1\.28/);
    expect(new URL(page.url()).searchParams.get('scope')).toBe('patch:1.28');
    await submit(board, 'bob', 90, '1.28.1');
    await expect.poll(() => session.shown(), SERVED_WITHIN).toEqual(['bob', 'ada']);
    await page.reload();
    await expect.poll(() => session.shown(), SERVED_WITHIN).toEqual(['bob', 'ada']);
    expect(await choice.inputValue()).toBe('patch:1.28');
    await session.until('#options-name', 'Patch 1.28');
    await session.openOptions();
    await choice.selectOption('All, taxed');
    await untilRows([
      ['bob', '90.0 d on 1.28, 2 patches behind', '108.0 d'],
      ['cat', '109.0 d on 1.30', '109.0 d'],
      firstRows[2]!,
    ]);
    await submit(board, 'cat', 100, '1.30');
    await expect.poll(() => session.shown(), SERVED_WITHIN).toEqual(['cat', 'bob', 'ada']);
  });

  it('say that nobody has a run on a patch, and what is no patch in the words of the service', async () => {
    const board = await boardOfRuns();
    await publish('1.27', '2025-12-01');
    await session.open(board, '&scope=patch:1.27');
    await session.until('#notice', /No run on patch 1\.27 yet/);
    await session.open(board, '&scope=patch:9.99');
    await session.until('#notice', /9\.99/);
  });

  it('say that a tax is on its way while it is, and change all rows at once when it is there', async () => {
    const board = await boardOfRuns();
    await session.open(board);
    await untilRows(firstRows);
    const database = new PostgresDatabase({ url: session.databaseUrl, poolMax: 1 });
    await database.open({ migrate: false });
    try {
      // Without a place to note how far it is, a new order of the board is not filled: reads and scores go on.
      await database.transaction(async (held) => {
        await held.query("SET LOCAL idle_in_transaction_session_timeout = '120s'");
        await held.query('LOCK TABLE layout_progress IN SHARE ROW EXCLUSIVE MODE');
        await service.call('PUT', `/v1/patches/1.31?family=${family}`, { family });
        await session.until('#retax-text', /^Patch 1\.31 is out, and the board is being taxed anew\. .*patch 1\.30\.$/);
        expect(await page.locator('#retax').isVisible()).toBe(true);
        await session.until('#retax-done', /^\d+(\.\d+)?%$/);
        await expect.poll(() => texts('#submit-patch option')).toContain('1.31');
        await untilRows(firstRows);
      });
    } finally {
      await database.close();
    }
    await expect.poll(() => page.locator('#retax').isVisible(), SERVED_WITHIN).toBe(false);
    await untilRows([
      ['cat', '109.0 d on 1.30, 1 patch behind', '119.9 d'],
      ['bob', '109.0 d on 1.29, 2 patches behind', '130.8 d'],
      ['ada', '109.0 d on 1.28, 3 patches behind', '141.7 d'],
    ]);
    await session.until('#tax', /^Each patch behind 1\.31 /);
    expect(await page.locator('#rows .gain .news').count()).toBe(0);
  });

  it('ask for the patch of a run that is submitted, and say what it counts', async () => {
    const board = await boardOfRuns();
    await session.openWithKey(board);
    await untilRows(firstRows);
    await session.openDrawer();
    const form = page.locator('#submit-form');
    await expect
      .poll(() => texts('#submit-patch option'))
      .toEqual(['1.30, <b>Emperor</b>', '1.29', '1.28.1 (counts as 1.28)', '1.28']);
    await form.getByLabel('Player id').fill('dan');
    await form.getByLabel('Score').fill('100');
    await form.getByLabel('Patch').selectOption('1.29');
    await form.getByRole('button').click();
    await session.until('#submit-message', /New entry: 110\.0 d \(100\.0 d on 1\.29, 1 patch behind\)\. Rank 2 of 4/);
    await untilRows([firstRows[0]!, ['dan', '100.0 d on 1.29, 1 patch behind', '110.0 d'], ...firstRows.slice(1)]);
    await form.getByLabel('Patch').selectOption('1.28');
    await form.getByRole('button').click();
    await session.until('#submit-message', /Nothing changed: 110\.0 d.*The run is kept: it can stand again/);
    await page.reload();
    await session.open(await session.boardOfTwelve());
    await session.until('#total', '12 entries');
    await session.openDrawer();
    expect(await form.getByLabel('Patch').isVisible()).toBe(false);
    expect(await page.locator('#tax, #retax, #patches').filter({ visible: true }).count()).toBe(0);
    await page.fill('#submit-player', 'p1');
    await page.fill('#submit-score', '1');
    await form.getByRole('button').click();
    await session.until('#submit-message', /Changed: 1,201/);
  });

  it('fit a small phone, with every run and score in sight', async () => {
    const board = await boardOfRuns();
    await page.setViewportSize(smallPhone);
    await session.open(board);
    await untilRows(firstRows);
    await session.openOptions();
    await expect.poll(() => page.locator('#patch').isVisible()).toBe(true);
    expect(await page.evaluate(inPage.width)).toBeLessThanOrEqual(smallPhone.width);
    expect(await page.evaluate(inPage.cut)).toEqual([]);
  });
});
