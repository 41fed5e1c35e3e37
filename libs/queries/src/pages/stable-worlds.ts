import { createHash } from 'node:crypto';
import { compareSortKeys, encodeSortKey, type SortKey } from '@laddercast/domain';
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
import { RanksWithEntries, type OwnEntry } from '../lists/ranks-with-entries.js';

/** A list that holds still, as a shadowed player reads it: its entries of when it began to read are in it. */
export interface StableWorld {
  /** Its ranks are those of the checkpoint with the own entries among them, by their keys. */
  resolved: ResolvedList;
  /** The place of the best own entry. */
  ownKey: SortKey;
}

/** Makes pages that hold still for players whose entries nobody else sees. Their cursors name places, not rows. */
@Injectable()
export class StableWorlds {
  constructor(private readonly checkpoints: Checkpoints) {}

  /** null where the reader sees what everybody sees, or the checkpoint has its entries still. */
  async in(resolved: ResolvedList, name: CheckpointName): Promise<StableWorld | null> {
    const { ownEntries } = resolved;
    if (!ownEntries) return null;
    const lacking = await this.lacking(resolved, name, ownEntries);
    return lacking.length === 0 ? null : this.of(resolved, name, ownEntries, lacking);
  }

  /**
   * The page that a cursor leads to.
   * @throws CURSOR_EXPIRED where the reader's entries are others by now, and VALIDATION_FAILED for a place that no page names
   */
  async page(
    resolved: ResolvedList,
    name: CheckpointName,
    { style, direction, own }: EntriesCursor,
    place: number,
    limit: number,
  ): Promise<{ world: StableWorld; checkpoint: Checkpoint; offset: number; reading: PageReading }> {
    const { ownEntries, list } = resolved;
    if (ownEntries === undefined || markOf(ownEntries) !== own) throw cursorExpired();
    if (direction === 'before' && place === 0) throw brokenCursor();
    const lacking = await this.lacking(resolved, name, ownEntries);
    const world = this.of(resolved, name, ownEntries, lacking);
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

  /** Which of the own entries the checkpoint lacks. */
  private async lacking({ list }: ResolvedList, name: CheckpointName, own: readonly OwnEntry[]): Promise<OwnEntry[]> {
    const keys = await Promise.all(own.map(({ playerId }) => this.checkpoints.keyOf(list, name, playerId)));
    return own.filter((_, at) => keys[at] === null);
  }

  private of(
    resolved: ResolvedList,
    name: CheckpointName,
    own: readonly OwnEntry[],
    lacking: readonly OwnEntry[],
  ): StableWorld {
    const { ordering } = resolved.list;
    const ranks = new RanksWithEntries(new CheckpointRanks(this.checkpoints, name), lacking);
    const [ownKey] = own.map((entry) => encodeSortKey(ordering, entry, entry.playerId)).sort(compareSortKeys);
    return { resolved: { ...resolved, ranks }, ownKey: ownKey! };
  }
}

/** What a cursor says of the entries that are in a list for its reader alone: others have another mark, also where one is gone. */
export function markOf(own: readonly OwnEntry[]): number {
  const states = own.map(({ playerId, version }) => `${version} ${playerId}`).sort();
  return createHash('sha256').update(states.join('\n')).digest().readUIntBE(0, MARK_BYTES);
}

/** What a number holds exactly. */
const MARK_BYTES = 6;
