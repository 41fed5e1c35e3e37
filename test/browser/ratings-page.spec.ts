// Real: the built service with its PostgreSQL and Redis, the page it serves, and Chromium.
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { hasChromium } from './chromium.js';
import { numbered, PageSession } from './page-session.js';

const WITHIN = { timeout: 60_000 };

describe.runIf(hasChromium('the tests of ratings on the live page'))('ratings on the live page', () => {
  let session: PageSession;
  let page: Page;
  let games = 0;

  beforeAll(async () => {
    session = await PageSession.start();
    const { service } = session;
    await service.makeBoard('elo', { operator: 'latest', windows: ['alltime'], format: { decimals: 1 } });
    await service.call('PUT', '/v1/pools/chess', {
      ...{ title: 'Chess', algorithm: 'elo', board: 'elo', rankable: { gamesMin: 2 }, provisional: { games: 3 } },
    });
    await service.call('PUT', '/v1/pools/hidden', { algorithm: 'elo', visibility: 'private' });
    await play('p1', 'p2', { score: 3 });
    await play('p1', 'p2');
    await play('p2', 'p3');
    await service.untilShown('elo', 2);
  });
  afterAll(() => session?.stop());
  beforeEach(async () => {
    await session.openTab();
    page = session.page;
  });
  afterEach(() => session.closeTab());

  async function play(winner: string, loser: string, { score }: { score?: number } = {}): Promise<void> {
    games += 1;
    const scores = score === undefined ? [{}, {}] : [{ score }, { score: 0 }];
    const players = [
      { playerId: winner, place: 1, ...scores[0] },
      { playerId: loser, place: 2, ...scores[1] },
    ];
    const date = `2026-01-${String(games).padStart(2, '0')}`;
    await session.service.call('POST', '/v1/games', {
      pool: 'chess',
      gameId: `g${games}`,
      players,
      metadata: { date },
    });
  }
  const best = async (): Promise<string[]> =>
    (await page.locator('#best-rated-rows tr').allInnerTexts()).map((row) => row.replace(/\s+/g, ' ').trim());
  const card = () => page.locator('#player-dialog');
  const cardGames = async (): Promise<string[]> =>
    (await page.locator('#player-games-rows tr').allInnerTexts()).map((row) => row.replace(/\s+/g, ' ').trim());

  it('stand beside the board, live', async () => {
    await session.open(await session.boardOfTwelve());
    await session.until('#best-rated-heading', /^Best rated: Chess$/);
    await expect
      .poll(best, WITHIN)
      .toEqual([expect.stringMatching(/^1 p1 1,530\.5$/), expect.stringMatching(/^2 p2 /)]);
    await play('p3', 'p2');
    await expect.poll(best, WITHIN).toHaveLength(3);
    expect(await page.locator('#best-rated-board').getAttribute('href')).toBe('?board=elo');
    await page.locator('#best-rated-board').click();
    await session.until('#title', /Board elo/);
    // Its own list is on the page already.
    expect(await page.locator('#best-rated').isHidden()).toBe(true);
    await expect.poll(() => session.shown(), WITHIN).toHaveLength(3);
  });

  it('have a card of each player, with the rating over time and the last games', async () => {
    await session.open(await session.boardOfTwelve());
    await session.untilShown(numbered(1, 12));
    await page.locator('#rows').getByRole('link', { name: 'p1', exact: true }).click();
    await session.until('#player-now', /^1,530\.5$/);
    await session.until('#player-facts', /^2 games: 2 won, 0 drawn, 0 lost\. Best 1,530\.5\.$/);
    expect(await page.textContent('#player-pool')).toBe('Chess');
    expect(await page.locator('#player-provisional').isVisible()).toBe(true);
    expect(await page.locator('#player-missing').isHidden()).toBe(true);
    await expect
      .poll(cardGames, WITHIN)
      .toEqual([
        expect.stringMatching(/^Jan 2, 2026 p2 won 55% 1,516 1,530\.5$/),
        expect.stringMatching(/^Jan 1, 2026 p2 won 3:0 50% 1,500 1,516$/),
      ]);
    // Something is drawn, in the colour of lines.
    const painted = await page.evaluate(`(() => {
      const canvas = document.querySelector('#player-line canvas');
      const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
      let count = 0;
      for (let at = 0; at < data.length; at += 4) count += data[at] === 0x12 && data[at + 1] === 0x62 && data[at + 3] === 255;
      return count;
    })()`);
    expect(painted).toBeGreaterThan(100);
    await play('p1', 'p9');
    await expect.poll(cardGames, WITHIN).toHaveLength(3);
    await page.keyboard.press('Escape');
    expect(await card().isVisible()).toBe(false);
  });

  it('say what is missing, and of whom there is nothing', async () => {
    const board = await session.boardOfTwelve();
    await session.open(board);
    await session.untilShown(numbered(1, 12));
    const open = async (name: string): Promise<void> => {
      await page.locator('#rows').getByRole('link', { name, exact: true }).press('Enter');
      await expect.poll(() => page.textContent('#player-name')).toBe(name);
    };
    await open('p12');
    await session.until('#player-message', /^No rated game in this pool yet\.$/);
    expect(await page.locator('#player-rating').isHidden()).toBe(true);
    await page.getByRole('button', { name: 'Close' }).first().press('Enter');
    await open('p9');
    await session.until('#player-missing', /^Not on the board: it takes 2 games\.$/);
    await session.open(board, '#rating=p1');
    await page.reload();
    await session.until('#player-name', /^p1$/);
    expect(await card().isVisible()).toBe(true);
  });

  it.each(['light', 'dark'] as const)('fit a narrow phone without sideways scrolling (%s)', async (colorScheme) => {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width: 320, height: 640 });
    await session.open(await session.boardOfTwelve());
    await session.untilShown(numbered(1, 10));
    await page.locator('#rows').getByRole('link', { name: 'p1', exact: true }).click();
    await expect.poll(cardGames, WITHIN).not.toEqual([]);
    const overflow = await page.evaluate(
      `[document.documentElement, document.getElementById('player-dialog')].map((one) => one.scrollWidth - one.clientWidth)`,
    );
    expect(overflow).toEqual([0, 0]);
  });

  it('leave a page without pools as it is', async () => {
    await session.service.call('PUT', '/v1/pools/chess', { title: 'Chess', algorithm: 'elo', visibility: 'private' });
    await session.open(await session.boardOfTwelve());
    await session.untilShown(numbered(1, 12));
    expect(await page.locator('#best-rated').isHidden()).toBe(true);
    await page.locator('#rows').getByRole('link', { name: 'p1', exact: true }).click();
    await session.until('#player-figures', /Rank1 of 12/);
    expect(await page.locator('#player-rating').isHidden()).toBe(true);
    expect(await page.locator('#player-pool').isVisible()).toBe(false);
  });
});
