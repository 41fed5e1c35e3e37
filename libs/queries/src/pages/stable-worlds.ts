import { encodeSortKey, type SortKey } from '@laddercast/domain';
import {
  Checkpoints,
  cursorExpired,
  type Checkpoint,
  type CheckpointName,
  type PageReading,
} from '@laddercast/projections';
import { Injectable } from '@nestjs/common';
import { CheckpointRanks } from './checkpoint-ranks.js';
import { brokenCursor, type EntriesCursor } from './entries-cursor.js';
import { readAround } from './get-entries-around.handler.js';
import type { ResolvedList } from '../lists/list-resolver.js';
import { RanksWithEntry } from '../lists/ranks-with-entry.js';

/** A list that holds still, as a shadowed player reads it: its entry of when it began to read is in it. */
export interface StableWorld {
  /** Its ranks are those of the checkpoint with the own entry among them. */
  resolved: ResolvedList;
  /** The own entry's place. */
  ownKey: SortKey;
}

/** Makes pages that hold still for players whose entry nobody else sees. Their cursors name places, not rows. */
@Injectable()
export class StableWorlds {
  constructor(private readonly checkpoints: Checkpoints) {}

  /** null where the reader sees what everybody sees, or the checkpoint has its entry still. */
  async in(resolved: ResolvedList, name: CheckpointName): Promise<StableWorld | null> {
    const { ownEntry, list } = resolved;
    if (!ownEntry || (await this.checkpoints.keyOf(list, name, ownEntry.playerId)) !== null) return null;
    return this.of(resolved, name, ownEntry);
  }

  /**
   * The page that a cursor leads to.
   * @throws CURSOR_EXPIRED where the reader's entry is another by now, and VALIDATION_FAILED for a place that no page names
   */
  async page(
    resolved: ResolvedList,
    name: CheckpointName,
    { style, direction, own }: EntriesCursor,
    place: number,
    limit: number,
  ): Promise<{ world: StableWorld; checkpoint: Checkpoint; offset: number; reading: PageReading }> {
    const { ownEntry, list } = resolved;
    if (ownEntry?.version !== own) throw cursorExpired();
    if (direction === 'before' && place === 0) throw brokenCursor();
    const world = this.of(resolved, name, ownEntry!);
    const offset = direction === 'after' ? place + 1 : Math.max(0, place - limit);
    const count = direction === 'after' ? limit : place - offset;
    const [reading, checkpoint] = await Promise.all([
      world.resolved.ranks.page(list, offset, count, style),
      new CheckpointRanks(this.checkpoints, name).total(list),
    ]);
    return { world, checkpoint, offset, reading };
  }

  /** The page around a place, or the first one. */
  async around(
    { resolved }: StableWorld,
    place: SortKey | number,
    limit: number,
    style: EntriesCursor['style'],
  ): Promise<{ offset: number; reading: PageReading }> {
    const { ranks, list } = resolved;
    const index = typeof place === 'number' ? place : (await ranks.rankOfKey(list, place, 'ordinal')).rank - 1;
    return readAround(resolved, index, limit, (at) => ranks.page(list, at, limit, style));
  }

  private of(
    resolved: ResolvedList,
    name: CheckpointName | Checkpoint,
    own: NonNullable<ResolvedList['ownEntry']>,
  ): StableWorld {
    const ranks = new RanksWithEntry(new CheckpointRanks(this.checkpoints, name), own);
    return { resolved: { ...resolved, ranks }, ownKey: encodeSortKey(resolved.list.ordering, own, own.playerId) };
  }
}
