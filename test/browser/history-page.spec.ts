// Real: the built service with its PostgreSQL (whose clock is moved) and Redis, the page it serves, and Chromium.
import { DatabaseClock } from '@laddercast/testing';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { expectAccessible } from './accessibility.js';
import { hasChromium } from './chromium.js';
import { PageSession } from './page-session.js';

const WITHIN = { timeout: 60_000, interval: 100 };
const MINUTE_MS = 60_000;

describe.runIf(hasChromium('the tests of history on the live page'))('what a board recorded, on the live page', () => {
  let session: PageSession;
  let page: Page;
  let clock: DatabaseClock;
  /** Noon, so that the reader's day is the same in every zone that tests run in. */
  const startMs = Math.floor(Date.now() / 86_400_000) * 86_400_000 - 12 * 3_600_000;

  /** Three minutes: ada leads, falls behind bob, and comes back; cy comes once, and never changes. */
  beforeAll(async () => {
    session = await PageSession.start();
    clock = await DatabaseClock.of(session.databaseUrl);
    const { service } = session;
    await service.makeBoard('moves', { operator: 'latest', history: { everyMinutes: 1 }, windows: ['alltime'] });
    await service.makeBoard('plain', { windows: ['alltime'] });
    await service.submit('plain', { ada: 1 });
    const minutes: Record<string, number>[] = [{ ada: 100, cy: 5 }, { bob: 150, ada: 120 }, { ada: 1234.5 }];
    for (const [minute, scores] of minutes.entries()) {
      await clock.stopAt(startMs + minute * MINUTE_MS);
      for (const [player, score] of Object.entries(scores)) {
        await service.submit('moves', { [player]: score });
        const newest = async () => {
          const path = `/v1/boards/moves/players/${player}/history?limit=1`;
          const { points } = await service.call<{ points: { score: number; rank: object | null }[] }>('GET', path);
          return points[0]?.rank ? points[0].score : null;
        };
        await vi.waitFor(async () => expect(await newest()).toBe(score), WITHIN);
      }
    }
  }, 240_000);
  afterAll(async () => {
    await clock?.close();
    await session?.stop();
  });
  beforeEach(async () => {
    await session.openTab();
    page = session.page;
  });
  afterEach(() => session.closeTab());

  const tableOf = (figure: string) =>
    page.evaluate<string[][]>(
      `[...document.querySelectorAll('#player-${figure}-figure tbody tr')].map((row) => [...row.cells].slice(1).map((cell) => cell.textContent))`,
    );
  /** The pixels of a chart in the colour of its line. */
  const painted = (figure: string) =>
    page.evaluate<number>(`(() => {
      const canvas = document.querySelector('#player-${figure}-figure canvas');
      if (!canvas) return 0;
      const probe = document.createElement('canvas').getContext('2d');
      probe.fillStyle = getComputedStyle(canvas).getPropertyValue('--accent').trim();
      probe.fillRect(0, 0, 1, 1);
      const [r, g, b] = probe.getImageData(0, 0, 1, 1).data;
      const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
      let count = 0;
      for (let at = 0; at < data.length; at += 4)
        count += data[at] === r && data[at + 1] === g && data[at + 2] === b && data[at + 3] === 255;
      return count;
    })()`);
  const open = async (board: string, player: string) => {
    await session.open(board, `#player=${player}`);
    await session.until('#player-figures', /Rank\d/);
  };

  it('is drawn as rank and score over time, with a table behind each', async () => {
    await open('moves', 'ada');
    await session.until('#player-ranks-figure figcaption', /^From 1 to 1 since /);
    expect(await tableOf('ranks')).toEqual([
      ['1', '1'],
      ['2', '3'],
      ['1', '3'],
    ]);
    await session.until('#player-scores-figure figcaption', /^From 100 to 1,234\.5 since /);
    expect(await tableOf('scores')).toEqual([['100'], ['120'], ['1,234.5']]);
    expect(await page.textContent('#player-figures')).toMatch(/Best rank1/);
    for (const figure of ['ranks', 'scores']) await expect.poll(() => painted(figure)).toBeGreaterThan(100);
    const picture = page.locator('#player-ranks-figure').getByRole('img');
    expect(await picture.getAttribute('aria-label')).toMatch(/^From 1 to 1 since /);
    const table = page.locator('#player-ranks-figure table');
    expect(await table.isVisible()).toBe(false);
    await page.locator('#player-ranks-figure summary').press('Enter');
    expect(await table.isVisible()).toBe(true);
    await expectAccessible(page);
  });

  it.each(['light', 'dark'] as const)(
    'is drawn on a narrow phone without sideways scrolling (%s)',
    async (colorScheme) => {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width: 320, height: 640 });
      await open('moves', 'ada');
      await expect.poll(() => painted('ranks')).toBeGreaterThan(100);
      const overflow = await page.evaluate(
        `[document.documentElement, document.getElementById('player-dialog')].map((one) => one.scrollWidth - one.clientWidth)`,
      );
      expect(overflow).toEqual([0, 0]);
    },
  );

  it('is not drawn where one state, or none, was recorded', async () => {
    for (const [board, player] of [
      ['moves', 'cy'],
      ['plain', 'ada'],
    ] as const) {
      await open(board, player);
      for (const figure of ['ranks', 'scores'])
        expect(await page.locator(`#player-${figure}`).isVisible(), `${player} ${figure}`).toBe(false);
    }
  });
});
