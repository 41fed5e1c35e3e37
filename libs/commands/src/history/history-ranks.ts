import { encodeSortKey, GLOBAL_SCOPE } from '@laddercast/domain';
import type { Lanes, RecordedRank } from '@laddercast/ledger';
import { inParts, monotonicMs, sleep } from '@laddercast/platform';
import { LOOKUP_PLAYERS_MAX, rankListOf, type RankList, type RankProjection } from '@laddercast/projections';
import type { StateToRecord } from '../commands.js';

/** How many ranks the group looks up a second, over all lanes; further states are recorded without one. */
export const HISTORY_RANKS_PER_SECOND = 2000;
/** The ranks follow the same log: a state that they have not reached yet is looked up again after these waits. */
const LOOK_AGAIN_AFTER_MS = [30, 120];
/** How long nothing is looked up after the projection could not answer. */
const PAUSE_MS = 5000;

/** How many ranks of shadowed players are counted side by side. */
const COUNTED_AT_ONCE = 16;

type FoundRank = Omit<RecordedRank, 'rankedAtMs'>;

/** A budget of so many ranks a second, saved up for one second at most. */
class RankBudget {
  private left: number;
  private atMs = monotonicMs();

  constructor(private readonly perSecond: number) {
    this.left = perSecond;
  }

  /** @returns how many of the wanted look-ups may be made now */
  take(wanted: number): number {
    const now = monotonicMs();
    this.left = Math.min(this.perSecond, this.left + ((now - this.atMs) / 1000) * this.perSecond);
    this.atMs = now;
    const taken = Math.min(wanted, Math.floor(this.left));
    this.left -= taken;
    return taken;
  }
}

/**
 * Looks up the ranks of states to record, at a bounded rate and without holding anything up: states beyond the rate, or
 * without an answer of the projection, get none.
 */
export class HistoryRanks {
  private readonly budgets = new Map<number, RankBudget>();
  private sharedBy = 0;
  private pausedUntilMs = -Infinity;

  /** @param lanes over which the group's rate is shared: each is served by one process at a time */
  constructor(
    private readonly projection: RankProjection,
    private readonly lanes: Pick<Lanes, 'count'>,
  ) {}

  /**
   * The rank of each state that has one: exact if the list shows this state, else the rank of the state that it shows.
   */
  async of(lane: number, states: readonly StateToRecord[]): Promise<Map<StateToRecord, FoundRank>> {
    const found = new Map<StateToRecord, FoundRank>();
    const own = states.filter((state) => state.own !== undefined);
    await this.countOwn(own.slice(0, this.budgetOf(lane).take(own.length)), found);
    let behind = states.filter((state) => state.own === undefined);
    for (const waitMs of [0, ...LOOK_AGAIN_AFTER_MS]) {
      if (behind.length === 0) break;
      await sleep(waitMs);
      const looked = behind.slice(0, this.budgetOf(lane).take(behind.length));
      if (looked.length === 0) break;
      behind = await this.look(looked, found);
    }
    return found;
  }

  /** The ranks that shadowed players' entries would have. */
  private async countOwn(states: readonly StateToRecord[], found: Map<StateToRecord, FoundRank>): Promise<void> {
    if (monotonicMs() < this.pausedUntilMs) return;
    try {
      await inParts(states, COUNTED_AT_ONCE, async (state) => {
        const list = rankListOf(state.board, state.windowUid, GLOBAL_SCOPE);
        const key = encodeSortKey(list.ordering, state.own!, state.playerId);
        const { rank, total, accuracy } = await this.projection.rankOfKey(list, key, 'ordinal');
        const [there] = (await this.projection.lookupStates(list, [state.playerId])).states;
        // The list is yet to hear of the sanction: it counts the entry of before.
        if (there && there.rank !== null) found.set(state, { rank, total, isExact: false });
        else found.set(state, { rank, total: total + 1, isExact: accuracy === undefined });
      });
    } catch {
      this.pausedUntilMs = monotonicMs() + PAUSE_MS;
    }
  }

  /** @returns the states that the projection has not reached */
  private async look(states: readonly StateToRecord[], found: Map<StateToRecord, FoundRank>): Promise<StateToRecord[]> {
    if (monotonicMs() < this.pausedUntilMs) return [];
    try {
      const behind = await Promise.all(partsOf(states).map((part) => this.lookAt(part, found)));
      return behind.flat();
    } catch {
      // A record is right without a rank, and the lane must not wait for one.
      this.pausedUntilMs = monotonicMs() + PAUSE_MS;
      return [];
    }
  }

  private async lookAt(
    { list, states }: { list: RankList; states: StateToRecord[] },
    found: Map<StateToRecord, FoundRank>,
  ): Promise<StateToRecord[]> {
    const ids = states.map(({ playerId }) => playerId);
    const { total, states: projected, accuracy } = await this.projection.lookupStates(list, ids);
    return states.filter((state, at) => {
      const { rank, version } = projected[at] ?? { rank: null, version: -1 };
      if (rank !== null)
        found.set(state, { rank, total, isExact: version === state.version && accuracy === undefined });
      return version < state.version;
    });
  }

  private budgetOf(lane: number): RankBudget {
    const { count } = this.lanes;
    if (count !== this.sharedBy) this.budgets.clear();
    this.sharedBy = count;
    const known = this.budgets.get(lane) ?? new RankBudget(Math.ceil(HISTORY_RANKS_PER_SECOND / count));
    this.budgets.set(lane, known);
    return known;
  }
}

/** The states by their lists, in groups of the size of one look-up. */
function partsOf(states: readonly StateToRecord[]): { list: RankList; states: StateToRecord[] }[] {
  const windows = new Map<number, StateToRecord[]>();
  for (const state of states) {
    const known = windows.get(state.windowUid);
    if (known) known.push(state);
    else windows.set(state.windowUid, [state]);
  }
  return [...windows.values()].flatMap((ofWindow) => {
    const list = rankListOf(ofWindow[0]!.board, ofWindow[0]!.windowUid, GLOBAL_SCOPE);
    const parts: { list: RankList; states: StateToRecord[] }[] = [];
    for (let from = 0; from < ofWindow.length; from += LOOKUP_PLAYERS_MAX) {
      parts.push({ list, states: ofWindow.slice(from, from + LOOKUP_PLAYERS_MAX) });
    }
    return parts;
  });
}
