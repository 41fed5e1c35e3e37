import { isFrozen, LadderError, type Board } from '@laddercast/domain';
import { EntryHistory, PlayerRegistry, type HistoryPoint, type HistorySpan } from '@laddercast/ledger';
import { toTimestamp } from '@laddercast/platform';
import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import { GetHistoryQuery, type HistoryRange, type PlayerHistory, type ShownHistoryPoint } from './history-query.js';
import { describeWindow } from '../rows/list-reader.js';
import { ListResolver } from '../lists/list-resolver.js';
import { cutPage } from '../shared/cut-page.js';
import { isPlayerShown } from '../shared/shown-player.js';

/** No time that can be written lies beyond: 9999-12-31. */
const LAST_MS = 253_402_300_799_999;

/** The score and rank of a player over time, on boards that record it. */
@QueryHandler(GetHistoryQuery)
export class GetHistoryHandler implements IQueryHandler<GetHistoryQuery> {
  constructor(
    private readonly resolver: ListResolver,
    private readonly history: EntryHistory,
    private readonly players: PlayerRegistry,
  ) {}

  async execute({ boardId, windowName, playerId, range, reader }: GetHistoryQuery): Promise<PlayerHistory> {
    const board = await this.resolver.board(boardId);
    const { history } = board.definition;
    if (history === null) {
      const remedy = 'put "history": { "everyMinutes": 60, "keepDays": 90 } into its definition';
      throw new LadderError('HISTORY_NOT_KEPT', `Board "${boardId}" records no history; to begin, ${remedy}.`);
    }
    const window = await this.resolver.window(board, windowName);
    const { clock } = this.resolver;
    // Points have the ledger's time: before the freeze none is of after it, so only the end has to be known.
    const isHidden = !reader.isAdmin && isFrozen(window, clock.earliestMs(), Infinity);
    const hiddenFromMs = isHidden ? window.freezeAtMs! : Infinity;
    const isShown = await isPlayerShown(this.players, playerId, reader, board.id);
    const span = spanOf(range, hiddenFromMs);
    const found = isShown ? await this.history.read(window.uid, playerId, span) : [];
    const { page, next } = cutPage(found, range.limit, ({ stretchMs }) => String(stretchMs));
    return {
      board: board.id,
      window: describeWindow(window, clock.nowMs()),
      playerId,
      everyMinutes: history.everyMinutes,
      points: page.map((point) => shown(board, point, hiddenFromMs)),
      next,
    };
  }
}

function spanOf({ fromMs, toMs, limit, cursor }: HistoryRange, hiddenFromMs: number): HistorySpan {
  return {
    fromMs: fromMs ?? 0,
    toMs: Math.min(toMs ?? LAST_MS, hiddenFromMs),
    beforeStretchMs: cursor === null ? LAST_MS : Number(cursor),
    // One more, to know whether there is a next page.
    limit: limit + 1,
  };
}

function shown(
  board: Board,
  { atMs, version, score, columns, ranked }: HistoryPoint,
  hiddenFromMs: number,
): ShownHistoryPoint {
  const names = score === null ? [] : board.definition.columns;
  const isRankShown = ranked !== null && ranked.rankedAtMs < hiddenFromMs;
  return {
    at: toTimestamp(atMs),
    score,
    columns: Object.fromEntries(names.map(({ name }, index) => [name, columns[index]!])),
    version,
    rank: isRankShown
      ? {
          rank: ranked.rank,
          total: ranked.total,
          accuracy: ranked.isExact ? 'exact' : 'estimated',
          errorBound: ranked.isExact ? 0 : null,
          asOf: toTimestamp(ranked.rankedAtMs),
        }
      : null,
  };
}
