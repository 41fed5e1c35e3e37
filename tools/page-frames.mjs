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
import { describeFailure, Problem } from './problem.mjs';

answerHelp(`Measures how calm the live page is. It ends by itself, within four minutes.

  npm start, and then one of

  node tools/page-frames.mjs [--url <url>]
      how many frames it drops with a hundred rows at ten ticks a second, beside the page at rest, and how much it shifts;
      makes the board "frames-busy"
  node tools/page-frames.mjs --watch <board> [--url <url>]
      how much the page of a board shifts in a minute, while something else feeds it: npm run demo

Nothing else should run meanwhile. The Chromium is that of CHROMIUM, else one of the PATH.`);

const BOARD = 'frames-busy';
const PLAYERS = 120;
const LOOKS = 3;
const LOOK_MS = 10_000;
const LOOK_MAX_MS = 30_000;
const WATCH_MS = 60_000;
const SETTLE_MS = 6000;
const FED_BEFORE_MS = 1500;
const RUN_MAX_MS = 240_000;
const CLOSE_MAX_MS = 10_000;
const MORE_MAX = 0.05;
const SHIFT_MAX = 0.05;

/** The part of 60 frames a second that was not drawn. A page that draws nothing at all is not waited for. */
const dropped = `new Promise((resolve) => {
  const startedAt = performance.now();
  let drawn = 0;
  const end = () => resolve(Math.max(0, 1 - drawn / (((performance.now() - startedAt) * 60) / 1000)));
  const draw = (now) => {
    drawn += 1;
    if (now - startedAt < ${LOOK_MS}) requestAnimationFrame(draw);
    else end();
  };
  requestAnimationFrame(draw);
  setTimeout(end, ${LOOK_MAX_MS});
})`;

const watchShifts = `{
  const shifts = (window.shifts = []);
  new PerformanceObserver((list) => {
    for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) shifts.push(value);
  }).observe({ type: 'layout-shift', buffered: true });
}`;
const shifted = 'window.shifts.reduce((sum, value) => sum + value, 0)';

const percent = (part) => `${(part * 100).toFixed(1)} %`;

const submit = (client, rows) =>
  client.call('POST', '/v1/scores', {
    submissions: rows.map(([playerId, score]) => ({ board: BOARD, playerId, score })),
  });

/** Ten scores every 100 ms, the same in every run, as long as one looks. */
async function whileScoresCome(client, look) {
  let seed = 11;
  let isOver = false;
  const random = () => (seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31) / 2 ** 31;
  const row = () => [`p${Math.floor(random() * PLAYERS)}`, Math.round((random() - 0.45) * 60)];
  const feed = async () => {
    while (!isOver) await Promise.all([submit(client, Array.from({ length: 10 }, row)), sleep(100)]);
  };
  const fed = feed();
  try {
    return await Promise.race([sleep(FED_BEFORE_MS).then(look), fed]);
  } finally {
    isOver = true;
    await fed;
  }
}

async function measureFrames(page, { url, client }) {
  const push = { intervalMs: 100, top: 100 };
  await client.call('PUT', `/v1/boards/${BOARD}`, { title: 'Busy', order: 'desc', operator: 'sum', push });
  await submit(
    client,
    Array.from({ length: PLAYERS }, (_, at) => [`p${at}`, 3000 - at * 9]),
  );
  await page.goto(new URL(`?board=${BOARD}&top=100`, url).href);
  await page.locator('#rows tr').nth(99).waitFor();
  const more = [];
  for (let look = 0; look < LOOKS; look += 1) {
    await sleep(SETTLE_MS);
    const idle = await page.evaluate(dropped);
    const busy = await whileScoresCome(client, () => page.evaluate(dropped));
    more.push(busy - idle);
    console.log(`dropped at rest ${percent(idle)}, with ten ticks a second ${percent(busy)}`);
  }
  const least = Math.min(...more);
  console.log(`At best ${percent(least)} more; ${percent(MORE_MAX)} are allowed.`);
  return least <= MORE_MAX;
}

async function watchBoard(page, { url, board }) {
  await page.goto(new URL(`?board=${board}`, url).href);
  await page.locator('#rows tr').first().waitFor();
  const before = await page.locator('#rows .label').allTextContents();
  await sleep(WATCH_MS);
  const after = await page.locator('#rows .label').allTextContents();
  const kept = after.filter((name, at) => name === before[at]).length;
  console.log(`${board}: ${after.length} rows, ${kept} of them where they were ${WATCH_MS / 1000} s before.`);
  return true;
}

/** @returns whether the page is as calm as it should be */
async function measure(page, what) {
  await page.addInitScript(watchShifts);
  const isCalm = await (what.board === null ? measureFrames(page, what) : watchBoard(page, what));
  const shift = await page.evaluate(shifted);
  console.log(`Layout shift ${shift.toFixed(4)}; less than ${SHIFT_MAX} is allowed.`);
  return isCalm && shift < SHIFT_MAX;
}

function within(ms, work, what) {
  const late = sleep(ms, null, { ref: false }).then(() => {
    throw new Problem(`${what} took more than ${ms / 1000} s.`);
  });
  return Promise.race([work, late]);
}

async function main() {
  const given = process.argv.slice(2);
  const at = given.indexOf('--watch');
  const board = at < 0 ? null : given.splice(at, 2)[1];
  if (board === undefined) throw new Problem('--watch needs the id of a board.');
  const { url, key } = readOptions(given, { root: fileURLToPath(new URL('..', import.meta.url)) });
  const { command, missing } = findChromium();
  if (command === undefined) throw new Problem(`No Chromium: ${missing}`);
  const profile = mkdtempSync(join(tmpdir(), 'ladder-frames-'));
  const args = ['--no-sandbox', '--disable-gpu'];
  const viewport = { width: 1280, height: 800 };
  const browser = await chromium.launchPersistentContext(profile, { executablePath: command, args, viewport });
  try {
    // The tab that is there: one behind another draws nothing.
    const page = browser.pages()[0] ?? (await browser.newPage());
    const isCalm = await within(RUN_MAX_MS, measure(page, { url, board, client: new Client({ url, key }) }), 'This');
    process.exitCode = isCalm ? 0 : 1;
  } finally {
    await within(CLOSE_MAX_MS, browser.close(), 'To close Chromium').catch(({ message }) => console.error(message));
    rmSync(profile, { recursive: true, force: true, maxRetries: 3 });
  }
}

main()
  .catch((error) => {
    console.error(`\n${describeFailure(error)}\n`);
    process.exitCode = 1;
  })
  // Scores that are still on their way keep nobody waiting.
  .finally(() => process.exit());
