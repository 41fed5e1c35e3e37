import { withBoardDefaults, firstLayouts, LadderError, type Board } from '@laddercast/domain';
import { LOOKUP_PLAYERS_MAX, type RankList, type RankProjection } from '@laddercast/projections';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { StateToRecord } from '../commands.js';
import { HISTORY_RANKS_PER_SECOND, HistoryRanks } from './history-ranks.js';

const definition = withBoardDefaults({ order: 'desc', operator: 'best', history: {} });
const board: Board = {
  uid: 1,
  id: 'b',
  revision: 1,
  definitionRevision: 1,
  definition,
  windowsSinceMs: {},
  layouts: firstLayouts(definition),
};

/** What the list shows of everybody: one version, at the rank that the player's number says. */
class ShownList {
  version = 1;
  /** The version after the next reading. */
  versionAfter: number | null = null;
  failure: Error | null = null;
  readonly asked: number[] = [];

  readonly lookupStates = async (_list: RankList, playerIds: readonly string[]) => {
    if (this.failure) throw this.failure;
    this.asked.push(playerIds.length);
    const stateOf = (id: string) => ({ rank: Number(id.slice(1)), version: this.version });
    const found = playerIds.map((id) => (id === 'nobody' ? null : stateOf(id)));
    this.version = this.versionAfter ?? this.version;
    return { total: 9000, listVersion: 1, states: found };
  };
}

const states = (count: number, version = 1): StateToRecord[] =>
  Array.from({ length: count }, (_, at) => stateOf(`p${at + 1}`, version));
const stateOf = (playerId: string, version = 1): StateToRecord => ({
  board,
  windowUid: 1,
  playerId,
  stretchMs: 0,
  atMs: 0,
  version,
  score: 1,
  columns: [],
  achievedAtMs: 0,
});

describe('the ranks of a history', () => {
  let list: ShownList;
  let ranks: HistoryRanks;

  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['performance'] });
    list = new ShownList();
    ranks = new HistoryRanks(list as unknown as RankProjection, { count: 2 });
  });
  afterEach(() => vi.useRealTimers());

  it('are exact where the list shows that very state, and estimated where it is ahead', async () => {
    list.version = 7;
    const [same, before] = [stateOf('p3', 7), stateOf('p4', 6)];
    const found = await ranks.of(0, [same, before]);
    expect(found.get(same)).toEqual({ rank: 3, total: 9000, isExact: true });
    expect(found.get(before)).toEqual({ rank: 4, total: 9000, isExact: false });
    expect(list.asked).toEqual([2]);
  });

  it('are waited for a moment where the list is behind, and then those of what it shows', async () => {
    const state = stateOf('p3', 2);
    list.versionAfter = 2;
    expect((await ranks.of(0, [state, stateOf('p1', 1)])).get(state)).toEqual({ rank: 3, total: 9000, isExact: true });
    const ahead = stateOf('p5', 3);
    const found = await ranks.of(0, [ahead, stateOf('nobody', 3)]);
    expect(list.asked).toEqual([2, 1, 2, 2, 2]);
    expect([...found]).toEqual([[ahead, { rank: 5, total: 9000, isExact: false }]]);
  });

  it('are so many a second in each lane, and none beyond', async () => {
    const perLane = HISTORY_RANKS_PER_SECOND / 2;
    const found = await ranks.of(0, states(perLane + 10));
    expect(found.size).toBe(perLane);
    expect(Math.max(...list.asked)).toBeLessThanOrEqual(LOOKUP_PLAYERS_MAX);
    expect((await ranks.of(0, states(5))).size).toBe(0);
    // The rate is shared out over the lanes, and saved up for a second.
    expect((await ranks.of(1, states(5))).size).toBe(5);
    vi.advanceTimersByTime(3);
    expect((await ranks.of(0, states(5))).size).toBe(3);
    vi.advanceTimersByTime(60_000);
    expect((await ranks.of(0, states(perLane + 10))).size).toBe(perLane);
  });

  it('are left out for some seconds after the list could not be read', async () => {
    list.failure = new LadderError('PROJECTION_UNAVAILABLE', 'away');
    expect((await ranks.of(0, states(2))).size).toBe(0);
    list.failure = null;
    expect((await ranks.of(1, states(2))).size).toBe(0);
    expect(list.asked).toEqual([]);
    vi.advanceTimersByTime(5000);
    expect((await ranks.of(0, states(2))).size).toBe(2);
  });
});
