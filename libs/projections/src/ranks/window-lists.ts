import { everyLayout, GLOBAL_SCOPE, GUILDS_SCOPE, type Board, type Layout } from '@laddercast/domain';
import { keptAfterEndMs, PostgresDatabase, scopesOfWindow, windowsOfBoard, type SqlRunner } from '@laddercast/ledger';
import { Inject, Injectable } from '@nestjs/common';
import { rankListOf, type BoardOfLists, type RankList } from './rank-projection.js';

/** A window whose keys may still be in the projection. */
export interface KeptWindow {
  uid: number;
  kind: string;
  /** Unix ms; null: it has no beginning. */
  startsAtMs: number | null;
  /** Unix ms; null: it has no end. */
  endsAtMs: number | null;
  /** When its keys may go, Unix ms; null for ever. */
  keepUntilMs: number | null;
}

/** Knows which lists the windows of a board have in the projection. */
@Injectable()
export class WindowLists {
  constructor(@Inject(PostgresDatabase) private readonly database: SqlRunner) {}

  /** The windows of a board whose end, if they have one, does not lie back for longer than they are kept. */
  async windowsOf(board: Pick<Board, 'uid' | 'definition'>): Promise<KeptWindow[]> {
    const keptMs = keptAfterEndMs(board.definition);
    const windows = await windowsOfBoard(this.database, board.uid, keptMs);
    return windows.map(({ uid, kind, startsAtMs, endsAtMs }) => ({
      uid,
      kind,
      startsAtMs,
      endsAtMs,
      keepUntilMs: endsAtMs === null ? null : endsAtMs + keptMs,
    }));
  }

  /**
   * Every list of a window in these generations, all by default: of everybody, of guilds, and of each scope that ranks an
   * entry or did. Lists that generations share come once for each. Pages of entries are read.
   */
  async listsOf(
    board: BoardOfLists,
    windowUid: number,
    layouts: readonly Layout[] = everyLayout(board.layouts),
  ): Promise<RankList[]> {
    const scopes = new Set([GLOBAL_SCOPE, GUILDS_SCOPE, ...(await scopesOfWindow(this.database, windowUid))]);
    return layouts.flatMap((layout) => [...scopes].map((scope) => rankListOf(board, windowUid, scope, layout)));
  }
}
