import { LadderError, type SortKey, NEVER_USED_SCOPE } from '@laddercast/domain';
import { Checkpoints, type Checkpoint, type CheckpointPage } from '@laddercast/projections';
import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import { boardVersionOf } from '../lists/board-version.js';
import { EntriesPlaces, shownBeside } from './entries-places.js';
import { readAround } from './get-entries-around.handler.js';
import { ListReader } from '../rows/list-reader.js';
import { type ResolvedList } from '../lists/list-resolver.js';
import { OpenEntriesQuery, type EntriesAround, type EntriesPage } from '../queries.js';
import { StablePages, type StableRequest } from './stable-pages.js';
import { StableWorlds, type StableWorld } from './stable-worlds.js';

/** How long until the oldest of the checkpoints that may be open is closed, on average, or is not read any more. */
const RETRY_AFTER_SECONDS = 60;

@QueryHandler(OpenEntriesQuery)
export class OpenEntriesHandler implements IQueryHandler<OpenEntriesQuery> {
  constructor(
    private readonly reader: ListReader,
    private readonly checkpoints: Checkpoints,
    private readonly places: EntriesPlaces,
    private readonly pages: StablePages,
    private readonly worlds: StableWorlds,
  ) {}

  async execute(query: OpenEntriesQuery): Promise<EntriesPage> {
    const { selection, around, limit } = query;
    const { resolved, style } = await this.reader.open(selection);
    const request: StableRequest = { style, limit, including: shownBeside(around) };
    // Nothing was ever in the list, and no cursor is given out.
    const isEmpty = resolved.list.scope === NEVER_USED_SCOPE;
    if (resolved.edition !== null || isEmpty) {
      const index = around === null ? 0 : await this.places.indexNow(resolved, selection, around);
      const { offset, reading } = await readAround(resolved, index, limit, (at) =>
        resolved.ranks.page(resolved.list, at, limit, style),
      );
      return this.pages.ofEdition(resolved, request, offset, reading);
    }
    // Of a moment ago, which others opened, where that will do.
    for (const isShared of [true, false]) {
      const opened = await this.checkpoints.open(resolved.list, isShared);
      const isNewEnough = boardVersionOf(resolved, opened.listVersion, resolved.atMs) >= (selection.minVersion ?? 0);
      if (!isNewEnough || (isShared && this.reader.details.mayPrecedeSanctions(opened.openedAtMs))) continue;
      const world = await this.worlds.in(resolved, opened);
      if (world) {
        const place = await this.placeInWorld(query, world, opened, isShared);
        if (place === null) continue;
        return this.pages.ofWorld(world, request, opened, await this.worlds.around(world, place, limit, style));
      }
      const page = await this.firstPage(query, resolved, opened, request, isShared);
      if (page) return this.pages.ofCheckpoint(resolved, request, page);
    }
    const detail =
      'As many cursors of this list are open and being read as may be, and the newest is too old for this.';
    throw new LadderError('PROJECTION_BEHIND', detail, { retryAfterSeconds: RETRY_AFTER_SECONDS });
  }

  /** As {@link firstPage} finds it; the player itself is where its own entry is. */
  private placeInWorld(
    { selection, around }: OpenEntriesQuery,
    { resolved, ownKey }: StableWorld,
    opened: Checkpoint,
    isShared: boolean,
  ): Promise<SortKey | number | null> | SortKey | number {
    if (around === null) return 0;
    if ('playerId' in around && around.playerId === resolved.ownWorldOf) return ownKey;
    return this.placeNow({ selection, around }, resolved, opened, isShared);
  }

  private async placeNow(
    { selection, around }: Pick<OpenEntriesQuery, 'selection'> & { around: EntriesAround },
    resolved: ResolvedList,
    opened: Checkpoint,
    isShared: boolean,
  ): Promise<SortKey | number | null> {
    const { checkpoints } = this;
    const place = await this.places.placeIn(resolved, selection, around, { checkpoints, name: opened });
    const isNew = place === null && 'playerId' in around && !isShared;
    return isNew ? this.places.keyNow(resolved, selection, around) : place;
  }

  /** null where a newer checkpoint is wanted. */
  private async firstPage(
    { selection, around }: OpenEntriesQuery,
    resolved: ResolvedList,
    opened: Checkpoint,
    { style, limit }: StableRequest,
    isShared: boolean,
  ): Promise<CheckpointPage | null> {
    const { checkpoints } = this;
    const { list } = resolved;
    if (around === null) {
      return checkpoints.page(list, opened, { beside: null, direction: 'after', denseRank: null }, limit, style);
    }
    const place = await this.placeNow({ selection, around }, resolved, opened, isShared);
    return place === null ? null : checkpoints.around(list, opened, place, limit, style);
  }
}
