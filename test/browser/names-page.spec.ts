// Real: the built service with its PostgreSQL and Redis, the page it serves, and Chromium.
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { expectAccessible } from './accessibility.js';
import { hasChromium } from './chromium.js';
import { pageModule } from './page-module.js';
import { PageSession } from './page-session.js';

interface Words {
  initialOf(name: string): string;
  isolated(name: string): string;
  shownName(entry: { playerId: string; displayName?: string | null }): string;
}
const { initialOf, isolated, shownName } = await pageModule<Words>('words.js');

const TURNED = '\u202eturned';

describe('names on the page', () => {
  it.each([
    ['Ada', { playerId: 'p1', displayName: 'Ada' }],
    ['p1', { playerId: 'p1', displayName: null }],
    ['p1', { playerId: 'p1', displayName: '\u200b\u3164\u2800' }],
    ['%20', { playerId: ' ', displayName: null }],
    ['%E2%80%8B', { playerId: '\u200b' }],
    ['👩‍👧', { playerId: 'p1', displayName: '👩‍👧' }],
  ])('can be seen: %s', (shown, entry) => {
    expect(shownName(entry)).toBe(shown);
  });

  it('stand alone within a sentence, and end where they end', () => {
    expect(isolated('Zoë')).toBe('Zoë');
    expect(isolated('שלום')).toBe('\u2068שלום\u2069');
    expect(isolated(`\u2069\u2029${TURNED}`)).toBe(`\u2068${TURNED}\u2069`);
  });

  it('have a letter that can be seen', () => {
    expect([initialOf(` ${TURNED}`), initialOf('ada'), initialOf(' ')]).toEqual(['T', 'A', '']);
  });
});

describe.runIf(hasChromium('the tests of names on the live page'))('names on the live page', () => {
  let session: PageSession;
  let page: Page;

  beforeAll(async () => {
    session = await PageSession.start();
    await session.service.makeBoard('names', { title: TURNED });
    await session.service.submit('names', { [TURNED]: 3, '\u200b': 2, ada: 1 });
    await session.service.untilShown('names', 3);
  });
  afterAll(() => session?.stop());
  beforeEach(async () => {
    await session.openTab();
    page = session.page;
  });
  afterEach(() => session.closeTab());

  /** Where words of an element stand, from the left. */
  const places = (id: string, ...words: string[]) =>
    page.evaluate<number[]>(`(() => {
      const text = document.getElementById('${id}').firstChild;
      return ${JSON.stringify(words)}.map((word) => {
        const range = document.createRange();
        range.setStart(text, text.data.indexOf(word));
        range.setEnd(text, text.data.indexOf(word) + word.length);
        return range.getBoundingClientRect().left;
      });
    })()`);
  const expectInOrder = async (id: string, ...words: string[]): Promise<void> => {
    const found = await places(id, ...words);
    expect(found).toEqual(found.toSorted((a, b) => a - b));
  };

  it('turn nothing around but themselves', async () => {
    await session.open('names');
    await session.untilShown([TURNED, '%E2%80%8B', 'ada']);
    await page.locator('[name=by][value=player]').check();
    await page.fill('#look-input', TURNED);
    await page.press('#look-input', 'Enter');
    await session.until('#look-message', /rank 1 of 3/);
    await expectInOrder('look-message', 'rank', '1', 'of', '3');
    await page.fill('#me-input', `${TURNED}-too`);
    await page.press('#me-input', 'Enter');
    await session.until('#me-message', /has no entry here yet/);
    await expectInOrder('me-message', 'has', 'no', 'entry');
    await page.locator('#rows').getByRole('link', { name: TURNED }).click();
    await session.until('#player-where', /All time/);
    await expectInOrder('player-where', 'All', 'time');
    expect(await page.title()).toBe(`\u2068${TURNED}\u2069 · Laddercast`);
  });

  it('lead to whoever has one that is not to be seen', async () => {
    await session.open('names');
    await page.locator('#rows').getByRole('link', { name: '%E2%80%8B', exact: true }).press('Enter');
    await session.until('#player-name', '%E2%80%8B');
    await session.until('#player-figures', /Rank2/);
    await expectAccessible(page);
  });
});
