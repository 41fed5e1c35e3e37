import type { RankedEntry, RankStyle } from '@laddercast/domain';
import type { StandingsReader } from '@laddercast/ledger';
import { AnsweredVersions, sharedRanksOf, type RankList, type RankSnapshot } from '@laddercast/projections';
import { describe, expect, it } from 'vitest';
import { EMPTY_BOARD, MemoryList } from '../../test/snapshot-ports.js';
import type { EntryDetails } from './entry-details.js';
import type { OwnWorlds } from '../lists/own-worlds.js';
import type { RetaxProgress } from '../lists/retax-progress.js';
import { PlayerCounts } from '../lists/player-counts.js';
import type { ListResolver, ResolvedList } from '../lists/list-resolver.js';
import { describeWindow, ListReader, rowsOfSnapshot } from './list-reader.js';
import type { SnapshotCache } from '../snapshots/snapshot-cache.js';

const row = (rank: number, score: number): RankedEntry => ({
  rank,
  playerId: `p${rank}`,
  displayName: null,
  score,
  columns: {},
  achievedAt: null,
  metadata: null,
});

/** The top of a list of these scores; null stands for a player who is not listed, and has the score before. */
function topOf(scores: (number | null)[], more: Partial<RankSnapshot> = {}): RankSnapshot {
  const entries = scores.flatMap((score, index) => (score === null ? [] : [row(index + 1, score)]));
  const depth = scores.length;
  // Who is not listed has the score of whoever stands before.
  const all = scores.map((score, index) => ({
    playerId: `p${index + 1}`,
    score: score ?? scores[index - 1]!,
    columns: [],
  }));
  const shared = sharedRanksOf(all, entries);
  return { seq: 1, asOfMs: 0, listVersion: 1, total: depth, depth, shared, entries, ...more };
}

const ranks = (top: RankSnapshot, offset: number, limit: number, style: RankStyle): number[] | null =>
  rowsOfSnapshot(top, offset, limit, style)?.map(({ rank }) => rank) ?? null;

const NO_DATABASE = { query: () => Promise.reject(new Error('nobody asks')) };
const NO_WORLDS = {} as OwnWorlds;
const NO_COUNTS = new PlayerCounts(NO_DATABASE, {} as StandingsReader);
const NO_RETAXES = {} as RetaxProgress;

describe('a page out of a snapshot', () => {
  it('leaves a gap for an unlisted player, and moves nobody up', () => {
    const top = topOf([9, null, 7, 6, null, 4]);
    expect(ranks(top, 0, 2, 'ordinal')).toEqual([1]);
    expect(ranks(top, 2, 2, 'ordinal')).toEqual([3, 4]);
    expect(ranks(top, 4, 10, 'ordinal')).toEqual([6]);
    expect(ranks(top, 6, 10, 'ordinal')).toEqual([]);
  });

  it('is null when the snapshot does not reach that far', () => {
    const top = topOf([9, 8, 7], { total: 10 });
    expect(ranks(top, 0, 3, 'ordinal')).toEqual([1, 2, 3]);
    expect(ranks(top, 0, 4, 'ordinal')).toBeNull();
    expect(ranks(top, 1, 3, 'competition')).toBeNull();
  });

  it('gives equal scores the same rank, also across pages', () => {
    const top = topOf([9, 8, 8, 8, 5]);
    expect(ranks(top, 0, 5, 'competition')).toEqual([1, 2, 2, 2, 5]);
    expect(ranks(top, 3, 2, 'competition')).toEqual([2, 5]);
    expect(ranks(top, 0, 5, 'dense')).toEqual([1, 2, 2, 2, 3]);
    expect(ranks(top, 3, 2, 'dense')).toEqual([2, 3]);
    expect(ranks(topOf([9, 8, 5]), 1, 2, 'dense')).toEqual([2, 3]);
  });

  it('counts unlisted players in the ranks that others share', () => {
    const top = topOf([9, null, 8, 8, 7]);
    expect(ranks(top, 0, 5, 'competition')).toEqual([1, 3, 3, 5]);
    expect(ranks(top, 0, 5, 'dense')).toEqual([1, 2, 2, 3]);
    expect(ranks(top, 1, 2, 'competition')).toEqual([3]);
  });

  it('is null in a style for which the snapshot does not say who shares ranks', () => {
    const { shared: _shared, ...old } = topOf([9, 8, 8]);
    expect(rowsOfSnapshot(old, 0, 3, 'ordinal')).toHaveLength(3);
    expect(rowsOfSnapshot(old, 0, 3, 'competition')).toBeNull();
  });
});

describe('the times of a window', () => {
  const window = { uid: 1, state: 'open', freezeAtMs: null } as const;
  const HOUR = 3_600_000;

  it('say when it resets, until it has ended', () => {
    const daily = { ...window, kind: 'daily', id: 'daily:1970-01-01', startsAtMs: 0, endsAtMs: 24 * HOUR } as const;
    const times = { id: daily.id, startsAt: '1970-01-01T00:00:00.000Z', endsAt: '1970-01-02T00:00:00.000Z' };
    expect(describeWindow(daily, 5)).toEqual({ ...times, resetsAt: times.endsAt });
    expect(describeWindow(daily, 24 * HOUR)).toEqual({ ...times, resetsAt: null });
  });

  it('of a rolling window begin with its oldest hour, and say when that hour leaves it', () => {
    const rolling = { ...window, kind: 'rolling', id: 'rolling:2h', startsAtMs: null, endsAtMs: null } as const;
    expect(describeWindow(rolling, 10.5 * HOUR)).toEqual({
      id: 'rolling:2h',
      startsAt: '1970-01-01T09:00:00.000Z',
      endsAt: null,
      resetsAt: '1970-01-01T11:00:00.000Z',
    });
  });
});

