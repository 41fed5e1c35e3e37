import {
  everyLayout,
  GLOBAL_SCOPE,
  LadderError,
  memberPrefixBytes,
  validationFailed,
  type Fault,
} from '@laddercast/domain';
import { BoardLayouts } from '@laddercast/ledger';
import { Checkpoints, cursorExpired, type RankList } from '@laddercast/projections';
import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import {
  brokenCursor,
  decodeCursor,
  type EntriesCursor,
  type PlaceInCheckpoint,
  type PlaceInEdition,
} from './entries-cursor.js';
import { ListReader } from '../rows/list-reader.js';
import { ListResolver, type ResolvedList } from '../lists/list-resolver.js';
import { ReadCursorQuery, type EntriesPage, type ListSelection } from '../queries.js';
import { GUILDS, ownOf, StablePages } from './stable-pages.js';
import { StableWorlds } from './stable-worlds.js';

@QueryHandler(ReadCursorQuery)
export class ReadCursorHandler implements IQueryHandler<ReadCursorQuery> {
  constructor(
    private readonly reader: ListReader,
    private readonly checkpoints: Checkpoints,
    private readonly pages: StablePages,
    private readonly worlds: StableWorlds,
    private readonly resolver: ListResolver,
    private readonly layouts: BoardLayouts,
  ) {}

  async execute({ selection, cursor: text, limit }: ReadCursorQuery): Promise<EntriesPage> {
    const cursor = decodeCursor(text);
    assertSameList(selection, cursor);
    const resolved = await this.resolve(selection, cursor);
    const { board, window, edition } = resolved;
    // The board was reset, the window frozen or unfrozen, the standings written anew: it is another list by now.
    if (board.uid !== cursor.boardUid || window.uid !== cursor.windowUid) throw cursorExpired();
    if ('edition' in cursor.place) {
      if (edition?.uid !== cursor.place.edition || ownOf(resolved).own !== cursor.own) throw cursorExpired();
      return this.readEdition(resolved, cursor, cursor.place, limit);
    }
    if (edition !== null) throw cursorExpired();
    return this.readCheckpoint(resolved, cursor, cursor.place, limit);
  }

  /** The list as who reads may see it now: a cursor gives no right. */
  private async resolve(
    { boardId, isAdmin, ofGuilds, readerId, withPlayers }: ListSelection,
    cursor: EntriesCursor,
  ): Promise<ResolvedList> {
    const { window, scope, place } = cursor;
    const selection: ListSelection = {
      boardId,
      isAdmin,
      ofGuilds,
      readerId,
      withPlayers,
      window,
      scope: ofGuilds ? undefined : scope,
      asOfMs: 'edition' in place ? (place.asOfMs ?? undefined) : undefined,
    };
    try {
      // What a page counts its dense ranks from is in the cursor, also when the board keeps none any more.
      const goesOn = 'edition' in place ? { edition: place.edition } : 'projection';
      const taxOrder = 'edition' in place ? undefined : await this.taxOrderOf(cursor, place);
      return await this.reader.reopen(selection, { goesOn, taxOrder }, cursor.own !== undefined);
    } catch (error) {
      if (error instanceof LadderError && error.code === 'SNAPSHOT_GONE') throw cursorExpired();
      throw error;
    }
  }

  /**
   * By which order of patches the generation is taxed that is read on; undefined: by none, or that of the one that serves.
   * @throws CURSOR_EXPIRED where nothing is known of it any more
   */
  private async taxOrderOf(
    { boardId, boardUid, scope }: EntriesCursor,
    { generation }: PlaceInCheckpoint,
  ): Promise<number | undefined> {
    const { definition, layouts } = await this.resolver.board(boardId);
    if (!definition.decay || scope.startsWith('patch:') || layouts.serving.generation === generation) return undefined;
    // It is to be removed, and known for as long as anybody reads on in it.
    const all = [...everyLayout(layouts), ...(await this.layouts.removalsOf(boardUid))];
    const read = all.find((layout) => layout.generation === generation);
    if (read === undefined) throw cursorExpired();
    return read.taxOrder;
  }

  private async readCheckpoint(
    resolved: ResolvedList,
    cursor: EntriesCursor,
    { generation, shards, versions, checkpoint, beside, denseRank }: PlaceInCheckpoint,
    limit: number,
  ): Promise<EntriesPage> {
    // Of the generation that was served then.
    const list: RankList = { ...resolved.list, generation, shards, versions, boundaries: null };
    const shortest = memberPrefixBytes(list.ordering) + 1;
    if (list.scope !== GLOBAL_SCOPE && shards !== 1) throw brokenCursor();
    if (typeof beside !== 'number' && beside.member.length < shortest) throw brokenCursor();
    const { style, direction, own } = cursor;
    if (own !== undefined) {
      if (typeof beside !== 'number') throw brokenCursor();
      const there = await this.worlds.page({ ...resolved, list }, checkpoint, cursor, beside, limit);
      return this.pages.ofWorld(there.world, { style, limit, including: [] }, there.checkpoint, there);
    }
    const page = await this.checkpoints.page(list, checkpoint, { beside, direction, denseRank }, limit, style);
    return this.pages.ofCheckpoint({ ...resolved, list }, { style, limit, including: [] }, page);
  }

  private async readEdition(
    resolved: ResolvedList,
    { style, direction }: EntriesCursor,
    { offset }: PlaceInEdition,
    limit: number,
  ): Promise<EntriesPage> {
    const from = direction === 'after' ? offset : Math.max(0, offset - limit);
    const count = direction === 'after' ? limit : offset - from;
    const reading = await resolved.ranks.page(resolved.list, from, count, style);
    return this.pages.ofEdition(resolved, { style, limit, including: [] }, from, reading);
  }
}

/** What is said beside the cursor has to be what it says. */
function assertSameList(
  { boardId, ofGuilds, window, scope, rankStyle, minVersion, asOfMs, edition }: ListSelection,
  cursor: EntriesCursor,
): void {
  if (cursor.boardId !== boardId || (cursor.scope === GUILDS) !== (ofGuilds ?? false)) throw brokenCursor();
  const isOfWindow = window === undefined || window === cursor.window || cursor.window.startsWith(`${window}:`);
  const wrong = {
    window: !isOfWindow,
    scope: scope !== undefined && scope !== cursor.scope,
    rankStyle: rankStyle !== undefined && rankStyle !== cursor.style,
    minVersion: minVersion !== undefined,
    asOf: asOfMs !== undefined,
    edition: edition !== undefined,
  };
  const faults = Object.entries(wrong).flatMap(([name, isWrong]): Fault[] =>
    isWrong ? [{ pointer: `?${name}`, message: 'is for cursor=start; a cursor says it for all of its pages' }] : [],
  );
  if (faults.length > 0) throw validationFailed(faults);
}
