// Real: the built service with its PostgreSQL and Redis, the page it serves, and Chromium.
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { expectAccessible } from './accessibility.js';
import { hasChromium } from './chromium.js';
import { inPage } from './in-page.js';
import { numbered, PageSession } from './page-session.js';

describe.runIf(hasChromium('the tests of the boards to choose from'))('the boards to choose from', () => {
  let session: PageSession;
  let page: Page;
  let board: string;

  beforeAll(async () => {
    session = await PageSession.start();
  });
  afterAll(() => session?.stop());
  beforeEach(async () => {
    await session.openTab();
    page = session.page;
  });
  afterEach(() => session.closeTab());

  const home = () => page.goto(`http://127.0.0.1:${session.wire.port}/`);
  const card = (title: string) => page.locator('#home-boards > li', { hasText: title });

  it('says that there is none, and shows the first when it is made', async () => {
    await home();
    await session.until('#home-message', /There is no board yet/);
    board = await session.boardOfTwelve();
    await expect.poll(() => card(`Board ${board}`).locator('.label').allTextContents()).toEqual(['p1', 'p2', 'p3']);
  });

  it('lists the public ones with who leads them, their windows and a countdown, and leads to each', async () => {
    await session.service.makeBoard('secret', { visibility: 'private', title: 'Secret' });
    await session.service.makeBoard('markup', { title: '<b>Bold</b>', windows: ['daily'] });
    await home();
    const first = card(`Board ${board}`);
    await expect.poll(() => first.locator('.number').allTextContents()).toEqual(['1,200', '1,100', '1,000']);
    await expect.poll(() => first.locator('.until').textContent()).toMatch(/^Today: resets in \d/);
    expect(await first.locator('.soft').first().textContent()).toBe('12 entries');
    expect(await page.locator('#home-boards h3').allTextContents()).toEqual(['<b>Bold</b>', `Board ${board}`]);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await expectAccessible(page);
    }
    await page.setViewportSize({ width: 320, height: 640 });
    expect(await page.evaluate(inPage.width)).toBe(320);
    await first.getByRole('link', { name: 'Today' }).press('Enter');
    await session.untilShown(numbered(1, 10));
    expect(new URL(page.url()).search).toBe(`?board=${board}&window=daily`);
    await page.goBack();
    await expect.poll(() => card(`Board ${board}`).isVisible()).toBe(true);
  });

  it('are offered to whoever asks for one that is not there', async () => {
    await session.open('nowhere');
    await session.until('#notice', /no board “nowhere” yet/);
    await card(`Board ${board}`)
      .getByRole('link', { name: `Board ${board}` })
      .click();
    await session.untilShown(numbered(1, 12));
    expect(await page.locator('#home').isVisible()).toBe(false);
  });
});
