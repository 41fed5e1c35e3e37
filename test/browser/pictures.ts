import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { BrowserContext } from 'playwright-core';
import type { ServiceClient } from './service-client.js';

interface Picture {
  name: string;
  query: string;
  viewport: { width: number; height: number };
  /** With the card of who leads. */
  card?: boolean;
}

const PICTURES: Picture[] = [
  { name: 'live-board.png', query: '', viewport: { width: 1280, height: 1100 } },
  { name: 'guild-table.png', query: '?view=guilds', viewport: { width: 1280, height: 1100 } },
  { name: 'friends-phone.png', query: '?view=friends', viewport: { width: 390, height: 844 } },
  { name: 'player-card.png', query: '?board=world-elo', viewport: { width: 1280, height: 1000 }, card: true },
];

const fromRoot = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));

/** Takes the pictures of docs/images again, of the page while the demo runs; gives the exit code of the demo. */
export async function takePictures(browser: BrowserContext, { url, adminKey }: ServiceClient): Promise<number | null> {
  const demo = spawn(
    process.execPath,
    [fromRoot('tools/demo.mjs'), '--url', url, '--speed', '300', '--limit', '9000'],
    {
      env: { ...process.env, LADDER_KEY: adminKey },
      stdio: 'ignore',
    },
  );
  const ended = once(demo, 'exit');
  for (const { name, query, viewport, card } of PICTURES) {
    const page = await browser.newPage();
    await page.setViewportSize(viewport);
    // A picture shows rows in their places, not on their way.
    await page.emulateMedia({ reducedMotion: 'reduce' });
    await page.addInitScript("localStorage.setItem('laddercast.me', 'Denmark')");
    await page.addInitScript(`sessionStorage.setItem('laddercast.key', ${JSON.stringify(adminKey)})`);
    await page.goto(new URL(query, url).href);
    await page.locator('#me-rows tr').nth(6).waitFor({ timeout: 60_000 });
    await page.waitForTimeout(6000);
    if (card) {
      await page.locator('#rows').getByRole('link').first().click();
      await page.locator('#player-games-rows tr').nth(9).waitFor({ timeout: 60_000 });
      await page.locator('#player-line canvas').waitFor({ timeout: 60_000 });
    }
    await page.screenshot({ path: fromRoot(`docs/images/${name}`) });
    await page.close();
  }
  return ((await ended) as [number | null])[0];
}
