import {
  encodeSortKey,
  everyLayout,
  GLOBAL_SCOPE,
  GUILDS_SCOPE,
  shardOf,
  valuesIn,
  type PatchRun,
  type SortKey,
  type SortValues,
} from '@laddercast/domain';
import { listOfWindow, type BoardOfLists, type ProjectedChange, type RankList } from './rank-projection.js';

/** The newest state of an entry, with every list that ranks it or did. */
export interface EntryInLists {
  windowUid: number;
  /** When the window began, Unix ms; null: with the board, or so long ago that counters of now begin after it. */
  startsAtMs: number | null;
  /** When it ends, Unix ms: what ended keeps its tax; null: never. */
  endsAtMs: number | null;
  /** The player's id, or the key of a run's entry; the guild's id where `isGuild` says so. */
  playerId: string;
  version: number;
  /** null: removed. Of a board with decay they are what `runs` came to once, and rank nothing. */
  values: SortValues | null;
  /** Of a board with decay: the runs of which each generation's tax makes the entry. */
  runs?: readonly PatchRun[] | undefined;
  /** The scopes that rank it beside everybody; those of a removed one are the last that did. */
  scopes: readonly number[];
  /** Scopes that do not rank it any more. */
  leftScopes: readonly number[];
  isGuild: boolean;
  /** When the window's keys may go, Unix ms; null for ever. */
  keepUntilMs: number | null;
}

/** What is to be applied to one shard. */
export interface ShardChanges {
  list: RankList;
  shard: number;
  changes: ProjectedChange[];
  keepUntilMs: number | null;
}

/** Lists and changes that are written side by side. */
const LISTS_AT_ONCE = 64;
const CHANGES_AT_ONCE = 4000;

/**
 * Changes of entries, sorted by the shards that they go to. An entry that moves is put into its new lists before it is
 * taken out of those it left, so that no reader misses it; in each list the newest version wins, whatever comes when.
 */
export class ChangesByShard {
  private readonly standing: ChangesOfLists = new Map();
  private readonly left: ChangesOfLists = new Map();
  /** By window and scope. */
  private readonly lists = new Map<number, Map<number, RankList[]>>();

  add(board: BoardOfLists, entry: EntryInLists): void {
    const { playerId, version, values, scopes, leftScopes, isGuild, runs } = entry;
    const home = isGuild ? GUILDS_SCOPE : GLOBAL_SCOPE;
    const homes = this.listsOf(board, entry, home);
    const keyIn = (list: RankList): SortKey | null => values && sortKeyOf(board, list, { values, runs }, playerId);
    // One for all lists, unless each generation has its tax, and each patch its runs.
    const change = { playerId, version, key: keyIn(homes[0]!) };
    const changeIn = (list: RankList): ProjectedChange => (runs ? { ...change, key: keyIn(list) } : change);
    for (const list of homes) push(this.standing, list, entry, changeIn(list));
    for (const scope of scopes) {
      for (const list of this.listsOf(board, entry, scope)) push(this.standing, list, entry, changeIn(list));
    }
    for (const scope of leftScopes) {
      const leaving = { playerId, version, key: null };
      for (const list of this.listsOf(board, entry, scope)) push(this.left, list, entry, leaving);
    }
  }

  /** A scope's list in every generation, each once; remembered, since most entries are of few lists. */
  private listsOf(board: BoardOfLists, entry: EntryInLists, scope: number): RankList[] {
    const { windowUid: uid, startsAtMs, endsAtMs } = entry;
    const ofWindow = this.lists.get(uid) ?? new Map<number, RankList[]>();
    let lists = ofWindow.get(scope);
    if (lists === undefined) {
      const window = { uid, startsAtMs, endsAtMs };
      const all = everyLayout(board.layouts).map((layout) => listOfWindow(board, window, scope, layout));
      lists = [...new Map(all.map((list) => [list.generation, list])).values()];
      this.lists.set(uid, ofWindow.set(scope, lists));
    }
    return lists;
  }

  /**
   * Writes everything that was added, a bounded part at a time.
   * @param write applies the changes of one shard, and says how many were newer than what was there
   * @returns how many were in all
   */
  async apply(write: (changes: ShardChanges) => Promise<number>): Promise<number> {
    let newer = 0;
    for (const step of [this.standing, this.left]) {
      for (const part of partsOf([...step.values()].flatMap((shards) => [...shards.values()]))) {
        for (const count of await Promise.all(part.map(write))) newer += count;
      }
    }
    return newer;
  }
}

/** Where an entry stands in a list; null: nowhere. `runs` are those of a board with decay. */
export function sortKeyOf(
  { definition }: Pick<BoardOfLists, 'definition'>,
  list: RankList,
  { values, runs }: { values: SortValues; runs?: readonly PatchRun[] | null | undefined },
  playerId: string,
): SortKey | null {
  const ranked = valuesIn(definition, list, values, runs);
  return ranked && encodeSortKey(list.ordering, ranked, playerId);
}

/** By list, each of which is one object, and shard. */
type ChangesOfLists = Map<RankList, Map<number, ShardChanges>>;

function push(lists: ChangesOfLists, list: RankList, { keepUntilMs }: EntryInLists, change: ProjectedChange): void {
  const shard = shardOf(change.playerId, list.shards);
  const shards = lists.get(list);
  const known = shards?.get(shard);
  if (known === undefined) {
    lists.set(
      list,
      (shards ?? new Map<number, ShardChanges>()).set(shard, { list, shard, changes: [change], keepUntilMs }),
    );
    return;
  }
  known.changes.push(change);
  // The end of a window may have been moved between two of its changes.
  known.keepUntilMs = laterOf(known.keepUntilMs, keepUntilMs);
}

/** The later of two times; null is for ever. */
export const laterOf = (a: number | null, b: number | null): number | null =>
  a === null || b === null ? null : Math.max(a, b);

function* partsOf(shards: Iterable<ShardChanges>): Generator<ShardChanges[]> {
  let part: ShardChanges[] = [];
  let changes = 0;
  for (const shard of shards) {
    part.push(shard);
    changes += shard.changes.length;
    if (part.length < LISTS_AT_ONCE && changes < CHANGES_AT_ONCE) continue;
    yield part;
    part = [];
    changes = 0;
  }
  if (part.length > 0) yield part;
}
