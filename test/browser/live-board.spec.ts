// The module of the page itself, without a browser.
import { expect, it, vi } from 'vitest';
import { pageModule } from './page-module.js';

interface LiveBoard {
  definition: object | null;
  book: { refresh(): Promise<void>; close(): void };
  open(board: string): Promise<boolean>;
  close(): void;
}
interface LiveBoardModule {
  LiveBoard: new (options: {
    service: object;
    onState(state: object): void;
    onWindows(): void;
    onRedefined(): void;
  }) => LiveBoard;
}
const { LiveBoard } = await pageModule<LiveBoardModule>('live-board.js');

it('says that a board was defined anew with the next look at its windows, and nothing of one that was left', async () => {
  let definition: object | null = { title: 'Blitz' };
  const service = {
    board: () => (definition === null ? Promise.reject(new Error('away')) : Promise.resolve({ ...definition })),
    windows: () => Promise.resolve({ windows: [], next: null }),
    now: () => Date.now(),
  };
  const onRedefined = vi.fn();
  const live = new LiveBoard({ service, onState: () => undefined, onWindows: () => undefined, onRedefined });
  await live.open('blitz');
  await live.book.refresh();
  expect(onRedefined).not.toHaveBeenCalled();

  definition = null;
  await live.book.refresh();
  expect(onRedefined).not.toHaveBeenCalled();

  definition = { title: 'Blitz', format: { kind: 'time' } };
  await live.book.refresh();
  expect(onRedefined).toHaveBeenCalledOnce();

  const looking = live.book.refresh();
  live.close();
  await looking;
  expect(onRedefined).toHaveBeenCalledOnce();
});
