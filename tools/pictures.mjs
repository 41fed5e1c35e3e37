import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { findChromium } from './browser.mjs';
import { Client } from './demo/client.mjs';
import { readOptions } from './demo/options.mjs';
import { answerHelp } from './help.mjs';
import { feed, makeBoards } from './pictures/boards.mjs';
import { SHOTS } from './pictures/shots.mjs';
import { describeFailure, Problem } from './problem.mjs';

answerHelp(`Takes the pictures of docs/images again: each view of the live page, on desktop and phone, in light and dark.

  npm start, npm run demo, and then: npm run pictures
  npm run pictures -- --url <url>   where the service is, as with npm run demo
  npm run pictures -- --help        this text

It makes the boards shown-* for it. The Chromium is that of CHROMIUM, else one of the PATH.`);

const root = fileURLToPath(new URL('..', import.meta.url));
const args = [
  '--no-sandbox',
  '--disable-gpu',
  '--hide-scrollbars',
  '--no-first-run',
  '--disable-background-networking',
];
const QUIET_MS = 2500;
const FED_MS = 4000;
const UNTIL_MS = 30_000;

async function take(
  browser,
  { url, key, client },
  { name, query, viewport, scheme = 'light', me, until, isFed, waitMs },
) {
  const page = await browser.newPage();
  await page.setViewportSize(viewport);
  // A picture shows rows in their places, not on their way.
  await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' });
  await page.addInitScript(me ? `localStorage.setItem('laddercast.me', '${me}')` : 'localStorage.clear()');
  await page.addInitScript(`sessionStorage.setItem('laddercast.key', ${JSON.stringify(key)})`);
  await page.goto(new URL(query, url).href);
  await page
    .locator(until ?? '#rows tr')
    .first()
    .waitFor({ timeout: UNTIL_MS });
  const stop = isFed ? feed(client) : () => {};
  await sleep(waitMs ?? (isFed ? FED_MS : QUIET_MS));
  await page.screenshot({ path: join(root, 'docs/images', name) });
  stop();
  await page.close();
  console.log(`docs/images/${name}`);
}

async function main() {
  const { url, key } = readOptions(process.argv.slice(2), { root });
  if (key === null) throw new Problem('There is no key: start the service with npm start, or set LADDER_KEY.');
  const { command, missing } = findChromium();
  if (command === undefined) throw new Problem(`No Chromium: ${missing}`);
  const client = new Client({ url, key });
  await makeBoards(client);
  const profile = mkdtempSync(join(tmpdir(), 'ladder-pictures-'));
  const options = { executablePath: command, args, headless: true, locale: 'en-US' };
  const browser = await chromium.launchPersistentContext(profile, options);
  try {
    for (const shot of SHOTS) await take(browser, { url, key, client }, shot);
  } finally {
    await browser.close();
    rmSync(profile, { recursive: true, force: true });
  }
}

main().catch((error) => {
  console.error(`\n${describeFailure(error)}\n`);
  process.exitCode = 1;
});
