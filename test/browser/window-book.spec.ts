import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { pageModule } from './page-module.js';

interface Window {
  id: string;
  kind: string;
  state: string;
  startsAt: string | null;
  endsAt: string | null;
  resetsAt: string | null;
  freezeAt: string | null;
  isFrozen: boolean;
}
interface Page {
  windows: Window[];
  next: string | null;
}
interface WindowBook {
  running: Window[];
  upcoming: Window[];
  ended: Window[];
  hasMore: boolean;
  open(): Promise<void>;
  refresh(): Promise<void>;
  more(): Promise<void>;
  close(): void;
  find(name: string | null): Window | null;
}
interface BookModule {
  WindowBook: new (options: {
    read(page: { cursor?: string }): Promise<Page>;
    clock: { now(): number };
    onChange(): void;
    random?: () => number;
  }) => WindowBook;
}
const { WindowBook } = await pageModule<BookModule>('window-book.js');

const at = (clock: string) => `2026-11-20T${clock}.000Z`;
const window = (id: string, state: string, endsAt: string | null = null): Window => ({
  id,
  kind: id.split(':')[0]!,
  state,
  startsAt: null,
  endsAt,
  resetsAt: state === 'running' ? endsAt : null,
  freezeAt: null,
  isFrozen: false,
});

let pages: Map<string | undefined, Page>;
let asked: (string | undefined)[];
let changes: number;
let book: WindowBook;

beforeEach(() => {
  vi.useFakeTimers({ now: Date.parse(at('23:59:50')) });
  asked = [];
  changes = 0;
  pages = new Map([
    [
      undefined,
      {
        windows: [
          window('alltime', 'running'),
          window('daily:2026-11-20', 'running', '2026-11-21T00:00:00.000Z'),
          window('daily:2026-11-19', 'settled', at('00:00:00')),
        ],
        next: 'older',
      },
    ],
    ['older', { windows: [window('daily:2026-11-18', 'settled', '2026-11-19T00:00:00.000Z')], next: null }],
  ]);
  book = new WindowBook({
    read({ cursor }) {
      asked.push(cursor);
      return Promise.resolve(pages.get(cursor)!);
    },
    clock: { now: Date.now },
    onChange: () => (changes += 1),
    random: () => 0,
  });
});
afterEach(() => {
  book.close();
  vi.useRealTimers();
});

const nextDay = (): void => {
  pages.set(undefined, {
    windows: [
      window('alltime', 'running'),
      window('daily:2026-11-21', 'running', '2026-11-22T00:00:00.000Z'),
      window('daily:2026-11-20', 'ended', '2026-11-21T00:00:00.000Z'),
    ],
    next: 'older than that',
  });
};

describe('the windows of the live page', () => {
  it('finds the running one by its name, any by its id, and all time without either', async () => {
    await book.open();
    expect(book.find('daily')!.id).toBe('daily:2026-11-20');
    expect(book.find('daily:2026-11-19')!.state).toBe('settled');
    expect(book.find(null)!.id).toBe('alltime');
    expect(book.find('weekly')).toBeNull();
  });

  it('looks again when one of them ends, and says that it changed', async () => {
    await book.open();
    await vi.advanceTimersByTimeAsync(9000);
    expect(asked).toHaveLength(1);
    nextDay();
    await vi.advanceTimersByTimeAsync(1500);
    expect(asked).toHaveLength(2);
    expect(changes).toBe(1);
    expect(book.find('daily')!.id).toBe('daily:2026-11-21');
    expect(book.find('daily:2026-11-20')!.state).toBe('ended');
  });

  it('looks again soon while the service still says that it runs', async () => {
    await book.open();
    await vi.advanceTimersByTimeAsync(12_500);
    expect(asked.length).toBeGreaterThanOrEqual(3);
    expect(changes).toBe(0);
  });

  it('looks for the final standings of one that is over', async () => {
    await book.open();
    nextDay();
    await vi.advanceTimersByTimeAsync(10_500);
    const before = asked.length;
    const { windows } = pages.get(undefined)!;
    const final = { ...windows[2]!, state: 'settled' };
    pages.set(undefined, { windows: [...windows.slice(0, 2), final], next: null });
    await vi.advanceTimersByTimeAsync(10_500);
    expect(asked.length).toBe(before + 1);
    expect(book.find('daily:2026-11-20')!.state).toBe('settled');
    expect(changes).toBe(2);
  });

  it('keeps the older ones that were asked for, whatever ends meanwhile', async () => {
    await book.open();
    expect(book.hasMore).toBe(true);
    await book.more();
    expect(book.hasMore).toBe(false);
    nextDay();
    await book.refresh();
    expect(book.ended.map(({ id }) => id)).toEqual(['daily:2026-11-20', 'daily:2026-11-19', 'daily:2026-11-18']);
    expect(book.hasMore).toBe(false);
  });

  it('asks no more when it is closed', async () => {
    await book.open();
    book.close();
    await vi.advanceTimersByTimeAsync(600_000);
    expect(asked).toHaveLength(1);
  });
});
