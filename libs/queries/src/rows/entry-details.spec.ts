import { NO_EXTENSIONS } from '@laddercast/extension';
import type { Board } from '@laddercast/domain';
import type { SqlRunner } from '@laddercast/ledger';
import type { Announcement } from '@laddercast/projections';
import { describe, expect, it, vi } from 'vitest';
import { EMPTY_BOARD, MemoryList } from '../../test/snapshot-ports.js';
import { EntryDetails } from './entry-details.js';

class RememberedDetails extends EntryDetails {
  readonly forgotten: [readonly string[] | null, boolean][] = [];

  override forget(ids: readonly string[] | null, isGuild: boolean): void {
    this.forgotten.push([ids, isGuild]);
  }
}

it('forgets announced names, and all names when an announcement may have been missed', () => {
  const details = new RememberedDetails({ query: () => Promise.resolve([]) }, NO_EXTENSIONS);
  details.hear({ kind: 'players', ids: ['ada', 'bob'], isGuild: false });
  details.hear({ kind: 'players', ids: ['red'], isGuild: true });
  details.hear({ kind: 'window-closed', boardUid: 1, windowUid: 2 });
  expect(details.forgotten.splice(0)).toEqual([
    [['ada', 'bob'], false],
    [['red'], true],
  ]);
  details.hear(null);
  expect(details.forgotten).toEqual([
    [null, false],
    [null, true],
  ]);
});

/** A database in which ada's run is not verified at first, and what was asked of entries in it. */
class OneRun implements SqlRunner {
  verified = false;
  achievedAtMs = 1;
  looked = 0;

  query<Row>(sql: string): Promise<Row[]> {
    if (!sql.includes('FROM entries')) return Promise.resolve([]);
    this.looked += 1;
    const row = {
      player_id: 'ada',
      score: 5,
      columns: [],
      achieved_at_ms: this.achievedAtMs,
      metadata: null,
      members: null,
    };
    return Promise.resolve([{ ...row, verified: this.verified, proof: null } as Row]);
  }
}

const adasRow = async (details: EntryDetails, board: Board): Promise<unknown> => {
  const entry = { rank: 1, playerId: 'ada', score: 5, columns: [], achievedAtMs: 1 };
  const [row] = await details.complete(new MemoryList(board).resolved, [entry]);
  return row!.verified;
};

it('looks a run up again once its player is announced, on boards that keep runs', async () => {
  const database = new OneRun();
  const details = new EntryDetails(database, NO_EXTENSIONS);
  const board = { ...EMPTY_BOARD, runsFrom: 1 };
  expect(await adasRow(details, board)).toBe(false);
  expect(await adasRow(details, board)).toBe(false);
  expect(database.looked).toBe(1);
  database.verified = true;
  details.hear({ kind: 'players', ids: ['bob'], isGuild: false });
  details.hear({ kind: 'players', ids: ['ada'], isGuild: true });
  expect(await adasRow(details, board)).toBe(false);
  const ofAda: Announcement = { kind: 'players', ids: ['ada'], isGuild: false };
  for (const announcement of [ofAda, null]) {
    const before = database.looked;
    details.hear(announcement);
    expect(await adasRow(details, board)).toBe(true);
    expect(database.looked).toBe(before + 1);
  }
});

it('remembers the run of an announced player on other boards, and says nothing of it', async () => {
  const database = new OneRun();
  const details = new EntryDetails(database, NO_EXTENSIONS);
  expect(await adasRow(details, EMPTY_BOARD)).toBeUndefined();
  details.hear({ kind: 'players', ids: ['ada'], isGuild: false });
  expect(await adasRow(details, EMPTY_BOARD)).toBeUndefined();
  expect(database.looked).toBe(1);
});

describe('rows that last until the list changes', () => {
  const shownAt = async (
    details: EntryDetails,
    definition: Partial<Board['definition']>,
    achievedAtMs: number | null,
    areLasting = true,
  ): Promise<string | null> => {
    const board = { ...EMPTY_BOARD, definition: { ...EMPTY_BOARD.definition, ...definition } };
    const entry = { rank: 1, playerId: 'ada', score: 5, columns: [], achievedAtMs };
    const [row] = await details.complete(new MemoryList(board).resolved, [entry], { areLasting });
    return row!.achievedAt;
  };
  const at = (ms: number): string => new Date(ms).toISOString();

  it('say when the run came that they are of, where the sort key does not tell it from the one before', async () => {
    const database = new OneRun();
    const details = new EntryDetails(database, NO_EXTENSIONS);
    expect(await shownAt(details, { operator: 'latest', tiebreak: 'none' }, null)).toBe(at(1));
    database.achievedAtMs = 2;
    // Who asks again in a second hears of it then.
    expect(await shownAt(details, { operator: 'latest', tiebreak: 'none' }, null, false)).toBe(at(1));
    expect(await shownAt(details, { operator: 'latest', tiebreak: 'none' }, null)).toBe(at(2));
    database.achievedAtMs = 3;
    expect(await shownAt(details, { operator: 'best', tiebreak: 'none' }, null)).toBe(at(3));
    expect(database.looked).toBe(3);
  });

  it('take what is remembered of a run that the sort key names', async () => {
    const database = new OneRun();
    const details = new EntryDetails(database, NO_EXTENSIONS);
    for (let times = 0; times < 3; times += 1) await shownAt(details, { operator: 'best' }, 1);
    expect(database.looked).toBe(1);
    await shownAt(details, { operator: 'latest' }, 1);
    expect(database.looked).toBe(2);
  });
});

it('takes what was kept before a sanction, or before the ranks follow it, for older than the sanction', () => {
  vi.useFakeTimers({ now: 100_000 });
  try {
    const details = new EntryDetails(new OneRun(), NO_EXTENSIONS);
    const precede = (...keptAtMs: number[]): boolean[] => keptAtMs.map((ms) => details.mayPrecedeSanctions(ms));
    details.hear({ kind: 'players', ids: ['ada'], isGuild: false });
    expect(precede(0)).toEqual([false]);
    details.hear({ kind: 'players', ids: ['ada'], isGuild: false, ofSanctions: true });
    expect(precede(99_999, 100_000)).toEqual([true, false]);
    vi.setSystemTime(101_000);
    expect(precede(100_000, 100_999, 101_000)).toEqual([true, true, false]);
    // Some may have been missed.
    details.hear(null);
    expect(precede(100_999, 101_000)).toEqual([true, false]);
  } finally {
    vi.useRealTimers();
  }
});
