import { faultOfNamedId, LadderError, validationFailed, type Board, type StoredWindow } from '@laddercast/domain';
import {
  BoardCatalog,
  BoardTemplates,
  isDatabaseUnavailable,
  TEMPLATE_BOARDS_MAX,
  WindowCatalog,
} from '@laddercast/ledger';
import { inParts, nowMs, toTimestamp } from '@laddercast/platform';
import type { ProjectedEntry } from '@laddercast/projections';
import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import { columnsByName, verificationOf } from '../rows/entry-details.js';
import { percentileIn } from '../lists/percentile.js';
import { styleToRead } from '../lists/rank-style.js';
import { ListReader } from '../rows/list-reader.js';
import { ListResolver, type ResolvedList } from '../lists/list-resolver.js';
import { GetStandingsQuery, type PlayerStanding, type StandingsPage } from './standings-query.js';
import type { UnlistedShown } from '../shared/shown-player.js';
import { cutPage } from '../shared/cut-page.js';
import { taxedFromOf, taxOfRow } from '../rows/taxed-rows.js';

/** Lists that are read side by side. Those of one moment travel to Redis together. */
const LISTS_AT_ONCE = 64;

interface WindowOfPage {
  board: Board;
  window: StoredWindow;
}

/**
 * Looks a player up in the lists of many boards. The ranks come from the projection, and PostgreSQL is asked for what
 * it alone has: windows that are not remembered, frozen standings, times of boards whose tie-break keeps none, and runs.
 */
@QueryHandler(GetStandingsQuery)
export class GetStandingsHandler implements IQueryHandler<GetStandingsQuery> {
  constructor(
    private readonly boards: BoardCatalog,
    private readonly windows: WindowCatalog,
    private readonly resolver: ListResolver,
    private readonly reader: ListReader,
    private readonly templates: BoardTemplates,
  ) {}

  async execute(query: GetStandingsQuery): Promise<StandingsPage> {
    const { playerId, reader } = query;
    const { boards, next } = await this.boardsOfPage(query);
    const unread = new Map<string, unknown>();
    const windows = await this.windowsOf(boards, query, unread);
    // Unlisted players are looked up, too: their answer must not differ from that of a player without entries.
    const [found, shown] = await Promise.all([
      this.read(windows, query, unread),
      this.boardsWhereShown(boards, playerId, reader.unlistedShown),
    ]);
    if (unread.size > 0 && unread.size === boards.length) throw nothingCanBeRead([...unread.values()][0]);
    return {
      playerId,
      asOf: toTimestamp(nowMs()),
      standings: found.filter(({ board }) => shown.has(board) && !unread.has(board)),
      unavailable: [...unread.keys()].sort(),
      next,
    };
  }

  private async boardsWhereShown(
    boards: readonly Board[],
    playerId: string,
    unlistedShown: UnlistedShown,
  ): Promise<ReadonlySet<string>> {
    const ids = boards.map(({ id }) => id);
    const areShown = await Promise.all(ids.map((id) => this.reader.details.shows(id, playerId, unlistedShown)));
    return new Set(ids.filter((_, at) => areShown[at]));
  }

  private async boardsOfPage(query: GetStandingsQuery): Promise<{ boards: Board[]; next: string | null }> {
    const { limit = TEMPLATE_BOARDS_MAX, cursor, reader, only } = query;
    if (cursor !== undefined && faultOfNamedId(cursor) !== null) {
      throw validationFailed([{ pointer: '?cursor', message: 'is not a cursor of this list' }]);
    }
    const boardsAsked = only.template === undefined ? this.boards.all() : await this.ofTemplate(only.template);
    const after = boardsAsked.filter(({ id, definition }) => {
      const isReadable = reader.seesPrivateBoards || definition.visibility === 'public';
      return isReadable && (cursor === undefined || id > cursor);
    });
    const { page: boards, next } = cutPage(after, limit, ({ id }) => id);
    return { boards, next };
  }

