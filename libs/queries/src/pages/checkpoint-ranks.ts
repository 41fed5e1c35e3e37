import { compareSortKeys, type RankStyle, type SortKey } from '@laddercast/domain';
import {
  cursorExpired,
  RankReadings,
  type Checkpoint,
  type CheckpointName,
  type CheckpointPage,
  type Checkpoints,
  type PageReading,
  type PlayerReading,
  type ProjectedEntry,
  type RankList,
  type Reading,
} from '@laddercast/projections';

/**
 * The ranks of a list as of a checkpoint, by places. Methods throw CURSOR_EXPIRED when it is not there any more, or too much
 * has changed since to count dense ranks.
 */
export class CheckpointRanks extends RankReadings {
  constructor(
    private readonly checkpoints: Checkpoints,
    private readonly name: CheckpointName,
  ) {
    super();
  }

  override async page(list: RankList, offset: number, limit: number, style: RankStyle): Promise<PageReading> {
    const { checkpoint, index, entries } = await this.around(list, offset + Math.floor((limit - 1) / 2), limit, style);
    // Near its end the list does not reach as far as that: the page begins before.
    return { ...checkpoint, entries: entries.slice(offset - index) };
  }

  /** The version of the entry is the checkpoint's. */
  override async player(
    list: RankList,
    playerId: string,
    above: number,
    below: number,
    style: RankStyle,
  ): Promise<PlayerReading> {
    const key = await this.checkpoints.keyOf(list, this.name, playerId);
    if (key === null) return { ...(await this.total(list)), entry: null, neighbours: [] };
    const { rank } = await this.rankOfKey(list, key);
    const from = Math.max(0, rank - 1 - above);
    const { entries, ...reading } = await this.page(list, from, rank - from + below, style);
    const entry = { ...entries[rank - 1 - from]!, version: this.name.listVersion };
    return { ...reading, entry, neighbours: entries };
  }

  override async lookup(
    list: RankList,
    playerIds: readonly string[],
    style: RankStyle,
  ): Promise<Reading & { entries: (ProjectedEntry | null)[] }> {
    const found = await Promise.all(playerIds.map((playerId) => this.player(list, playerId, 0, 0, style)));
    return { ...(await this.total(list)), entries: found.map(({ entry }) => entry) };
  }

  /** In the ordinal style alone: places are what pages are found by. */
  override async rankOfKey(list: RankList, key: SortKey): Promise<Reading & { rank: number }> {
    const { checkpoint, index, keys } = await this.around(list, key, 1, 'ordinal');
    const isBehindAll = keys[0] !== undefined && compareSortKeys(keys[0], key) < 0;
    return { ...checkpoint, rank: index + (isBehindAll ? 2 : 1) };
  }

  override async total(list: RankList): Promise<Checkpoint> {
    return (await this.around(list, 0, 1, 'ordinal')).checkpoint;
  }

  private async around(list: RankList, at: SortKey | number, limit: number, style: RankStyle): Promise<CheckpointPage> {
    const page = await this.checkpoints.around(list, this.name, at, limit, style);
    if (page === null) throw cursorExpired();
    return page;
  }
}
