import { optionalService } from '@laddercast/testing';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, type BrowserContext } from 'playwright-core';

const quiet = ['--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'];
const args = ['--no-sandbox', '--disable-gpu', '--disable-quic', ...quiet];

/**
 * Whether there is a Chromium to test with; says on stderr why `what` is skipped when there is none.
 * @throws when there is none and REQUIRE_BROWSER=1
 */
export function hasChromium(what: string): boolean {
  if (optionalService('TEST_CHROMIUM')) return true;
  const cure = 'Install one (apt-get install chromium) or set CHROMIUM, and run "npm test".';
  if (process.env.REQUIRE_BROWSER === '1') throw new Error(`REQUIRE_BROWSER=1, and there is no Chromium. ${cure}`);
  process.stderr.write(`Skipped: ${what}: there is no Chromium. ${cure}\n`);
  return false;
}

/** Starts Chromium with a profile of its own, which `close` removes. */
export async function openChromium(): Promise<{ browser: BrowserContext; close(): Promise<void> }> {
  const profile = await mkdtemp(join(tmpdir(), 'ladder-chromium-'));
  const viewport = { width: 1280, height: 900 };
  const executablePath = optionalService('TEST_CHROMIUM');
  const options = { executablePath, args, headless: true, viewport, locale: 'en-US' };
  const browser = await chromium.launchPersistentContext(profile, options);
  browser.setDefaultTimeout(60_000);
  return {
    browser,
    async close() {
      await browser.close();
      await rm(profile, { recursive: true, force: true });
    },
  };
}