  /** @throws TEMPLATE_NOT_FOUND */
  private async ofTemplate(template: string): Promise<Board[]> {
    const boards = this.boards.ofTemplate(template);
    // Only of a template without boards it is not known here whether there is one.
    if (boards.length === 0) await this.templates.require(template);
    return boards;
  }

  /** The running windows that were made: in one that nobody needed yet there are no entries. */
  private async windowsOf(
    boards: readonly Board[],
    { only: { windowKind } }: GetStandingsQuery,
    unread: Map<string, unknown>,
  ): Promise<WindowOfPage[]> {
    const now = this.resolver.clock.nowMs();
    const outage: unknown = await this.windows.prefetch(boards, now).catch(unlessBroken);
    return boards.flatMap((board) => {
      const windows = this.windows.madeAt(board, now);
      if (windows === undefined) unread.set(board.id, outage);
      return (windows ?? [])
        .filter(({ state, kind }) => state === 'open' && (windowKind === undefined || kind === windowKind))
        .map((window) => ({ board, window }));
    });
  }

  private async read(
    windows: readonly WindowOfPage[],
    { playerId, reader: { unlistedShown } }: GetStandingsQuery,
    unread: Map<string, unknown>,
  ): Promise<PlayerStanding[]> {
    const isItself = unlistedShown !== 'all' && unlistedShown.includes(playerId);
    const found = await inParts(windows, LISTS_AT_ONCE, ({ board, window }) =>
      this.standing(board, window, playerId, isItself).catch((error: unknown) => {
        unread.set(board.id, unlessBroken(error));
        return null;
      }),
    );
    return found.filter((standing) => standing !== null);
  }

  /** null where the player has no entry. */
  private async standing(
    board: Board,
    window: StoredWindow,
    playerId: string,
    isItself: boolean,
  ): Promise<PlayerStanding | null> {
    const everybodys = await this.resolver.ofWindow(board, window);
    const resolved = await this.reader.asSeenBy(isItself ? playerId : undefined, everybodys);
    const { title } = board.definition;
    const rankStyle = styleToRead(resolved, undefined);
    const reading = await resolved.ranks.lookup(resolved.list, [playerId], rankStyle);
    const entry = reading.entries[0];
    if (!entry) return null;
    const { total, boardVersion, window: times } = this.reader.envelope(resolved, rankStyle, reading);
    const taxedFrom = taxedFromOf(resolved, entry);
    return {
      board: board.id,
      title,
      window: times,
      rank: entry.rank,
      total,
      percentile: await percentileIn(resolved, rankStyle, entry, total),
      score: entry.score,
      columns: columnsByName(resolved.list.ordering, entry.columns),
      ...(await this.ofRun(resolved, entry)),
      ...(taxedFrom && taxOfRow(resolved, taxedFrom)),
      rankStyle,
      accuracy: reading.accuracy ?? 'exact',
      boardVersion,
      frozenAt: resolved.edition && toTimestamp(resolved.edition.asOfMs),
    };
  }

  /** What the ranks do not tell of the entry, or not always. */
  private async ofRun(
    resolved: ResolvedList,
    entry: ProjectedEntry,
  ): Promise<Pick<PlayerStanding, 'achievedAt' | 'verified' | 'proof'>> {
    const keepsRuns = resolved.board.runsFrom !== undefined;
    if (entry.achievedAtMs !== null && !keepsRuns) return { achievedAt: toTimestamp(entry.achievedAtMs) };
    const [row] = await this.reader.details.complete(resolved, [entry], { including: 'all' });
    return { achievedAt: row!.achievedAt, ...verificationOf(resolved.board, row!) };
  }
}

/** A failure that may pass soon concerns one board; anything else is thrown on. */
function unlessBroken(error: unknown): unknown {
  if (error instanceof LadderError || isDatabaseUnavailable(error)) return error;
  throw error;
}

const nothingCanBeRead = (cause: unknown): LadderError =>
  new LadderError(
    'PROJECTION_UNAVAILABLE',
    'None of the boards can be read now; try again shortly.',
    { retryAfterSeconds: 1 },
    { cause },
  );
