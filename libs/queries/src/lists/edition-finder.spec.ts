import { withBoardDefaults, type Board, type StoredWindow } from '@laddercast/domain';
import { EditionCatalog, LedgerClock, type Edition } from '@laddercast/ledger';
import { monotonicMs } from '@laddercast/platform';
import { expect, it } from 'vitest';
import { EditionFinder } from './edition-finder.js';

const NOW_MS = Date.parse('2026-05-02T12:00:00Z');
const DAY_MS = 86_400_000;
const WINDOW = { uid: 7, id: 'daily:2026-05-01', kind: 'daily', state: 'closed' } as const;
const ended: StoredWindow = { ...WINDOW, startsAtMs: NOW_MS - 2 * DAY_MS, endsAtMs: NOW_MS - DAY_MS, freezeAtMs: null };
const edition = { uid: 3, windowUid: 7, kind: 'final', asOfMs: NOW_MS - DAY_MS, number: 1 } as Edition;
const board = { uid: 1, id: 'runs', definition: withBoardDefaults({ order: 'desc', operator: 'best' }) } as Board;

/** The editions of a window whose standings are written when somebody looks for the window. */
class EditionsOfOneWindow extends EditionCatalog {
  isWritten = false;

  constructor() {
    super({ query: () => Promise.resolve([]) });
  }

  override final(): Promise<Edition | undefined> {
    return Promise.resolve(this.isWritten ? edition : undefined);
  }

  override present(): Promise<{ edition: Edition | undefined; isRevising: boolean }> {
    return Promise.resolve({ edition: this.isWritten ? edition : undefined, isRevising: false });
  }
}

function finderOf(editions: EditionsOfOneWindow, writes: boolean): EditionFinder {
  const clock = new LedgerClock();
  clock.learn(NOW_MS, monotonicMs(), monotonicMs());
  const refresh = (): Promise<(StoredWindow & { boardUid: number })[]> => {
    editions.isWritten = writes;
    return Promise.resolve([{ ...ended, boardUid: board.uid, state: 'settled' }]);
  };
  return new EditionFinder({ clock }, { refresh }, editions);
}

it('has the standings of a window that is settled between its two looks', async () => {
  const found = await finderOf(new EditionsOfOneWindow(), true).find(board, ended);
  expect(found.edition).toEqual(edition);
});

it('says of a settled window without standings that they are kept no longer', async () => {
  const found = finderOf(new EditionsOfOneWindow(), false).find(board, ended);
  await expect(found).rejects.toMatchObject({ code: 'SNAPSHOT_GONE' });
});