describe('a list whose board switches to another generation', () => {
  const { resolved } = new MemoryList(EMPTY_BOARD);
  const generation = (number: number): ResolvedList => ({
    ...resolved,
    list: { ...resolved.list, generation: number },
  });
  const readerOf = (resolver: Partial<ListResolver>, snapshot: RankSnapshot): ListReader => {
    const snapshots = { latest: () => snapshot, lastKnown: () => snapshot } as unknown as SnapshotCache;
    const answered = new AnsweredVersions();
    answered.note(resolved.list, snapshot.listVersion, 0);
    return new ListReader(
      resolver as ListResolver,
      {} as EntryDetails,
      snapshots,
      answered,
      NO_WORLDS,
      NO_COUNTS,
      NO_RETAXES,
    );
  };

  it('is not served from a snapshot of the old generation, whose version is lower', () => {
    const reader = readerOf({}, topOf([9]));
    expect(reader.snapshot(generation(1), undefined)).toBeDefined();
    expect(reader.snapshot(generation(2), undefined)).toBeUndefined();
    const moved = readerOf({}, topOf([9], { generation: 2 }));
    expect(moved.snapshot(generation(2), undefined)).toBeDefined();
  });

  it('is not served from a snapshot older than the last answer; when nothing else is left, that is called estimated', () => {
    const answered = new AnsweredVersions();
    const { list } = resolved;
    const snapshot = topOf([9], { listVersion: 7 });
    const snapshots = { latest: () => snapshot, lastKnown: () => snapshot } as unknown as SnapshotCache;
    const reader = new ListReader(
      { assertShown: () => undefined } as unknown as ListResolver,
      {} as EntryDetails,
      snapshots,
      answered,
      NO_WORLDS,
      NO_COUNTS,
      NO_RETAXES,
    );
    expect(reader.snapshot(resolved, undefined)).toBeUndefined();
    const reading = { total: 1, listVersion: 7 };
    reader.envelope(resolved, 'ordinal', { ...reading, listVersion: 9, accuracy: 'estimated' });
    reader.envelope(resolved, 'ordinal', reading);
    expect(reader.snapshot(resolved, undefined)).toBe(snapshot);
    expect(reader.lastKnown(resolved, undefined)).toBe(snapshot);
    reader.envelope(resolved, 'ordinal', { ...reading, listVersion: 8 });
    expect(reader.snapshot(resolved, undefined)).toBeUndefined();
    expect(reader.lastKnown(resolved, undefined)).toEqual({ ...snapshot, accuracy: 'estimated', errorBound: 0 });
    expect(answered.admits(list, 8)).toBe(true);
  });

  it('is never served from a snapshot that was read after a loss', () => {
    const ofLoss = topOf([], { listVersion: 0, asOfMs: Date.now() + 60_000 });
    const snapshots = { lastKnown: () => ofLoss } as unknown as SnapshotCache;
    const resolver = { assertShown: () => undefined } as unknown as ListResolver;
    const reader = new ListReader(
      resolver,
      {} as EntryDetails,
      snapshots,
      new AnsweredVersions(),
      NO_WORLDS,
      NO_COUNTS,
      NO_RETAXES,
    );
    reader.envelope(resolved, 'ordinal', { total: 1, listVersion: 7 });
    expect(reader.lastKnown(resolved, undefined)).toBeUndefined();
    expect(reader.lastKnown(generation(2), undefined)).toBeDefined();
  });

  it('reaches a version of the new generation as soon as this process hears of it', async () => {
    let asked = 0;
    const ranks = {
      total: async (list: RankList) => ({ total: 1, listVersion: list.generation === 1 ? 10 : 1000 }),
    } as unknown as ResolvedList['ranks'];
    const resolve = async (): Promise<ResolvedList> => ({ ...generation((asked += 1) < 3 ? 1 : 2), ranks });
    const reader = readerOf({ resolve }, topOf([9]));
    const { resolved: found } = await reader.open({ boardId: 'a', minVersion: 500 });
    expect(found.list.generation).toBe(2);
  });
});

describe('the first edition of a window that is still read from the projection', () => {
  it('says the version of that, and nothing older is shown of the window after it', async () => {
    const { resolved } = new MemoryList(EMPTY_BOARD);
    const ranks = { total: async () => ({ total: 1, listVersion: 9 }) } as unknown as ResolvedList['ranks'];
    const edition = { uid: 5, windowUid: 1, kind: 'final', asOfMs: 0, version: 1, number: 1 } as const;
    const resolve = async ({ edition: number }: { edition?: number }): Promise<ResolvedList> =>
      number === undefined ? { ...resolved, ranks } : { ...resolved, edition };
    const snapshot = topOf([9], { listVersion: 8 });
    const answered = new AnsweredVersions();
    answered.note(resolved.list, 8, 0);
    const reader = new ListReader(
      { resolve, assertShown: () => undefined } as unknown as ListResolver,
      {} as EntryDetails,
      { latest: () => snapshot } as unknown as SnapshotCache,
      answered,
      NO_WORLDS,
      NO_COUNTS,
      NO_RETAXES,
    );
    expect(reader.snapshot(resolved, undefined)).toBe(snapshot);
    const { resolved: first } = await reader.open({ boardId: 'a', edition: 1 });
    expect(reader.envelope(first, 'ordinal', { total: 1, listVersion: 700 }).boardVersion).toBe(9);
    expect(reader.snapshot(resolved, undefined)).toBeUndefined();
  });
});
