import { encodeSortKey, keyOfEntry, toRankScore, type BoardOrdering, type SortKey } from '@laddercast/domain';
import type { Checkpoints, CheckpointName } from '@laddercast/projections';
import { Injectable } from '@nestjs/common';
import { GetPlayerHandler } from '../ranks/get-player.handler.js';
import type { ResolvedList } from '../lists/list-resolver.js';
import { GetPlayerQuery, type EntriesAround, type ListSelection, type PlayerRank } from '../queries.js';

/** Finds the place that is to stand in the middle of a page. */
@Injectable()
export class EntriesPlaces {
  constructor(private readonly players: GetPlayerHandler) {}

  /**
   * The 0-based index of the place in the list as it is now.
   * @throws ENTRY_NOT_FOUND
   */
  async indexNow(resolved: ResolvedList, selection: ListSelection, around: EntriesAround): Promise<number> {
    if ('rank' in around) return around.rank - 1;
    if ('playerId' in around) return (await this.player(selection, around)).rank - 1;
    const { list, ranks } = resolved;
    return (await ranks.rankOfKey(list, keyOfScore(list.ordering, around.score), 'ordinal')).rank - 1;
  }

  /**
   * The place as of a checkpoint; null for a player who has an entry now, and had none then.
   * @throws ENTRY_NOT_FOUND
   */
  async placeIn(
    { list }: ResolvedList,
    selection: ListSelection,
    around: EntriesAround,
    { checkpoints, name }: { checkpoints: Checkpoints; name: CheckpointName },
  ): Promise<SortKey | number | null> {
    if ('rank' in around) return around.rank - 1;
    if ('score' in around) return keyOfScore(list.ordering, around.score);
    return checkpoints.keyOf(list, name, keyOfEntry(await this.player(selection, around)));
  }

  /** Where a player's entry of now would stand. */
  async keyNow(
    { list }: ResolvedList,
    selection: ListSelection,
    around: Extract<EntriesAround, { playerId: string }>,
  ): Promise<SortKey> {
    const entry = await this.player(selection, around);
    const { score, columns, achievedAt } = entry;
    const values = {
      score,
      columns: list.ordering.columns.map(({ name }) => columns[name]!),
      achievedAtMs: achievedAt === null ? 0 : Date.parse(achievedAt),
    };
    return encodeSortKey(list.ordering, values, keyOfEntry(entry));
  }

  /** The player's entry as who asks for the player sees it, with its ordinal rank. */
  private async player(
    selection: ListSelection,
    { playerId, unlistedShown }: Extract<EntriesAround, { playerId: string }>,
  ): Promise<NonNullable<PlayerRank['entry']>> {
    const ordinal: ListSelection = { ...selection, rankStyle: 'ordinal' };
    const { entry } = await this.players.execute(new GetPlayerQuery(ordinal, playerId, 0, 0, false, unlistedShown));
    return entry!;
  }
}

/** Before the first entry that has the score, or is not better. */
const keyOfScore = (ordering: BoardOrdering, score: number): SortKey => ({
  score: toRankScore(ordering.order, score),
  member: Buffer.alloc(0),
});

/** The players of a page who are shown although they are not listed: the one it is around, to whoever may see it. */
export function shownBeside(around: EntriesAround | null): string[] {
  return around !== null && 'playerId' in around ? [around.playerId] : [];
}
