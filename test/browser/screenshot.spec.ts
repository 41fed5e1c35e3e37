// Takes the pictures of docs/images again, of the real page while the demo runs: UPDATE_SCREENSHOT=1 npm test -- screenshot
import { startStandalone } from '@laddercast/testing';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { openChromium } from './chromium.js';

const fromRoot = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));

it.runIf(process.env.UPDATE_SCREENSHOT === '1')(
  'the live page is pictured while the demo runs',
  async () => {
    const service = await startStandalone();
    const { browser, close } = await openChromium();
    try {
      const demo = spawn(process.execPath, [fromRoot('tools/demo.mjs'), '--url', service.url, '--speed', '700'], {
        env: { ...process.env, LADDER_KEY: service.adminKey },
        stdio: 'ignore',
      });
      const ended = once(demo, 'exit');
      const pictures = [
        { name: 'live-board.png', viewport: { width: 1280, height: 1100 } },
        { name: 'live-board-phone.png', viewport: { width: 390, height: 844 } },
      ];
      for (const { name, viewport } of pictures) {
        const page = await browser.newPage();
        await page.setViewportSize(viewport);
        await page.addInitScript("localStorage.setItem('laddercast.me', 'Denmark')");
        await page.goto(`${service.url}/`);
        await page.locator('#me-rows tr').nth(6).waitFor({ timeout: 60_000 });
        await page.waitForTimeout(6000);
        await page.screenshot({ path: fromRoot(`docs/images/${name}`) });
        await page.close();
      }
      expect(await ended).toEqual([0, null]);
    } finally {
      await close();
      await service.stop();
    }
  },
  240_000,
);
