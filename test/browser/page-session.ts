import { openTcpProxy, startStandalone, type TcpProxy } from '@laddercast/testing';
import type { BrowserContext, Page } from 'playwright-core';
import { expect } from 'vitest';
import { openChromium } from './chromium.js';
import { inPage } from './in-page.js';
import { ServiceClient } from './service-client.js';

const WITHIN = { timeout: 60_000 };

/** `p3`, `p4`, … */
export const numbered = (from: number, to: number): string[] =>
  Array.from({ length: to - from + 1 }, (_, i) => `p${from + i}`);

/** The built service, the page it serves behind a wire that can be cut, and Chromium; a new tab for each test. */
export class PageSession {
  page!: Page;
  /** What the page sent over its sockets, as text. */
  frames: string[] = [];
  private faults: string[] = [];
  private boards = 0;

  private constructor(
    readonly service: ServiceClient,
    readonly wire: TcpProxy,
    readonly browser: BrowserContext,
    /** The database of the service. */
    readonly databaseUrl: string,
    private readonly ends: (() => Promise<void>)[],
  ) {}

  static async start(settings: Record<string, string> = {}): Promise<PageSession> {
    const ends: (() => Promise<void>)[] = [];
    try {
      const standalone = await startStandalone(settings);
      ends.unshift(standalone.stop);
      const wire = await openTcpProxy('127.0.0.1', Number(new URL(standalone.url).port));
      ends.unshift(() => wire.close());
      const { browser, close } = await openChromium();
      ends.unshift(close);
      return new PageSession(
        new ServiceClient(standalone.url, standalone.adminKey),
        wire,
        browser,
        standalone.databaseUrl,
        ends,
      );
    } catch (error) {
      for (const end of ends) await end();
      throw error;
    }
  }

  async stop(): Promise<void> {
    for (const end of this.ends) await end();
  }

  async openTab(): Promise<void> {
    this.faults = [];
    this.frames = [];
    this.page = await this.browser.newPage();
    const { page, faults, frames } = this;
    page.on('pageerror', (error) => faults.push(error.message));
    page.on('console', (message) => /Content Security Policy/i.test(message.text()) && faults.push(message.text()));
    page.on('websocket', (socket) => socket.on('framesent', ({ payload }) => frames.push(String(payload))));
  }

  /** Closes the tab; fails when the page failed in it. */
  async closeTab(): Promise<void> {
    if (this.page.url() !== 'about:blank') await this.page.evaluate(inPage.forgetAll);
    await this.page.close();
    expect(this.faults).toEqual([]);
  }

  /** A board of its own for each test; twelve players, p1 first with 1,200, p12 last with 100. */
  async boardOfTwelve(options: object = {}): Promise<string> {
    this.boards += 1;
    const board = `page-${this.boards}`;
    await this.service.makeBoard(board, options);
    const scores = Object.fromEntries(numbered(1, 12).map((player, i) => [player, 1200 - i * 100]));
    await this.service.submit(board, scores);
    await this.service.untilShown(board, 12);
    return board;
  }

  async open(board: string, query = ''): Promise<void> {
    await this.page.goto(`http://127.0.0.1:${this.wire.port}/?board=${board}${query}`);
  }

  /** Opens the page with a key at hand. */
  async openWithKey(board: string, query = '', key = this.service.adminKey): Promise<void> {
    await this.open(board, query);
    await this.page.evaluate(`sessionStorage.setItem('laddercast.key', ${JSON.stringify(key)})`);
    await this.page.reload();
  }

  /** Opens the menu of what the row of controls has no place for. */
  async openOptions(): Promise<void> {
    await this.page.locator('#options-open').click();
  }

  /** Opens the drawer for developers. */
  async openDrawer(): Promise<void> {
    await this.page.getByRole('button', { name: 'Try it' }).click();
  }

  shown(): Promise<string[]> {
    return this.page.locator('#rows .label').allTextContents();
  }

  async untilShown(names: string[]): Promise<void> {
    await expect.poll(() => this.shown(), WITHIN).toEqual(names);
  }

  /** Waits until the text of an element matches, spaces taken as one. */
  async until(what: string, value: string | RegExp, within = WITHIN): Promise<void> {
    await expect.poll(async () => (await this.page.textContent(what))?.replace(/\s+/g, ' '), within).toMatch(value);
  }
}
